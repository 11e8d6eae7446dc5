"""Layouts of fixed-width lines: overrides laid over, places computed, and checked for sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clinker.config import Layout
from clinker.config.layout import LayoutField, RecordType, settings_of
from clinker.config.nodes import OutputNode, SourceNode
from clinker.config.nodes.base import NodeBase
from clinker.cxl.builtins.conversion import try_float, try_int
from clinker.cxl.failure import printable
from clinker.cxl.run.strftime import (
    PatternError,
    check_format,
    compile_pattern,
    parse_iso_date,
    parse_iso_datetime,
)
from clinker.cxl.types import NUMERIC, Kind, Type
from clinker.diagnostics import Diagnostic, Label, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import Planned, PlannedOutput

_NUMBERS = ("integer", "float", "decimal")
_MOMENTS = ("date", "datetime")
_KINDS: dict[str, Kind] = {
    "integer": Kind.INT | Kind.FLOAT | Kind.STRING | Kind.BOOL,
    "float": Kind.INT | Kind.FLOAT | Kind.STRING,
    "decimal": Kind.INT | Kind.FLOAT | Kind.STRING,
    "boolean": Kind.BOOL | Kind.STRING,
    "date": Kind.DATE | Kind.DATETIME | Kind.STRING,
    "datetime": Kind.DATE | Kind.DATETIME | Kind.STRING,
    "object": Kind.MAP | Kind.STRING,
    "array": Kind.ARRAY | Kind.STRING,
}
"""The kinds of values that a field of each type can become."""
_BOOLEANS = "true yes y on 1 false no n off 0".split()
_NOT_BY_BYTES = ("utf-16", "utf-32", "utf-7", "iso2022", "hz", "idna", "punycode")


def complete(unit: Unit, layout: Layout) -> tuple[Layout, list[Diagnostic]]:
    """The layout with all that fields inherit, their places, and what overrides change."""
    problems: list[Diagnostic] = []
    node = unit.node
    if isinstance(node, SourceNode) and node.config.schema_overrides:
        layout = _override(layout, node.config.schema_overrides, problems)
    fields = None if layout.fields is None else _place(layout, layout.fields)
    records = tuple(
        record.model_copy(update={"fields": _place(layout, record.fields)})
        for record in layout.records or ()
    )
    placed = layout.model_copy(
        update={"fields": fields, "records": records if layout.records is not None else None}
    )
    problems += _check(unit, node, placed)
    return placed, problems


def _override(
    layout: Layout, overrides: Sequence[LayoutField], problems: list[Diagnostic]
) -> Layout:
    for override in overrides:
        ids = [record.id for record in layout.records or ()]
        if override.record is not None and override.record not in ids:
            problems.append(
                override.problem(
                    "E059",
                    f"the layout has no record type '{override.record}'",
                    "record",
                    help=did_you_mean(override.record, ids) or "remove 'record'",
                )
            )
            continue
        names = {field.name for field in layout.all_fields}
        if override.name not in names:
            problems.append(
                override.problem(
                    "E059",
                    f"the layout has no field '{override.name}' to override",
                    "name",
                    help=did_you_mean(override.name, names) or "add it to the schema file",
                )
            )
            continue
        update: dict[str, object] = {}
        if layout.fields is not None:
            update["fields"] = _changed(layout.fields, override)
        if layout.records is not None:
            update["records"] = tuple(
                record.model_copy(update={"fields": _changed(record.fields, override)})
                if override.record in (None, record.id)
                else record
                for record in layout.records
            )
        layout = layout.model_copy(update=update)
    return layout


def _changed(fields: Sequence[LayoutField], override: LayoutField) -> tuple[LayoutField, ...]:
    changed: list[LayoutField] = []
    for field in fields:
        if field.name != override.name:
            changed.append(field)
        elif not override.drop:
            update = settings_of(override, set())
            if override.inherits is not None:
                update["inherits"] = override.inherits
            if "width" in update or "end" in update:
                update = {"width": None, "end": None} | update
            changed.append(field.model_copy(update=update))
    return tuple(changed)


def _place(layout: Layout, fields: Sequence[LayoutField]) -> tuple[LayoutField, ...]:
    """Fields with what they inherit; one without a start follows the one before."""
    placed: list[LayoutField] = []
    behind = 0
    for each in fields:
        field = layout.resolved(each)
        start = behind if field.start is None else field.start
        width = field.width if field.width is not None else (field.end or 0) - start
        placed.append(field.model_copy(update={"start": start, "width": width, "end": None}))
        behind = start + width
    return tuple(placed)


# Findings


def _check(unit: Unit, node: NodeBase, layout: Layout) -> Iterator[Diagnostic]:
    yield from _check_encoding(unit, node, layout)
    groups = [record.fields for record in layout.records or ()] or [layout.fields or ()]
    if not any(groups):
        yield layout.problem("E059", "overrides leave no field of the layout", "fields")
    is_written = isinstance(node, OutputNode)
    for fields in groups:
        yield from _check_names(fields)
        yield from _check_overlaps(fields, is_written)
        for field in fields:
            yield from _check_field(field, is_written)
    yield from _check_records(layout, is_written)
    if isinstance(node, SourceNode):
        for column in node.config.schema_columns:
            for fields in groups:
                yield from _check_column(column.name, column.type, fields)


def _check_encoding(unit: Unit, node: NodeBase, layout: Layout) -> Iterator[Diagnostic]:
    assert isinstance(node, SourceNode | OutputNode)
    given = getattr(node.config.options, "encoding", None)
    encoding = given or layout.encoding or "utf-8"
    if encoding.replace("_", "-").startswith(_NOT_BY_BYTES):
        where = node.config.options if given else layout
        yield where.problem(
            "E059",
            f"lines are cut by bytes, and in '{encoding}' a character is no whole byte",
            "encoding",
            help="convert the file, for example to utf-8, latin-1 or cp037",
        )
        return
    for field in layout.all_fields:
        if field.pad and len(field.pad.encode(encoding, "replace")) != 1:
            yield field.problem(
                "E059",
                f"'{field.pad}' is more than a byte in '{encoding}', so nothing can be padded "
                "with it",
                "pad",
                help="choose a character of one byte",
            )


def _check_names(fields: Sequence[LayoutField]) -> Iterator[Diagnostic]:
    first: dict[str, LayoutField] = {}
    for field in fields:
        for key in ("name", "alias"):
            name = getattr(field, key)
            if name is None:
                continue
            earlier = first.setdefault(name, field)
            if earlier is not field:
                yield field.problem(
                    "E021",
                    f"two fields are called '{name}'",
                    key,
                    also=(Label(earlier.at("name"), "first here"),),
                    help="rename one of them",
                )


def _check_overlaps(fields: Sequence[LayoutField], is_written: bool) -> Iterator[Diagnostic]:
    """Fields that share bytes: in a line that is read, one may be a part of the other."""
    placed = sorted(fields, key=lambda field: (field.start or 0, -(field.width or 0)))
    widest: LayoutField | None = None
    for field in placed:
        start, end = _range(field)
        if widest is not None and start < _range(widest)[1]:
            is_part = end <= _range(widest)[1]
            if is_written or not is_part:
                yield field.problem(
                    "E021",
                    f"'{field.name}' and '{widest.name}' overlap: bytes {start} to "
                    f"{min(end, _range(widest)[1]) - 1}",
                    also=(Label(widest.at("name"), "the other one"),),
                    help="move one of them, or make it narrower",
                )
        if widest is None or end > _range(widest)[1]:
            widest = field


def _range(field: LayoutField) -> tuple[int, int]:
    start = field.start or 0
    return start, start + (field.width or 0)


def _check_field(field: LayoutField, is_written: bool) -> Iterator[Diagnostic]:
    if (field.width or 0) <= 0:
        yield field.problem(
            "E021", f"field '{field.name}' ends before it starts", "end", help="raise 'end'"
        )
    if field.path is not None:
        yield _no_meaning(field, "path", "fields of a line have a place, not a path")
    kind = field.type
    if field.format is not None and kind not in (None, *_MOMENTS):
        yield _no_meaning(field, "format", f"it is for dates, and the type is {kind}")
    for key in ("scale", "precision"):
        if getattr(field, key) and kind not in (None, *_NUMBERS):
            yield _no_meaning(field, key, f"it is for numbers, and the type is {kind}")
    if field.coerce is False:
        for key in ("format", "scale"):
            if getattr(field, key):
                yield _no_meaning(field, key, "'coerce: false' leaves the text as it is")
    if field.pad == "0" and field.justify == "left" and kind in _NUMBERS:
        yield field.problem(
            "E059",
            f"zeros behind the number '{field.name}' would change it",
            "justify",
            help="write 'justify: right', or pad with blanks",
        )
    if field.format is not None:
        try:
            if is_written:
                check_format(field.format, has_time=None)
            else:
                compile_pattern(field.format)
        except PatternError as problem:
            yield field.problem("E059", str(problem), "format")


def _no_meaning(field: LayoutField, key: str, why: str) -> Diagnostic:
    return field.problem(
        "E059",
        f"'{key}' of field '{field.name}' has no meaning: {why}",
        key,
        key=True,
        help=f"remove '{key}'",
    )


def _check_records(layout: Layout, is_written: bool) -> Iterator[Diagnostic]:
    records = layout.records or ()
    if is_written and records:
        yield layout.problem(
            "E059",
            "an output has lines of one kind, and the layout has several",
            "records",
            key=True,
            help="write 'fields', and each type of record with an output of its own",
        )
        return
    if layout.records is None:
        for key in ("discriminator", "structure"):
            if layout.has(key) and getattr(layout, key):
                yield layout.problem(
                    "E059", f"'{key}' needs 'records'", key, key=True, help=f"remove '{key}'"
                )
        return
    if layout.discriminator_place is None:
        named = layout.discriminator.field if layout.discriminator else None
        yield (layout.discriminator or layout).problem(
            "E059",
            f"no record type has the field '{named}'"
            if named
            else "nothing tells the record types apart",
            help="add 'discriminator' with the place of the tag",
        )
    yield from _check_types(records)
    ids = [record.id for record in records]
    for each in layout.structure:
        if each.record not in ids:
            yield each.problem(
                "E059",
                f"the layout has no record type '{each.record}'",
                "record",
                help=did_you_mean(each.record, ids),
            )


def _check_types(records: Sequence[RecordType]) -> Iterator[Diagnostic]:
    first: dict[tuple[str, str], RecordType] = {}
    ids = [record.id for record in records]
    for record in records:
        if record.tag is None:
            yield record.problem(
                "E059",
                f"record type '{record.id}' has no tag",
                help="add 'tag', the value of the discriminator in its lines",
            )
        for key in ("id", "tag"):
            value = getattr(record, key)
            if value is not None and first.setdefault((key, value), record) is not record:
                yield record.problem("E059", f"two record types have the {key} '{value}'", key)
        if record.parent is not None and record.parent not in ids:
            yield record.problem(
                "E059",
                f"the layout has no record type '{record.parent}'",
                "parent",
                help=did_you_mean(record.parent, ids),
            )
        for key in ("parent", "join_key"):
            if getattr(record, key) is not None:
                yield record.problem(
                    "W013",
                    f"'{key}' has no effect: every line is a record of its own",
                    key,
                    key=True,
                    help="remove it; a combine puts records together",
                    warning=True,
                )


def _check_column(name: str, type_: Type, fields: Sequence[LayoutField]) -> Iterator[Diagnostic]:
    """What a field cannot become."""
    for field in fields:
        if name not in (field.name, field.alias):
            continue
        kinds = type_.kinds & ~Kind.NULL
        if field.type in _KINDS and field.coerce is not False and not kinds & _KINDS[field.type]:
            yield field.problem(
                "E060",
                f"field '{field.name}' is of type {field.type}, and its column is {type_}",
                "type",
                help="change the type of the field or of the column",
            )
        elif _is_unfit(field.default, kinds):
            yield field.problem(
                "E060",
                f"the default of field '{field.name}' is not {type_}",
                "default",
                help="change the default, or the type of the column",
            )
        elif field.scale and kinds == Kind.INT:
            yield field.problem(
                "E060",
                f"field '{field.name}' has {field.scale} digits behind the point, and its column "
                "is Int",
                "scale",
                help="make the column float or numeric",
            )
        elif field.format and field.type is None and not kinds & (Kind.DATE | Kind.DATETIME):
            yield field.problem(
                "E060",
                f"field '{field.name}' has the format of a date, and its column is {type_}",
                "format",
                help="give the field 'type: date', or make the column a date",
            )


def _is_unfit(default: object, kinds: Kind) -> bool:
    """Whether the default of a field cannot become a value of its column."""
    text = str(default)
    match kinds:
        case _ if default is None:
            return False
        case Kind.INT:
            return try_int(text) is None
        case Kind.FLOAT | NUMERIC.kinds:
            return try_float(text) is None
        case Kind.BOOL:
            return text.lower() not in _BOOLEANS
        case Kind.DATE:
            return parse_iso_date(text) is None
        case Kind.DATETIME:
            return parse_iso_datetime(text) is None
        case _:
            return False


def check_written(
    nodes: Mapping[str, Planned], layouts: Mapping[str, Layout]
) -> Iterator[Diagnostic]:
    """Columns of outputs that have no field, and fields that must have a value but no column."""
    for output in nodes.values():
        layout = layouts.get(output.name)
        if not isinstance(output, PlannedOutput) or layout is None or layout.fields is None:
            continue
        if not output.node.config.format.needs_layout:
            continue
        columns = {column.name for column in (*output.columns, *output.metadata_columns)}
        fields = {name for field in layout.fields for name in (field.name, field.alias) if name}
        config = output.node.config
        left_out = [f"'{printable(name)}'" for name in sorted(columns - fields)]
        if left_out:
            yield output.unit.scope.problem(
                "W013",
                f"the layout has no field for {', '.join(left_out)}: not written",
                config.key_at("layout"),
                help="add a field to the layout, or name the column under 'exclude'",
                severity=Severity.WARNING,
            )
        for field in layout.fields:
            has_value = {field.name, field.alias} & columns or field.default is not None
            if field.required and not has_value and not output.have_undeclared:
                yield output.unit.problem(
                    "E060",
                    f"field '{field.name}' must have a value, and no column is called so",
                    field.at("name"),
                    help=did_you_mean(field.name, columns) or "give it a 'default'",
                )
