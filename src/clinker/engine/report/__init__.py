"""What a run has to say, and the forms in which it says it.

facts        the report itself, and the error that takes its place
as_text      for people
as_json      for programs
as_metrics   for monitoring: a small file that is left behind
notation     how all of these write times and files
native       the Spark SQL of a plan, for reading
"""
