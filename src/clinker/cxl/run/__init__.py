"""The interpreter, which defines what programs mean, and what it computes with.

- `evaluate`: expressions, and programs that run once per record
- `arithmetic`: what operators do
- `grouping`: aggregate programs over lists of records
- `assigning`: the assignments of state nodes, one record after the other
- `running`: aggregates of all values so far
- `windowing`: programs with window functions over lists of records
- `window_spec`: how windows divide, order and frame records
- `tagged`: values of any type as one text
- `patterns`: regular expressions that mean the same to Python and Java
- `pattern_parser`: their parser
- `character_sets`: their sets of characters
- `backtracking`: how long matching may take
- `strftime`: dates as text: patterns, printing, reading
- `date_specifiers`: the specifiers of these patterns
- `date_fields`: the facts about a moment that they stand for
- `date_names`: months and days as words
- `locales`: those words in other languages
- `number_format`: numbers as text
"""
