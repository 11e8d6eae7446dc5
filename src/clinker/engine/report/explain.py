"""`--explain`: the forms of the planner, and the one that only the engine can give."""

from __future__ import annotations

from clinker.plan.compile import Plan


def explain(plan: Plan, form: str) -> str:
    """A plan as `text`, `json`, `dot`, `svg` or `sql`."""
    # What describes a run need not be imported for the forms of the planner, nor they for it.
    if form == "sql":
        from clinker.engine.report.as_sql import as_sql

        return as_sql(plan)
    if form == "svg":
        from clinker.plan.explain.as_svg import as_svg

        return as_svg(plan)
    from clinker.engine.report.interpreted import interpreted
    from clinker.plan import explain as planner

    return planner.explain(plan, form, interpreted(plan))
