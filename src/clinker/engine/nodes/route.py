"""Routes: records sent to branches by conditions."""

from __future__ import annotations

from dataclasses import replace

from clinker.config.nodes import RouteNode
from clinker.engine.flow.building import Building, computed
from clinker.engine.flow.flow import REJECT, Flow, quoted, selection
from clinker.engine.rejects.explaining import expressions_explainer
from clinker.engine.rejects.mark import (
    inputs_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
)
from clinker.plan.nodes.planned import PlannedRoute

_BRANCH = "$branch:"


def route(building: Building, planned: PlannedRoute, flow: Flow) -> Flow:
    """The flow with a column for each branch that tells whether a record goes there."""
    node = planned.unit.node
    assert isinstance(node, RouteNode)
    conditions = planned.conditions
    compiler = building.compiler(planned.unit, flow)
    takes: dict[str, str] = {}
    failures: list[str] = []
    is_exclusive = node.config.mode == "exclusive"
    taken: list[str] = []
    for branch, condition in conditions.items():
        sql = compiler.is_true(condition)
        test = compiler.scope.bind(sql.text)
        before = " or ".join(taken) if taken and is_exclusive else ""
        if sql.fails:
            # What an earlier branch has taken is not asked about later ones.
            failures.append(f"(not ({before}) and {sql.fails})" if before else f"({sql.fails})")
        takes[branch] = f"({test} and not ({before}))" if before else test
        taken.append(test)
    takes[planned.default] = f"not ({' or '.join(taken)})" if taken else "true"
    reject = quoted(REJECT) if flow.has_rejects else None
    if failures:
        read = read_expressions(conditions.values())
        explain = expressions_explainer(
            conditions.values(),
            reads_of(read),
            building.surroundings(planned.unit, conditions.values()),
        )
        mark = reject_sql(
            flow,
            building.site(planned.unit, explain),
            inputs_sql(compiler, read),
        )
        reject = rejecting(flow, " or ".join(failures), mark)
    names = [name for name in flow.names if name != REJECT]
    columns = [(name, quoted(name)) for name in names]
    columns += [(_BRANCH + branch, text) for branch, text in takes.items()]
    if reject:
        columns.append((REJECT, reject))
    frame = computed(flow.frame, compiler.scope, columns)
    return replace(flow, frame=frame, has_rejects=reject is not None)


def branch_flow(flow: Flow, branch: str, *, carries_rejects: bool) -> Flow:
    """The records of a routed flow that go to one branch, and the rejected ones if asked for."""
    goes_there = quoted(_BRANCH + branch)
    if flow.has_rejects:
        rejected = f"{quoted(REJECT)} is not null"
        test = (
            f"({rejected} or {goes_there})"
            if carries_rejects
            else (f"(not {rejected} and {goes_there})")
        )
    else:
        test = goes_there
    kept = replace(flow, has_rejects=flow.has_rejects and carries_rejects)
    return kept.with_frame(flow.frame.where(test).selectExpr(*selection(kept.names)))
