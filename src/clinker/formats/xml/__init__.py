"""XML files.

dialect     how they are written, and paths to elements
scan        where tags stand in a document, found without parsing it
search      the elements at a path, in blocks that follow each other
siblings    elements of one name in a row, counted without a look inside
documents   encodings, and the check that a document is well-formed
records     elements as records: the exact way
pattern     how an element is written that has nothing but texts
uniform     elements as records: the quickest way, for those written by the same pattern
fields      elements as records: the quick way, for most others
texts       texts as they stand between tags and quotes, as a parser gives them
sections    what is wanted of a document around its records
survey      the inventory: all of a file checked, and where to cut it
reader      records to Arrow batches
writer      Arrow batches to elements
format      all of it as a `Format`
"""
