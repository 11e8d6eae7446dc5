"""What formats share.

read_spec     what is to be read, and the inventory of what is there
writing       what is to be written, and the renderer that a format provides
coercion      raw values to values of their declared types
rejecting     rejected records as data among the others
rendering     texts of records to the bytes of pieces
encodings     files in any encoding as blocks of UTF-8
texts, cell_lines, json_texts, json_numbers, tagged_texts, tagging
              columns to texts and back: plain, as cells, as JSON, tagged with their kind
missing       warnings about columns that files do not have
record_sizes  how large the records of a file are
"""
