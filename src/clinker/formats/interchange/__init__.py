"""What EDIFACT and X12 share: segments between a header and a trailer.

columns     what of a segment each column holds
header      the header of an interchange with its delimiters, as records carry it
grammar     the words of a format, and what stands around its messages
syntax      how a segment is written between its delimiters
fields      the columns of a batch by what they are in a segment
segments    the segments of a batch as text
opening     what records tell of the messages they stand in
rendering   records as segments, wherever they are
framing     segments put into messages and an interchange, with all that is counted
"""
