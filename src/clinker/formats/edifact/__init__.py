"""EDIFACT interchanges.

writer      Arrow batches to segments
format      all of it as a `Format`
"""
