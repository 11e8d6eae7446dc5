"""Names bound and types checked: from the syntax tree to a typed program.

The checker has a method or a function for every construct, named after it: it takes the syntax and
gives the typed expression.

- `typecheck`: statements; the entry
- `checker`: expressions, and what is known where they stand
- `resolve`: what a program may refer to
- `names`: identifiers, dotted paths, system variables
- `calls`: methods and aggregates
- `window_calls`: window functions
- `modules`: files of functions and constants
- `inlining`: their members, where they are used
- `operators`: for which types operators work, and what they give
- `typed`: the typed program
- `members`: keys of maps that a typed program reads
- `fan_outs`: programs whose records do not all emit the same fields
"""
