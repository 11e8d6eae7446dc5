"""Outputs: where records leave the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from clinker.config.nodes import NodeBase, OutputNode
from clinker.cxl.types import NUMERIC, Kind, Type
from clinker.diagnostics import Location, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import NamedField, NamedFields, PlannedNode, Records
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False)
class OutputColumn:
    """A column of an output file and the field it shows."""

    name: str
    field: str
    type: Type


@frozen(eq=False, kw_only=True)
class PlannedOutput(PlannedNode[OutputNode]):
    shape: ClassVar[Literal[Shape.WRITES]] = Shape.WRITES

    columns: tuple[OutputColumn, ...]

    @property
    def cxl(self) -> None:
        return None

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields(tuple(_name_fields(self.node)))

    @property
    def metadata_columns(self) -> tuple[OutputColumn, ...]:
        """The metadata that is written, of all that the records carry."""
        return tuple(_choose_metadata(self.node, self.meta))

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        config = self.node.config
        needed = {column.field for column in self.columns}
        needed |= {key.field for key in config.sort_order}
        if config.split and config.split.group_key:
            needed.add(config.split.group_key)
        needed.update(config.path.fields)
        yield Wanted(needed, config.include_unmapped)


def bind_output(binder: Binder, unit: Unit, node: OutputNode) -> PlannedOutput:
    upstream = binder.upstream(unit)
    _check_names(binder, unit, node, upstream)
    planned = PlannedOutput(
        unit=unit,
        node=node,
        row=upstream.row,
        meta=upstream.meta,
        emitted=upstream.emitted,
        have_undeclared=upstream.have_undeclared,
        columns=_bind_columns(binder, unit, node, upstream),
    )
    _reject_unwritable(binder, planned)
    _reject_names(binder, planned)
    _check_decimals(binder, planned)
    return planned


def _bind_columns(
    binder: Binder, unit: Unit, node: OutputNode, upstream: Records
) -> tuple[OutputColumn, ...]:
    """The columns of an output: every field under the names that `mapping` gives it."""
    shown: dict[str, list[str]] = {}
    for output, field in node.config.mapping.items():
        shown.setdefault(field, []).append(output)
    columns: list[OutputColumn] = []
    for field in _choose_fields(node, upstream):
        for name in shown.get(field, [field]):
            if any(column.name == name for column in columns):
                binder.error(
                    unit,
                    "E077",
                    f"two columns of the output are named '{name}'",
                    node.config.key_at("mapping", name),
                    "give one of them another name, or exclude it",
                )
            columns.append(OutputColumn(name, field, upstream.row.columns[field]))
    return tuple(columns)


def _choose_fields(node: OutputNode, upstream: Records) -> list[str]:
    names = list(upstream.row.columns)
    if not node.config.include_unmapped and upstream.emitted is not None:
        names = [name for name in upstream.emitted if name in upstream.row.columns]
    return [name for name in names if name not in node.config.exclude]


def _choose_metadata(node: OutputNode, meta: Mapping[str, Type]) -> Iterator[OutputColumn]:
    chosen = node.config.include_metadata
    if chosen.mode != "none":
        for key in meta if chosen.mode == "all" else chosen.keys:
            if key in meta:
                yield OutputColumn(f"meta.{key}", f"$meta.{key}", meta[key])


# Findings


def _name_fields(node: OutputNode) -> Iterator[NamedField]:
    yield from ((f, node.config.at("mapping", o)) for o, f in node.config.mapping.items())
    for position, key in enumerate(node.config.sort_order):
        yield key.field, node.config.at("sort_order", position)
    yield from ((field, node.config.at("path")) for field in node.config.path.fields)


def _check_names(binder: Binder, unit: Unit, node: OutputNode, upstream: Records) -> None:
    """Report what an output names but does not get."""
    config, row = node.config, upstream.row
    for position, name in enumerate(config.exclude):
        at = config.at("exclude", position)
        _require_written(binder, unit, node, name, upstream, at, "exclude")
    for position, name in enumerate(config.include_metadata.keys):
        if name not in upstream.meta and not row.is_open:
            binder.error(
                unit,
                "E200",
                f"include_metadata names '{name}', which no node before sets",
                config.include_metadata.at("keys", position),
                did_you_mean(name, upstream.meta) or "set it with `emit meta` in a transform",
            )
    for output, field in config.mapping.items():
        at = config.at("mapping", output)
        _require_written(binder, unit, node, field, upstream, at, "mapping")
    if config.split and config.split.group_key:
        at = config.split.at("group_key")
        binder.require_field(unit, config.split.group_key, row, at, "split")
    for field in config.path.fields:
        binder.require_field(unit, field, row, config.at("path"), "path")
    for position, key in enumerate(config.sort_order):
        at = config.at("sort_order", position)
        binder.require_field(unit, key.field, row, at, "sort_order")


def _require_written(
    binder: Binder,
    unit: Unit,
    node: OutputNode,
    name: str,
    upstream: Records,
    location: Location,
    reader: str,
) -> None:
    """Report unless an output has such a column to write, be it one that nobody declares."""
    if not (node.config.include_unmapped and upstream.have_undeclared):
        binder.require_field(unit, name, upstream.row, location, reader)
    elif upstream.row.get(name) is None:
        message = f"'{reader}' has an effect on '{name}' only if a file has it undeclared"
        help = did_you_mean(name, upstream.row.columns) or "declare it in the schema of the source"
        binder.diagnostics.append(
            unit.scope.problem("W013", message, location, help=help, severity=Severity.WARNING)
        )


def _reject_unwritable(binder: Binder, planned: PlannedOutput) -> None:
    """Report columns whose values a file of the format has no form for."""
    config = planned.node.config
    names = {Kind.MAP: "a Map", Kind.ARRAY: "an Array"}
    if config.format.holds_maps:
        del names[Kind.MAP]
    if config.format.holds_arrays:
        del names[Kind.ARRAY]
    for column in (*planned.columns, *planned.metadata_columns):
        for kind, name in names.items():
            if column.type.maybe(kind) and column.type.only(kind):
                is_own = column.field in planned.row.columns
                without = "exclude it" if is_own else "leave it out of 'include_metadata'"
                binder.error(
                    planned.unit,
                    "E078",
                    f"{config.type} files cannot hold '{column.field}', which is {name}",
                    config.at("type"),
                    f"{without}, emit the parts of it that are needed, or write JSON",
                )


def _reject_names(binder: Binder, planned: PlannedOutput) -> None:
    config = planned.node.config
    can_be_named = config.format.can_be_named
    if can_be_named is None:
        return
    for column in (*planned.columns, *planned.metadata_columns):
        if not can_be_named(column.name):
            is_mapped = column.name in config.mapping
            binder.error(
                planned.unit,
                "E079",
                f"an {config.type} file cannot have a column named '{column.name}'",
                config.key_at("mapping", column.name) if is_mapped else config.at("type"),
                "give it another name with 'mapping', or exclude it",
            )


def _check_decimals(binder: Binder, planned: PlannedOutput) -> None:
    config = planned.node.config
    types = {each.name: each.type for each in (*planned.columns, *planned.metadata_columns)}
    for name in config.decimals:
        place = config.options.key_at("decimals", name)
        if name not in types:
            message = f"'decimals' names '{name}', which is no column of the output"
            help = did_you_mean(name, types) or "use the names that columns have in the file"
            binder.error(planned.unit, "E200", message, place, help)
        elif not types[name].only(NUMERIC.kinds):
            message = f"only numbers can be decimals, and '{name}' is {types[name].noun}"
            help = "make it one with to_int or to_float, or leave it out of 'decimals'"
            binder.error(planned.unit, "E007", message, place, help)
