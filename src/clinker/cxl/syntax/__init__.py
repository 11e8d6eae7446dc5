"""Text to syntax tree and back.

- `lexer`: text to tokens
- `token_stream`: tokens as a parser reads them, and the errors it reports
- `expressions`: tokens to expressions
- `parser`: tokens to statements; the entry
- `ast`: the tree
- `format`: a tree as canonical text
- `layout`: what fits on a line, and where the rest breaks
"""
