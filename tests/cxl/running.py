"""Running CXL in tests: source text in, values or failures out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from clinker.cli.inputs import as_json
from clinker.cxl.check.resolve import Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check
from clinker.cxl.check.typed import Program
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Record, RowProgram, Surroundings
from clinker.cxl.run.grouping import GroupProgram
from clinker.cxl.run.window_spec import SortKey, WindowSpec
from clinker.cxl.run.windowing import WindowProgram
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY, Type
from clinker.cxl.values import Value
from clinker.diagnostics import Source
from clinker.diagnostics.render import render_text


def compiled(text: str, context: Context) -> Program:
    checked = check(parse(Source("test.cxl", text)), context)
    assert checked.program, render_text(checked.diagnostics)
    return checked.program


def open_columns(record: Record) -> Row:
    return Row(dict.fromkeys(record, ANY))


def run(
    text: str, record: Record | None = None, schema: Mapping[str, Type] | None = None
) -> list[dict[str, Value]]:
    """The records a program gives for one record."""
    record = record or {}
    row = Row(schema) if schema else open_columns(record)
    program = compiled(text, Context(row=row))
    return [r.fields for r in RowProgram(program, Surroundings()).run(record).records]


def evaluate(expression: str, record: Record | None = None) -> Value:
    return run(f"emit result = {expression}", record)[0]["result"]


def outcome(expression: str, record: Record | None = None) -> str:
    """The value of an expression as JSON, or its failure."""
    try:
        return as_text(evaluate(expression, record))
    except Failure as failure:
        return f"error: {failure.detail}"


def aggregate(
    text: str, records: Sequence[Record], group_by: Sequence[str] = ()
) -> list[dict[str, Value]]:
    """The records an aggregate program gives; the first failure is raised."""
    columns = open_columns({name: None for record in records for name in record})
    context = Context(row=columns, kind=ProgramKind.AGGREGATE, group_by=tuple(group_by))
    found = GroupProgram(compiled(text, context), group_by, Surroundings()).run(records)
    for problem in [*found.rejected, *found.failed]:
        raise problem.failure
    return found.records


def windowed(
    text: str, records: Sequence[Record], spec: WindowSpec | None = None
) -> list[dict[str, Value]]:
    """The record a windowed program gives for each record; the first failure is raised."""
    columns = open_columns({name: None for record in records for name in record})
    program = compiled(text, Context(row=columns, window=WindowContext()))
    results: list[dict[str, Value]] = []
    for found in WindowProgram(program, spec or WindowSpec(), Surroundings()).run(records):
        if isinstance(found, Failure):
            raise found
        results.extend(r.fields for r in found.records)
    return results


def aggregate_outcome(expression: str, columns: Mapping[str, list[Value]]) -> str:
    try:
        return as_text(aggregate(f"emit result = {expression}", rows(columns))[0]["result"])
    except Failure as failure:
        return f"error: {failure.detail}"


def window_outcome(expression: str, columns: Mapping[str, list[Value]]) -> str:
    fields = {name: values for name, values in columns.items() if name != "sort_by"}
    spec = WindowSpec(sort_by=tuple(SortKey(str(name)) for name in columns.get("sort_by", [])))
    found = windowed(f"emit result = {expression}", rows(fields), spec)
    return as_text([record["result"] for record in found])


def rows(columns: Mapping[str, list[Value]]) -> list[dict[str, Value]]:
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_text(value: Value) -> str:
    return json.dumps(as_json(value), ensure_ascii=False)
