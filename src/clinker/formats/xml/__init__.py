"""XML files.

dialect     how they are written, and paths to elements
scan        where tags stand in a document, found without parsing it
search      the elements at a path, in blocks that follow each other
documents   encodings, and the check that a document is well-formed
records     elements as records: the exact way
fields      elements as records: the quick way, for those that are alike
sections    what is wanted of a document around its records
survey      the inventory: all of a file checked, and where to cut it
reader      records to Arrow batches
writer      Arrow batches to elements
format      all of it as a `Format`
"""
