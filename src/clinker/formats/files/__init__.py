"""Files, whatever their format: nothing here knows one.

local             files that are read: identified, opened, watched for change
spool             copies of what cannot be read where it is, as long as a run lasts
staging/          copies of files on other disks, which several runs share and may keep
rest/             the pages of web services, fetched into the spool
unpacking         compressed files, unpacked into the spool
parts             what one task writes of an output
assembly          pieces to whole files, one or many
split_names       what the files of a split output are called
compression       files that are written compressed
publication       files that appear all at once, when a run has succeeded
commit, journal, marks, recovery
                  the same, even if the process is killed in between
dead_letter_file  the file of dead-letter entries
uuid7             identifiers that grow
"""
