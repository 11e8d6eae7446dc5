"""What editors and reviewers ask of files: pure answers about texts, without a protocol.

kinds, walking    what kind of file a text is; the files below the paths of a command line
checking          everything there is to say about one file
blocks,           the CXL inside YAML, and its canonical text; everything around it left as it is
  formatting
desk              the files that are open, and every question about them: the entry for editors
model             a file as it was last understood
positions         offsets as editors count them; places in a text that has changed since
cursor, schema    where in a YAML file a place is, however broken; what the schemas say of it
columns, nodes    every place that names a column or a node, and which of them name the same
  column_places, yaml_places, cxl_parts
completion,       the answers
  cxl_completion, hover, navigation, renaming, symbols
"""
