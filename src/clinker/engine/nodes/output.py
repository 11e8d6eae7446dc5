"""Outputs: what of a flow is written, and in which form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clinker.config.names import SortKey
from clinker.config.nodes.output import OutputConfig
from clinker.cxl.types import ANY, STRING, Type
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building, field_sql
from clinker.engine.flow.flow import POSITION, REJECT, SOURCE, Flow
from clinker.engine.flow.frame import Frame
from clinker.engine.flow.ordering import sort_keys
from clinker.engine.rejects.reject_texts import reject_text_sql
from clinker.engine.settling.keys import membership_sql
from clinker.engine.settling.taking import at_output
from clinker.engine.writing.collecting import Filing
from clinker.engine.writing.destinations import is_per_input
from clinker.formats import FORMATS, format_named
from clinker.formats.common.writing import OutputColumn, Split, Widened, WriteSpec
from clinker.formats.json.dialect import JsonWriteDialect
from clinker.frozen import frozen
from clinker.plan.nodes import PlannedOutput

_GROUP_KEY = "$group_key"
_VALUE = "$value_"
"""What the names of columns begin with that tell of which files records are."""


@frozen(eq=False, kw_only=True)
class Written:
    """An output, ready to be computed and written."""

    planned: PlannedOutput
    frame: Frame
    """Its columns as its specification names them, then what tells rejects and input files."""
    spec: WriteSpec
    is_small: bool
    filing: Filing
    keys_from_records: bool
    """Whether the names of its last columns depend on what the records hold."""


def written(building: Building, planned: PlannedOutput, flow: Flow) -> Written:
    """What an output makes of the flow it reads."""
    config = planned.node.config
    flow = at_output(building, planned, flow)
    ordered = _sorted(flow, config.sort_order) if config.sort_order else flow.in_order()
    shown = building.plan.projections[planned.name]
    columns = [
        OutputColumn(column.name, ordered.narrowed.get(column.field, column.type))
        for column in shown
    ]
    texts = {
        column.held_as: _column_sql(ordered, projected.field)
        for column, projected in zip(columns, shown, strict=True)
    }
    widened = None
    if config.include_unmapped:
        undeclared = Widened(
            excluded=ordered.overwritten.union(config.exclude, ordered.columns),
            renamed=_new_names(config),
        )
        taken = {column.name for column in columns}
        for name, field in undeclared.written(ordered.undeclared, taken).items():
            column = OutputColumn(name, STRING.nullable())
            columns.append(column)
            texts[column.held_as] = ordered.text(ordered.undeclared[field].name)
        if every := ordered.undeclared_map:
            widened = undeclared
            texts[every.name] = ordered.text(every.name)
    split = _split(config, ordered.columns)
    if split and split.group_key:
        assert config.split and config.split.group_key
        texts[_GROUP_KEY] = field_sql(ordered, config.split.group_key)
    filing = _filing(config, ordered.columns)
    for column, field in zip(filing.by, config.path.fields, strict=True):
        texts[column.held_as] = field_sql(ordered, field)
    if filing.by_input or not texts:  # records without any column could not be counted
        texts |= {name: ordered.text(name) for name in (SOURCE, POSITION)}
    header = _header(config)
    if header:
        held = header.name in ordered.hidden
        texts[header.name] = ordered.text(header.name) if held else "CAST(NULL AS STRING)"
    if ordered.has_rejects:
        texts[REJECT] = reject_text_sql(ordered, membership_sql(building, ordered))
    format, dialect = _form(building, planned)
    return Written(
        planned=planned,
        frame=ordered.selected(texts),
        spec=WriteSpec(
            format=FORMATS[format],
            dialect=dialect,
            columns=tuple(columns),
            widened=widened,
            split=split,
            header=header,
        ),
        is_small=flow.is_small,
        filing=filing,
        keys_from_records=widened is not None and format_named(format).names_columns_first,
    )


def _form(building: Building, planned: PlannedOutput) -> tuple[str, Any]:
    """The format that an output is written in, and its dialect.

    A preview is for people, so what they cannot read is shown as lines of JSON.
    """
    config = planned.node.config
    if building.plan.options.preview and not config.format.is_text:
        return "json", JsonWriteDialect(form="ndjson", preserve_nulls=True)
    layout = building.plan.layouts.get(planned.name)
    return config.type, format_named(config.type).write_dialect(config, layout)


def _new_names(config: OutputConfig) -> dict[str, tuple[str, ...]]:
    """The names under which fields are written that have others."""
    found: dict[str, tuple[str, ...]] = {}
    for name, field in config.mapping.items():
        found[field] = (*found.get(field, ()), name)
    return found


def _column_sql(flow: Flow, field: str) -> str:
    if field.startswith(kinds.CORRELATION_KEY.name):
        return flow.text(field) if field in flow.hidden else "NULL"
    if field.startswith(kinds.META.name) or (field in flow.columns and field not in flow.apart):
        return flow.text(field)
    return field_sql(flow, field)


def _sorted(flow: Flow, keys: Sequence[SortKey]) -> Flow:
    """The flow in the order that the output asks for; rejected records are not in it."""
    for key in keys:
        if key.null_order == "drop":
            flow = flow.where(f"{field_sql(flow, key.field)} IS NOT NULL")
    flow = flow.built()
    by = list(sort_keys(flow, keys))
    flow = flow.prepared(*(key.text for key in by))
    return replace(flow, frame=flow.frame.sort(by), is_ordered=True)


def _header(config: OutputConfig) -> OutputColumn | None:
    """The column with the headers of documents that the output writes again."""
    section = config.header_section
    if section is None:
        return None
    return OutputColumn(kinds.DOCUMENT.column(section), STRING.nullable(), hidden=True)


def _filing(config: OutputConfig, columns: Mapping[str, Type]) -> Filing:
    by = (
        OutputColumn(f"{_VALUE}{number}", columns.get(field, ANY), hidden=True)
        for number, field in enumerate(config.path.fields)
    )
    return Filing(path=config.path.text, by_input=is_per_input(config), by=tuple(by))


def _split(config: OutputConfig, columns: Mapping[str, Type]) -> Split | None:
    split = config.split
    if split is None or not split.has_limit:
        return None
    key = None
    if split.group_key:
        key = OutputColumn(_GROUP_KEY, columns.get(split.group_key, ANY), hidden=True)
    return Split(
        max_records=split.max_records,
        max_bytes=split.max_bytes,
        group_key=key,
        naming=split.naming.text,
        repeat_header=split.repeat_header,
        oversize_group=split.oversize_group,
    )
