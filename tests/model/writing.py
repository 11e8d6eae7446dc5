"""What outputs show of their records, and what is in their files."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Sequence

from clinker.config.names import SortKey
from clinker.cxl.values import Value, sort_key, text_of
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedOutput

from .rows import Row


def shown(plan: Plan, planned: PlannedOutput, rows: Sequence[Row]) -> object:
    """The rows of an output in the form in which `read` gives those of its file."""
    config = planned.node.config
    ordered = list(rows)
    for key in config.sort_order:
        if key.null_order == "drop":
            ordered = [row for row in ordered if row.values[key.field] is not None]
    for key in reversed(config.sort_order):
        _sort(ordered, key)
    columns = plan.projections[planned.name]
    table = [{column.name: _value(row, column.field) for column in columns} for row in ordered]
    if config.type == "csv":
        return [[_text(value) for value in row.values()] for row in table]
    return [{name: _json(value) for name, value in row.items()} for row in table]


def read(planned: PlannedOutput, text: str) -> object:
    """The records of an output's file."""
    if planned.node.config.type == "csv":
        return list(csv.reader(io.StringIO(text)))[1:]
    return [json.loads(line) for line in text.splitlines()]


def _sort(rows: list[Row], key: SortKey) -> None:
    def place(row: Row) -> tuple[object, ...]:
        value = row.values[key.field]
        return () if value is None else sort_key(value)

    is_first = key.null_order == "first"
    rows.sort(key=place, reverse=key.order == "desc")
    rows.sort(key=lambda row: (row.values[key.field] is None) != is_first)


def _value(row: Row, field: str) -> Value:
    if field.startswith("$ck.aggregate."):
        return row.numbers.get(field.removeprefix("$ck.aggregate."))
    if field.startswith("$ck."):
        return row.keys.get(field.removeprefix("$ck."))
    if field.startswith("$meta."):
        return row.meta.get(field.removeprefix("$meta."))
    return row.values[field]


def _text(value: Value) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, dt.date) else text_of(value)


def _json(value: Value) -> object:
    if value is None:
        return ""
    return _inner(value)


def _inner(value: Value) -> object:
    match value:
        case list():
            return [_inner(each) for each in value]
        case dict():
            return {name: _inner(each) for name, each in value.items()}
        case dt.date():
            return value.isoformat()
    return value
