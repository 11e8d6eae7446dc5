"""What the nodes of a run share while their flows are described."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Set
from dataclasses import field, replace
from typing import TYPE_CHECKING

from clinker.config.nodes import TransformNode
from clinker.cxl.check import typed
from clinker.cxl.failure import Category
from clinker.cxl.run.evaluate import DEFAULT_MAX_EXPANSION, Surroundings
from clinker.cxl.sql.operand import SqlForm
from clinker.cxl.types import ANY, STRING, Type
from clinker.engine.expressions import Compiler, literal, recast
from clinker.engine.flow.flow import Flow
from clinker.engine.rejects.sites import Demand, Explain, RunAgain, Site, Sites
from clinker.engine.run.observer import Observer
from clinker.engine.run.system import SystemValues
from clinker.engine.settling.fallen import Fallen
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit

if TYPE_CHECKING:
    from clinker.engine.run.logs import RecordMessages
    from clinker.engine.run.tracing import ProgramMessages


@frozen(eq=False)
class Building:
    """A run whose flows are being described."""

    plan: Plan
    system: SystemValues
    sites: Sites
    observer: Observer
    demands: Set[Demand] = frozenset()
    """With what care the flows are to be built."""
    messages: list[RecordMessages | ProgramMessages] = field(default_factory=list)
    """What is to be said about single records."""
    overrides: Mapping[str, SqlForm] = field(default_factory=dict)
    """The methods that the engine spells in its own way."""
    keeps_order: bool = True
    """Whether the engine leaves rows in the order in which they were read or sorted."""
    fallen: Fallen = field(default_factory=Fallen)
    """The records and groups that are taken out."""

    def compiler(
        self,
        unit: Unit,
        flow: Flow,
        renamed: Mapping[str, str] | None = None,
    ) -> Compiler:
        """A compiler of expressions over the records of a flow.

        Names in `renamed` stand for other fields.
        """
        inputs = FlowInputs(flow, unit, self.system, renamed or {})
        return Compiler(inputs, flow.scope, self.overrides)

    def surroundings(
        self, unit: Unit, expressions: Iterable[typed.Expr], *, has_record: bool = True
    ) -> Surroundings:
        """What the interpreter needs to run these expressions on a record again, or without one."""
        reads = frozenset(
            (part.namespace, part.path)
            for expression in expressions
            for part in expression.walk()
            if isinstance(part, typed.System)
        )
        limit = DEFAULT_MAX_EXPANSION
        if isinstance(unit.node, TransformNode):
            limit = unit.node.config.max_expansion
        return self.system.surroundings(unit, reads, limit, has_record=has_record)

    def site(
        self,
        unit: Unit,
        explain: Explain | None,
        *,
        is_fatal: bool = False,
        is_behind: bool = False,
        is_collateral: bool = False,
        label: str | None = None,
    ) -> int:
        """A new place where records of a node can be rejected, or those behind it.

        Dead letters name it by its `label` if that is not the name of the node.
        """
        category = Category.COMBINE if unit.kind == "combine" else Category.TYPE_COERCION
        settling = self.plan.settling
        return self.sites.add(
            Site(
                unit.name,
                self._branch(unit),
                explain,
                is_fatal,
                category,
                (settling.behind if is_behind else settling.before)[unit.name],
                is_collateral,
                label,
            )
        )

    def _branch(self, unit: Unit) -> str:
        """The route branch that all records of a node have come along."""
        while len(unit.inputs) == 1:
            edge = unit.inputs[0]
            if edge.port is not None:
                return edge.port
            unit = self.plan.graph.units[edge.upstream]
        return ""


@frozen(eq=False)
class FlowInputs:
    """What expressions find in the records of a flow."""

    flow: Flow
    unit: Unit
    values: SystemValues
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def now(self) -> dt.datetime:
        return self.values.now

    def field(self, qualifier: str | None, name: str) -> str:
        assert qualifier is None
        return field_sql(self.flow, self.renamed.get(name, name))

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        return self.values.sql(self.unit, self.flow, (namespace, path), type_)


def field_sql(flow: Flow, name: str) -> str:
    """A field of a record; undeclared ones are of any type."""
    if name in flow.apart:
        raise RunAgain(Demand.WHOLE_RECORDS)
    if name in flow.narrowed:
        return recast(flow.scope, flow.value(name), flow.narrowed[name], flow.columns[name])
    if name in flow.columns:
        return flow.value(name)
    return undeclared_sql(flow, name)


def undeclared_sql(flow: Flow, name: str) -> str:
    """A field that no schema names; null if a program has overwritten it."""
    if name in flow.overwritten:
        return literal(None, ANY)
    if column := flow.undeclared.get(name):
        return f"concat('\"', {flow.value(column.name)})"
    if column := flow.undeclared_map:
        fields = f"from_json({flow.value(column.name)}, 'MAP<STRING, STRING>')"
        return f"try_element_at({fields}, {literal(name, STRING)})"
    return literal(None, ANY)


def as_declared(flow: Flow) -> Flow:
    """The flow with all values in the forms of their columns."""
    if not flow.narrowed:
        return flow
    values = {name: field_sql(flow, name) for name in flow.narrowed}
    return replace(flow.with_values(values), narrowed={})
