"""What a run has to say, before and after, and the forms in which it says it.

facts        the report itself, and the error that takes its place
as_text      for people
as_json      for programs
as_metrics   for monitoring: a small file that is left behind
as_html      for people who were not there: a page with all there is to know
leaving      how files are left behind
openlineage  for catalogues: events that tell what is made of what
notation     how all of these write times and files
explain      the plan before a run, in the form that was asked for
as_sql       what the engine will be asked
interpreted  what the interpreter will compute
"""

from clinker.engine.report.facts import Exit, RunError, RunReport

__all__ = ["Exit", "RunError", "RunReport"]
