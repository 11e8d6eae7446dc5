"""`--explain`: the forms of the planner, and the one that only the engine can give."""

from __future__ import annotations

from clinker.engine.report.interpreted import interpreted
from clinker.plan import explain as planner
from clinker.plan.compile import Plan


def explain(plan: Plan, form: str) -> str:
    """A plan as `text`, `json`, `dot` or `sql`."""
    if form == "sql":
        # The other forms need not wait for all that describes a run.
        from clinker.engine.report.as_sql import as_sql

        return as_sql(plan)
    return planner.explain(plan, form, interpreted(plan))
