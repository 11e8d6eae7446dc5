"""What leaves chosen nodes, as a run that only looked at them has found it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from clinker.cxl.values import WrittenFloat, float_text
from clinker.engine.report.facts import OutputReport, RunReport
from clinker.formats.common.json_numbers import dumps, loads
from clinker.formats.files.dead_letter_file import Entry
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.probes import Outlet, probe_name

Record = dict[str, Any]


@frozen(eq=False, kw_only=True)
class View:
    """The records of an outlet, and those that were rejected at its node."""

    outlet: str
    content: bytes
    """A record per line, as JSON."""
    count: int
    """How many there are."""
    known: tuple[str, ...]
    """The columns that are known without a record."""
    rejected: Sequence[Entry]
    """What was rejected at the node itself."""
    rejected_before: Sequence[tuple[str, int]]
    """How many records did not come so far: by the nodes that rejected them."""

    def lines(self, most: int | None = None) -> list[bytes]:
        """The first records as JSON."""
        if most is None:
            return self.content.splitlines()
        return self.content.split(b"\n", most)[: min(most, self.count)]

    def records(self, most: int | None = None) -> Iterator[Record]:
        return map(loads, self.lines(most))

    def columns(self, records: Sequence[Record]) -> list[str]:
        """The names of all columns of some records, in their order."""
        return list(dict.fromkeys([*self.known, *(name for record in records for name in record)]))

    @cached_property
    def profile(self) -> Sequence[ColumnProfile]:
        """What is in each column, over all records."""
        records = list(self.records())
        return [_profile(name, [r.get(name) for r in records]) for name in self.columns(records)]


@frozen(kw_only=True)
class ColumnProfile:
    """What is in a column."""

    name: str
    kinds: str
    values: int
    nulls: int
    distinct: int
    least: str
    greatest: str


def list_views(plan: Plan, outlets: Mapping[str, Outlet], report: RunReport) -> list[View]:
    """What a run of a plan that looks at these outlets has found at each."""
    outputs = {output.name: output for output in report.outputs}
    assert report.rejected
    entries = list(report.rejected.whole().entries)
    return [
        _view(plan, name, outlet, outputs[probe_name(name)], entries)
        for name, outlet in outlets.items()
    ]


def _view(
    plan: Plan, name: str, outlet: Outlet, output: OutputReport, entries: Sequence[Entry]
) -> View:
    before = {*plan.graph.ancestors(output.name)} - {outlet.node}
    counts: dict[str, int] = {}
    for entry in entries:
        if entry.node in before:
            counts[entry.node] = counts.get(entry.node, 0) + 1
    own = (outlet.node, output.name)
    return View(
        outlet=name,
        content=output.preview or b"",
        count=output.records,
        known=tuple(column.name for column in plan.projections[output.name]),
        rejected=[entry for entry in entries if entry.node in own],
        rejected_before=[(node, counts[node]) for node in plan.nodes if node in counts],
    )


def show_value(value: Any) -> str:
    """A value as a table shows it; null is not one."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case WrittenFloat():
            return value.text
        case float():
            return float_text(value)
        case list() | dict():
            return dumps(value).decode()
        case _:
            return str(value)


_KINDS = {bool: "Bool", int: "Int", float: "Float", WrittenFloat: "Float", str: "String"}
_KINDS |= {list: "Array", dict: "Map"}


def _profile(name: str, values: Sequence[Any]) -> ColumnProfile:
    present = [value for value in values if value is not None]
    kinds = dict.fromkeys(_KINDS.get(type(value), type(value).__name__) for value in present)
    texts = {show_value(value) for value in present}
    least, greatest = _bounds(present)
    return ColumnProfile(
        name=name,
        kinds=" or ".join(kinds),
        values=len(present),
        nulls=len(values) - len(present),
        distinct=len(texts),
        least=least,
        greatest=greatest,
    )


def _bounds(values: Sequence[Any]) -> tuple[str, str]:
    """The least and the greatest value, if they are of one kind that has an order."""
    kinds = set(map(type, values))
    if not kinds or not (kinds <= {int, float, WrittenFloat} or kinds in ({str}, {bool})):
        return "", ""
    return show_value(min(values)), show_value(max(values))
