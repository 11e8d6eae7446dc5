"""EDIFACT interchanges.

grammar     the levels of interchanges, and where their delimiters are found
writer      Arrow batches to segments
format      all of it as a `Format`
"""
