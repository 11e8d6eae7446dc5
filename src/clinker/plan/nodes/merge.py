"""Merges: several flows of the same columns in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from clinker.config.nodes import MergeNode, NodeBase
from clinker.cxl.check.resolve import Row
from clinker.cxl.types import Type, unify
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import NamedFields, PlannedNode, Records
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class PlannedMerge(PlannedNode[MergeNode]):
    shape: ClassVar[Literal[Shape.MERGES]] = Shape.MERGES

    @property
    def cxl(self) -> None:
        return None

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields()

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        for _ in inputs:
            yield wanted


def bind_merge(binder: Binder, unit: Unit, node: MergeNode) -> PlannedMerge:
    inputs = [binder.upstream(unit, position) for position in range(len(unit.inputs))]
    return PlannedMerge(
        unit=unit,
        node=node,
        row=Row(
            _merge_columns(binder, unit, inputs), any(records.row.is_open for records in inputs)
        ),
        meta=_merge_meta(inputs),
        emitted=_merge_emitted(inputs),
        have_undeclared=any(records.have_undeclared for records in inputs),
    )


def _merge_columns(binder: Binder, unit: Unit, inputs: Sequence[Records]) -> dict[str, Type]:
    first, *others = inputs
    columns = dict(first.row.columns)
    for edge, other in zip(unit.inputs[1:], others, strict=True):
        difference = _difference(first.row, other.row)
        if difference:
            binder.error(
                unit,
                "E314",
                f"'{edge.upstream}' and '{unit.inputs[0].upstream}' have different columns: "
                f"{difference}",
                edge.location,
                "bring the inputs to the same columns with a transform before the merge",
            )
            continue
        for name, type_ in other.row.columns.items():
            columns[name] = unify(columns.get(name, type_), type_)
    return columns


def _difference(first: Row, other: Row) -> str | None:
    if first.is_open or other.is_open:
        return None
    missing = [name for name in first.columns if name not in other.columns]
    extra = [name for name in other.columns if name not in first.columns]
    parts = [
        *(f"'{name}' is missing" for name in missing),
        *(f"'{name}' is new" for name in extra),
    ]
    return ", ".join(parts) or None


def _merge_meta(inputs: Sequence[Records]) -> dict[str, Type]:
    meta: dict[str, Type] = {}
    for records in inputs:
        for name, type_ in records.meta.items():
            meta[name] = (meta.get(name, type_) | type_).nullable()
    return meta


def _merge_emitted(inputs: Sequence[Records]) -> tuple[str, ...] | None:
    """What merged inputs emitted; of one that nothing was emitted to, all columns count."""
    if all(records.emitted is None for records in inputs):
        return None
    names: dict[str, None] = {}
    for records in inputs:
        names |= dict.fromkeys(records.row.columns if records.emitted is None else records.emitted)
    return tuple(names)
