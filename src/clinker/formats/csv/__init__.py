"""CSV files.

dialect     how they are written
splits      where records end in bytes
cells       records split into cells
header      what their columns are called
survey      the inventory: headers, and where to cut
reader      cells to Arrow batches
writer      Arrow batches to lines
format      all of it as a `Format`
"""
