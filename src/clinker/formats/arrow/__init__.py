"""Frames of pandas, Polars, Spark and others, as tables of Arrow in place of the files of a source.

It is no format that users write: a frame is copied to the spool, and read from there like a file.

writing     a frame into the spool
reader      its records, as if they were objects of JSON
values      the values of Arrow as JSON has them
"""

FRAME = f"{__name__}.reader"
"""The module that a frame in the spool is read by, as if it were a file of a format."""
