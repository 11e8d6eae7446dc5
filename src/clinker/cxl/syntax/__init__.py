"""Text to syntax tree and back: lexer, parser, tree, formatter."""
