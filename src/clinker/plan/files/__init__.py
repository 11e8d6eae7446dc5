"""Files and places: what is read, written, rejected to, spilled to.

workspace      the directory of `clinker.toml`
paths          what may be read and written, and what the paths of outputs stand for
globs          patterns over paths, and the files that match them
discovery      the files of a source, in order, and what is wrong with them
file_schemas   which columns the files of a source have, where they say so themselves
layouts        what schema files say about the lines of files
dead_letters   where rejected records go, and how many are too many
storage        where a run spills and stages, and whether these places will do
"""
