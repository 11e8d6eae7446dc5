"""JSON files.

dialect     how they are written
scan        where the elements of arrays stand, found without parsing
documents   arrays inside of documents, cut between their elements
sections    objects around the records, which `$doc` reads
records     where the records are, and arrays inside of them unfolded
lines       lines of a block, and how their numbers are written
columns     lines read by Arrow, a column at a time
fields      lines read for a few of their fields
members     arrays of maps taken apart
survey      the inventory: what kind of files they are, and where to cut
reader      records to Arrow batches
writer      Arrow batches to objects
format      all of it as a `Format`
"""
