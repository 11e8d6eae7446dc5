"""Routes: records sent to branches by conditions."""

from __future__ import annotations

from dataclasses import replace

from clinker.cxl.types import BOOL
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.hidden import Hidden
from clinker.engine.rejects.explaining import expressions_explainer
from clinker.engine.rejects.mark import mark, read_expressions, rejection
from clinker.plan.nodes import PlannedRoute


def route(building: Building, planned: PlannedRoute, flow: Flow) -> Flow:
    """The flow with a column for each branch that tells whether a record goes there."""
    conditions = planned.conditions
    compiler = building.compiler(planned.unit, flow)
    takes: dict[str, str] = {}
    failures: list[str] = []
    is_exclusive = planned.node.config.mode == "exclusive"
    taken: list[str] = []
    for branch, condition in conditions.items():
        sql = compiler.is_true(condition)
        test = compiler.scope.bind(sql.text)
        before = " OR ".join(taken) if taken and is_exclusive else ""
        if sql.fails:
            # What an earlier branch has taken is not asked about later ones.
            failures.append(f"(NOT ({before}) AND {sql.fails})" if before else f"({sql.fails})")
        takes[branch] = f"({test} AND NOT ({before}))" if before else test
        taken.append(test)
    takes[planned.default] = f"NOT ({' OR '.join(taken)})" if taken else "TRUE"
    if failures:
        reject = rejection(
            building,
            planned.unit,
            flow,
            compiler,
            read_expressions(conditions.values()),
            lambda reads, known: expressions_explainer(conditions.values(), reads, known),
            expressions=conditions.values(),
        )
        flow = mark(flow, " OR ".join(failures), reject)
    return flow.with_hidden(
        (Hidden(kinds.BRANCH, branch, BOOL), text) for branch, text in takes.items()
    )


def branch_flow(flow: Flow, branch: str, *, carries_rejects: bool) -> Flow:
    """The records of a routed flow that go to one branch, and the rejected ones if asked for."""
    test = flow.value(kinds.BRANCH.column(branch))
    branches = [each.name for each in flow.hidden_of(kinds.BRANCH).values()]
    hidden = {name: each for name, each in flow.hidden.items() if name not in branches}
    taken = replace(flow, hidden=hidden)
    return (taken if carries_rejects else taken.without_rejects()).where(test)
