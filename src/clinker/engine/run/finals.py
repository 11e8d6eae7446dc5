"""Final values: what state nodes have left in variables once all their records have passed.

Nodes of the init phase are run to their end before anything else is described. A variable that is
read where no record brings it along, behind an aggregate for example, is computed when a node that
reads it is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from clinker.cxl.values import Value
from clinker.engine.expressions.arrow_value import to_values
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.flow import IS_REJECTED, POSITION, SOURCE, Flow, file_number
from clinker.engine.flow.frame import quoted, selection
from clinker.engine.rejects.reject_texts import reject_text_sql, rejects_of
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes import Planned, PlannedState

if TYPE_CHECKING:
    from clinker.engine.flow.flows import Flows
    from clinker.engine.session.session import Session

Variable: TypeAlias = tuple[str, str]
"""A scope and a name in it."""
SlotKey: TypeAlias = tuple[int | None, ...]
"""The number of a source and of one of its files; empty for the whole pipeline."""
Slots: TypeAlias = Mapping[SlotKey, Value]

_FILE, _LAST, _VALUE, _REJECT = "$file", "$last", "$value", "$reject_text"


class Finals:
    """The final values of a run, as far as they are known."""

    def __init__(self) -> None:
        self._before: dict[Variable, dict[SlotKey, Value]] = {}
        """What the init phase has left so far."""
        self._left: dict[str, Mapping[Variable, Slots]] = {}
        self._run: tuple[Session, Flows] | None = None

    def prepare(self, session: Session, flows: Flows) -> list[pa.Table]:
        """Run all nodes of the init phase; what they reject."""
        self._run = session, flows
        rejects: list[pa.Table] = []
        for planned in flows.init_nodes():
            for variable, slots in self._of(planned).items():
                self._before.setdefault(variable, {}).update(slots)
            if flows.is_end(planned.name):
                rejects += _rejects(session, flows, planned.name)
        return rejects

    def of(
        self, graph: Graph, nodes: Mapping[str, Planned], unit: Unit, variable: Variable
    ) -> Slots:
        """The values that a node finds in a variable, where any were written."""
        found = dict(self._before.get(variable, {}))
        for name in graph.ancestors(unit.name):
            planned = nodes[name]
            if isinstance(planned, PlannedState) and not planned.node.init_phase:
                scope = planned.node.config.scope
                if scope == variable[0] and variable[1] in planned.assignments:
                    found.update(self._of(planned).get(variable, {}))
        return found

    def _of(self, planned: PlannedState) -> Mapping[Variable, Slots]:
        if self._run is None:  # nothing is computed
            return {}
        if planned.name not in self._left:
            session, flows = self._run
            self._left[planned.name] = _last_values(session, planned, flows.of(planned.name))
        return self._left[planned.name]


def _last_values(session: Session, planned: PlannedState, flow: Flow) -> dict[Variable, Slots]:
    """What the last record of each slot has in the variables that a node writes."""
    scope = planned.node.config.scope
    if scope == "record":
        return {}
    variables = [(scope, name) for name in planned.assignments]
    columns = [flow.hidden[kinds.VARIABLE.column(".".join(each))] for each in variables]
    kept = flow.without_rejects().built()
    values = ", ".join(f"'v{n}', {quoted(column.name)}" for n, column in enumerate(columns))
    order = ", ".join(selection(kept.order))
    last = f"max_by(named_struct({values}), struct({order}))"
    by = (SOURCE, _FILE) if scope == "source" else ()
    frame = kept.frame.extend([(_FILE, f"CAST({file_number(quoted(POSITION))} AS INT)")])
    frame = frame.group(by, [(_LAST, last)]).where(f"{quoted(_LAST)} IS NOT NULL")
    shown = [(f"{_VALUE}{n}", f"{quoted(_LAST)}.v{n}") for n in range(len(columns))]
    table = session.table(frame.select([*((name, quoted(name)) for name in by), *shown]))
    keys = [table.column(name).to_pylist() for name in by]
    slots = [*zip(*keys, strict=True)] if by else [()] * len(table)
    return {
        variable: dict(
            zip(slots, to_values(table.column(f"{_VALUE}{n}"), column.type), strict=True)
        )
        for n, (variable, column) in enumerate(zip(variables, columns, strict=True))
    }


def _rejects(session: Session, flows: Flows, name: str) -> list[pa.Table]:
    """What is told of the records that were rejected on their way to a node that nobody reads."""
    flow = flows.of(name)
    if not flow.has_rejects:
        return []
    built = flow.built()
    text = reject_text_sql(built, flows.membership(built))
    frame = built.frame.where_in_place(IS_REJECTED).select([(_REJECT, text)])
    texts = session.table(frame).column(_REJECT).to_pylist()
    return [rejects_of(texts)] if texts else []
