"""Sources written from samples: a file is looked at, and a pipeline that reads it is proposed.

sample       the beginning of a file, unpacked
text         how it is encoded
guess        what has been found out about a file
delimited    CSV: delimiter, header
json         JSON: documents and lines, where their records are
xml          XML: which elements are the records
fixed        fixed width: where fields begin
typed        Parquet: which columns a file says it has
reading      the sample as records, by the readers that runs use
evidence     the type of a column, and what speaks for it
dates        in which order and form dates are written
pipeline     the proposal as a pipeline file
infer        all of it
"""
