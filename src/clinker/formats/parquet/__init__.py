"""Parquet files.

dialect     how they are written
content     files opened, with what is wrong with them told in our words
types       which types of Parquet hold values of which types
values      columns of any type as values, one by one
coercing    columns as values of the declared types
schema      the columns of a file, as a source declares them
survey      the inventory: the columns of files, and their groups of rows as splits
reader      groups of rows to Arrow batches
columns     columns as a file that is written holds them
writer      Arrow batches to groups of rows
spooling    frames of other libraries as such files
format      all of it as a `Format`
"""
