"""Fixed-width files: every field has its place in the line, counted in bytes.

dialect     how they are written: lines, encoding, the fields of every record type
lines       bytes to lines, and fields cut out of them
decoding    the bytes of fields as texts, and back
values      texts of a field to values of its column
survey      the inventory: how many lines, and where to cut
reader      lines to Arrow batches
writer      Arrow batches to lines
format      all of it as a `Format`
"""
