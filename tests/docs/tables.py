"""Worked examples in the documentation: a node of a pipeline, and tables of what goes in and out.

The node is a YAML block; the last table above it, a block `csv input`, is what the node reads, and
the table below it, a block `csv output`, is what it gives.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from clinker.config.load import load_pipeline
from clinker.config.nodes import AggregateNode, TransformNode
from clinker.config.window import AnalyticWindow, Extent
from clinker.cxl.check.resolve import Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check
from clinker.cxl.check.typed import Program
from clinker.cxl.run.evaluate import Outcome, Surroundings
from clinker.cxl.run.grouping import GroupProgram
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.cxl.run.windowing import WindowProgram
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import DATE, FLOAT, INT, STRING, Type, unify
from clinker.cxl.values import Value, text_of
from clinker.diagnostics import Diagnostic, Source
from clinker.diagnostics.render import render_text
from tests.docs.pages import Block, blocks

Table = list[dict[str, Value]]

_PIPELINE = """\
pipeline:
  name: docs
nodes:
- name: {input}
  type: source
  format: csv
  path: input.csv
  schema: {{{schema}}}
"""
_INT, _FLOAT, _DATE = (
    re.compile(pattern) for pattern in (r"-?\d+", r"-?\d+\.\d+", r"\d{4}-\d\d-\d\d")
)
_TYPES: dict[type, Type] = {int: INT, float: FLOAT, str: STRING, dt.date: DATE}


@dataclass(frozen=True)
class WorkedExample:
    node: Block
    given: Block
    result: Block


def worked_examples() -> list[WorkedExample]:
    """Every YAML block of the documentation with the tables around it."""
    found = []
    given: Block | None = None
    node: Block | None = None
    for block in blocks("yaml", "csv"):
        if block.flags == ("input",):
            given = block
        elif block.language == "yaml" and block.flags:
            continue
        elif block.language == "yaml":
            assert node is None, f"{node} has no csv output"
            node = block
        else:
            assert given, f"{block} has no csv input"
            assert node, f"{block} has no node"
            found.append(WorkedExample(node, given, block))
            node = None
    assert node is None, f"{node} has no csv output"
    return found


def read_table(text: str) -> Table:
    return [{k: _value(v) for k, v in row.items()} for row in csv.DictReader(text.splitlines())]


def _value(cell: str) -> Value:
    if _INT.fullmatch(cell):
        return int(cell)
    if _FLOAT.fullmatch(cell):
        return float(cell)
    return dt.date.fromisoformat(cell) if _DATE.fullmatch(cell) else cell or None


def write_table(table: Table) -> str:
    names = list(dict.fromkeys(name for record in table for name in record))
    lines = [names, *([_cell(record[name]) for name in names] for record in table)]
    return "".join(",".join(line) + "\n" for line in lines)


def _cell(value: Value) -> str:
    if isinstance(value, list):
        shown = json.dumps(value, separators=(",", ":")).replace('"', '""')
        return f'"{shown}"'
    return text_of(value)


def run_node(yaml: str, table: Table) -> Table:
    """What the node of a YAML block gives for the records of a table."""
    node = _load(yaml, list(table[0]))
    row = Row({name: _column_type([record[name] for record in table]) for name in table[0]})
    if isinstance(node, AggregateNode):
        keys = node.config.group_by
        context = Context(row=row, kind=ProgramKind.AGGREGATE, group_by=keys)
        program = _compile(node.config.cxl, context)
        grouped = GroupProgram(program, keys, Surroundings()).run(table)
        assert not grouped.rejected
        assert not grouped.failed
        return grouped.records
    window = node.config.analytic_window
    assert window, "a transform in an example has a window"
    program = _compile(node.config.cxl, Context(row=row, window=WindowContext()))
    outcomes = WindowProgram(program, _window_spec(window), Surroundings()).run(table)
    return [
        {**record, **emitted.fields}
        for record, outcome in zip(table, outcomes, strict=True)
        for emitted in _succeeded(outcome).records
    ]


def _succeeded(outcome: object) -> Outcome:
    assert isinstance(outcome, Outcome), outcome
    return outcome


def _load(yaml: str, columns: Sequence[str]) -> AggregateNode | TransformNode:
    read = re.search(r"^  input: (\w+)$", yaml, re.MULTILINE)
    assert read, "the node has no input"
    schema = ", ".join(f"{column}: any" for column in columns)
    text = _PIPELINE.format(input=read[1], schema=schema) + yaml
    loaded = load_pipeline(Source("docs", text), {})
    _reject(loaded.diagnostics)
    assert loaded.value
    node = loaded.value.nodes[-1]
    assert isinstance(node, AggregateNode | TransformNode)
    return node


def _compile(cxl: str, context: Context) -> Program:
    checked = check(parse(Source("docs", cxl)), context)
    _reject(checked.diagnostics)
    assert checked.program
    return checked.program


def _reject(diagnostics: Sequence[Diagnostic]) -> None:
    assert not diagnostics, indent(render_text(diagnostics), "  ")


def _column_type(values: Sequence[Value]) -> Type:
    known = unify(*(_TYPES[type(value)] for value in values if value is not None))
    return known.nullable() if None in values else known


def _window_spec(window: AnalyticWindow) -> WindowSpec:
    keys = (
        SortKey(key.field, key.order == "desc", key.null_order == "first") for key in window.sort_by
    )
    return WindowSpec(window.group_by, tuple(keys), _frame_spec(window))


def _frame_spec(window: AnalyticWindow) -> FrameSpec:
    frame = window.frame
    if not frame:
        return FrameSpec()
    unit = FrameUnit.ROWS if frame.rows else FrameUnit.RANGE
    extent = frame.rows or frame.range
    assert isinstance(extent, Extent)
    start, end = (None if math.isinf(bound) else bound for bound in (extent.start, extent.end))
    return FrameSpec(unit, start, end)
