"""What EDIFACT and X12 share: segments between a header and a trailer.

header      the header of an interchange with its delimiters, as records carry it
"""
