"""What it costs that pipelines are wide: many columns, many sums, many outputs of one source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.data import SEED, write_csv

COLUMNS, SUMS, OUTPUTS = 300, 100, 60
ROWS = 1000
KEYS = 10
MEMORY = "4G"
"""What the runs may use: this is about time."""
_NARROW = 10

_SOURCE = """
  - type: source
    name: {name}
    config:
      type: csv
      path: {name}.csv
      schema:{columns}"""
_OUTPUT = """
  - type: output
    name: out{number}
    input: {upstream}
    config: {{ type: csv, path: out{number}.csv, if_exists: overwrite }}"""
_NODE = """
  - type: {kind}
    name: {name}
    input: {upstream}
    config:{settings}
      cxl: |{program}"""
_COMBINE = """
  - type: combine
    name: compared
    input: { records: doubled, totals: totals }
    config:
      where: records.key == totals.key
      match: first
      on_miss: null_fields
      propagate_ck: driver
      cxl: |"""


def _source(name: str, columns: Iterable[tuple[str, str]]) -> str:
    listed = (f"\n        - {{ name: {column}, type: {type_} }}" for column, type_ in columns)
    return _SOURCE.format(name=name, columns="".join(listed))


def _node(kind: str, name: str, upstream: str, emits: Iterable[str], settings: str = "") -> str:
    program = "".join(f"\n        {statement}" for statement in emits)
    return _NODE.format(kind=kind, name=name, upstream=upstream, settings=settings, program=program)


def _output(upstream: str, number: int = 0) -> str:
    return _OUTPUT.format(upstream=upstream, number=number)


def _pipeline(*nodes: str) -> str:
    return f"pipeline: {{ name: wide }}\nnodes:{''.join(nodes)}\n"


_BY_KEY = "\n      group_by: [key]"


def _measures(count: int) -> list[tuple[str, str]]:
    return [("key", "string"), *((f"c{n}", "float") for n in range(count))]


def columns(count: int = COLUMNS) -> str:
    """Every column computed, summed up and compared with its sum."""
    names = [f"c{n}" for n in range(count)]
    compared = "".join(f"\n        emit {c} = records.{c} - totals.{c}" for c in names)
    return _pipeline(
        _source("wide", _measures(count)),
        _node("transform", "doubled", "wide", (f"emit {c} = {c} * 2.0" for c in names)),
        _node("aggregate", "totals", "doubled", (f"emit {c} = sum({c})" for c in names), _BY_KEY),
        _COMBINE,
        "\n        emit key = records.key",
        compared,
        _output("compared"),
    )


def sums(count: int = SUMS) -> str:
    """Many sums of numbers with a fraction."""
    emits = (f"emit c{n} = sum(c{n})" for n in range(count))
    return _pipeline(
        _source("wide", _measures(count)),
        _node("aggregate", "totals", "wide", emits, _BY_KEY),
        _output("totals"),
    )


def outputs(count: int = OUTPUTS) -> str:
    """Many outputs, each of which has its own part of the records."""
    parts = (
        _node(
            "transform",
            f"part{n}",
            "narrow",
            [f"filter c0 > {n}.0", f"emit total = c{n % _NARROW} + {n}"],
        )
        + _output(f"part{n}", n)
        for n in range(count)
    )
    return _pipeline(_source("narrow", _measures(_NARROW)), *parts)


def make_wide(folder: Path, rows: int = ROWS) -> None:
    """A file with as many columns as any of them reads, and one of its first columns."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(SEED + 5)
    keys = draw.integers(0, KEYS, rows)
    columns = {"key": pa.array([f"key-{key}" for key in keys])}
    columns |= {f"c{n}": pa.array(draw.integers(0, 10**6, rows) / 100) for n in range(COLUMNS)}
    table = pa.table(columns)
    write_csv(table, folder / "wide.csv")
    write_csv(table.select(range(1 + _NARROW)), folder / "narrow.csv")


PIPELINES = {
    f"{COLUMNS} columns": columns(),
    f"{SUMS} sums": sums(),
    f"{OUTPUTS} outputs": outputs(),
}


def report(times: Mapping[str, float]) -> list[str]:
    """The times in Markdown."""
    lines = ["", "## Wide pipelines", "", "| Job | seconds |", "|---|---:|"]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in times.items()]
    return [*lines, "", f"{ROWS:,} rows, cold, with a memory limit of {MEMORY}."]
