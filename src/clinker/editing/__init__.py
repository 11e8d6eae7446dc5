"""What editors and reviewers ask of files: pure answers about texts, without a protocol.

- `kinds`: what kind of file a text is
- `walking`: the files below the paths of a command line
- `checking`: everything there is to say about one file
- `blocks`: the CXL inside YAML
- `formatting`: its canonical text, everything around it left as it is
- `positions`: offsets as editors count them; places in a text that has changed since
- `cursor`: where in a YAML file a place is, however broken the text
- `schema`: what the JSON Schemas say about such a place
- `model`: a pipeline or composition as it was last understood
- `columns`, `nodes`: every place that names a column or a node
- `completion`, `hover`, `navigation`, `renaming`, `symbols`: the answers
"""
