"""A naive model of what a run does with its records, and random pipelines held against it.

The model is written from the specification, one record at a time, in plain Python; what programs
mean is told by the interpreter. It knows nothing of Spark, and takes as long as it needs.

rows           records on their way, and what becomes of those that fail
model          the rounds: what falls because of what failed, and the entries in the end
passing        one pass of all records through all nodes
joining        what a combine finds for a record
time_windows   the windows of event time that a record counts in
looking_up     windows over the records of another source
variables      what state nodes leave, and what programs read besides their record
writing        what outputs show

generate       random pipelines and records: cases
nodes          random nodes of every kind
holding        cases run both ways: `python -m tests.model.holding 2000`
shrinking      a case that goes wrong, made as small as it can be
"""
