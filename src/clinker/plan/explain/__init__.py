"""`--explain`: what a pipeline will do, before it does it.

facts         everything that is shown, computed once
operators     how Spark carries each node out, and what it holds meanwhile
handoffs      how records get from one node to the next
expressions   what the CXL of a node reads, writes and risks
volumes       how many bytes nodes may hold
storage       what may be spilled, and which files are copied first
as_text, as_json, as_dot   the facts in print
as_svg        the plan drawn, with what passed between its nodes after a run
layout        where the nodes of a picture stand
style         what pictures look like
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from clinker.plan.compile import Plan
from clinker.plan.explain.as_dot import as_dot
from clinker.plan.explain.as_json import as_json
from clinker.plan.explain.as_text import as_text
from clinker.plan.explain.gathering import gather_facts

_FORMS = {"text": as_text, "json": as_json, "dot": as_dot}

__all__ = ["explain"]


def explain(plan: Plan, form: str, interpreted: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """A plan as `text`, `json` or `dot`; the engine gives what of each node is interpreted."""
    return _FORMS[form](gather_facts(plan, datetime.now(UTC), interpreted or {}))
