"""A run: everything between a compiled plan and its published files.

run         the whole of it, in a session of its own or in one that is there already
runs        several of them, in a session of their own
starting    what is checked first: the memory limit, and the directories for spilled data
watch       what a run takes while it is under way, and the end of one that takes too much
at_work     which nodes are to be named then
prepare     what comes before a session is needed: leftovers, inputs, destinations
compute     the outputs computed and put together aside
settle      what was rejected: explained, told, and held against the limits
retry       all that again with more care, as often as records demand it
publish     the files put in place, and the report of what was done
practice    examples run, for the ahead-of-time cache to learn from
lending     the records of a single node, for a session of the caller's
failures    what goes wrong inside the engine, in words for the user
system      what `$pipeline`, `$source`, `$vars` and their kin stand for
finals      what state nodes leave in variables, the init phase included
logs        what a pipeline says while it runs
tracing     what of that only the interpreter can tell
observer    who watches a run
journal     an observer that remembers, for reports of runs that fail as well
following   tells who watches how far the engine is
telling     an observer that tells Python programs
"""
