"""The report of a run as a page: one file, which needs no network, no fonts and no scripts.

page         the whole, as a document and as a part of a notebook
masthead     which run it was, what has become of it, and how many records there were
nodes        the picture of the pipeline, and what came into each node and left it
files        what was read and written
rejects      why records were rejected, some of them, and the lines that rejected them
background   how long it took, warnings, the plan, the environment
tables       tables that narrow screens and screen readers can cope with
values       numbers, sizes, times and places
style        what it looks like
leaving      the file that it is left in
"""

from clinker.engine.report.as_html.page import report_fragment, report_page

__all__ = ["report_fragment", "report_page"]
