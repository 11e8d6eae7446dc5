"""What EDIFACT and X12 share: segments between a header and a trailer.

dialect     what users say about the files
header      the header of an interchange with its delimiters, as records carry it
delimiters  characters that can be delimiters
grammar     what the two differ in: levels, tags, where the delimiters are found
segments    text cut into segments and elements, a column at a time
binary      segments with data in which delimiters are none
stream      files as runs of whole segments
envelope    levels inside levels, and what their trailers declare, checked
documents   what interchanges say around their records
columns     the columns of segments
survey      the inventory: checks, and where to cut
reader      segments to Arrow batches
syntax      how a segment is written between its delimiters
wording     what the two differ in when they are written
fields      the columns of a batch by what they are in a segment
joining     the segments of a batch as text
starts      what records tell of the messages they stand in
rendering   records as segments, wherever they are
framing     segments put into messages and an interchange, with all that is counted
"""
