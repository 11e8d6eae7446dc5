"""Sources: where records come into being."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from clinker.config.nodes import NodeBase, SourceNode
from clinker.cxl.check.resolve import Row
from clinker.cxl.types import SCHEMA_TYPES, Type
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import NamedFields, PlannedNode
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class PlannedSource(PlannedNode[SourceNode]):
    shape: ClassVar[Literal[Shape.READS]] = Shape.READS

    sections: Mapping[str, Type]
    """What its documents say, each as `section.field`."""

    @property
    def is_rest(self) -> bool:
        return self.node.config.transport.kind == "rest"

    @property
    def cxl(self) -> None:
        return None

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields()

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        yield from ()


def bind_source(binder: Binder, unit: Unit, node: SourceNode) -> PlannedSource:
    columns = {
        column.name: column.type if column.required else column.type.nullable()
        for column in node.config.schema_columns
    }
    sections = _list_sections(node)
    binder.sections[unit.name] = sections
    return PlannedSource(
        unit=unit,
        node=node,
        row=Row(columns, is_open=node.config.columns is None),
        meta=binder.provenance,
        have_undeclared=node.config.on_unmapped.mode == "auto_widen",
        sections=sections,
    )


def _list_sections(node: SourceNode) -> Mapping[str, Type]:
    """The document sections a source reads, and those its format brings along."""
    sections = dict(node.config.format.own_sections)
    if node.config.envelope:
        for section, declared in node.config.envelope.sections.items():
            for name, type_ in declared.fields.items():
                sections[f"{section}.{name}"] = SCHEMA_TYPES[type_].nullable()
    return sections
