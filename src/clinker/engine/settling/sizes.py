"""Sizes: how many records the groups of a source have, and which is the first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from clinker.engine.flow.flow import POSITION
from clinker.engine.flow.frame import Frame, quoted
from clinker.engine.settling.fallen import Fallen, Fields, Group, Key, Oversized, Record, Rows
from clinker.engine.settling.keys import part_sql
from clinker.plan.nodes import PlannedSource

if TYPE_CHECKING:
    from clinker.engine.flow.building import Building
    from clinker.engine.reading.inputs import SourceInput
    from clinker.engine.session.session import Session

Size: TypeAlias = tuple[int, int]
"""How many records a group has, and the position of the first."""
_COUNT, _FIRST, _PART, _SOUGHT = "$count", "$first", "$part", "$sought"


def find_oversized(
    building: Building, session: Session, source: SourceInput, most: int
) -> Iterator[Oversized]:
    """The groups of a source with more than that many records."""
    fields = building.plan.correlation.sources[source.name].fields
    if source.records <= most or _is_counted(source, most):
        return
    frame = _sizes(_parts(building, source, fields), fields).where(f"{quoted(_COUNT)} > {most}")
    for key, (_, first) in _collected(session, frame, fields).items():
        yield Oversized(Group(fields, key), (source.number, first))


def _is_counted(source: SourceInput, most: int) -> bool:
    """Whether those that read it have counted that no group is larger."""
    counted = source.tally.most(source.inventory.splits) if source.tally else None
    return counted is not None and counted <= most


def measure(
    building: Building,
    session: Session,
    source: SourceInput,
    keys: Collection[Key],
    without: Collection[Record],
) -> dict[Key, Size]:
    """The sizes of some groups of a source, of which some records are gone."""
    fields = building.plan.correlation.sources[source.name].fields
    gone = Fallen(retracted=frozenset(without))
    frame = _parts(replace(building, fallen=gone), source, fields)
    names = [f"{_SOUGHT}{n}" for n in range(len(fields))]
    table = pa.table(
        [pa.array([key[n] for key in keys], pa.string()) for n in range(len(fields))], names
    )
    tests = [f"{quoted(f'{_PART}{n}')} <=> {quoted(name)}" for n, name in enumerate(names)]
    found = frame.join(
        Rows(table.append_column(_SOUGHT, pa.repeat(True, len(table)))).frame("groups"),
        " AND ".join(tests),
        is_small=True,
    )
    return _collected(session, _sizes(found.where(quoted(_SOUGHT)), fields), fields)


def _parts(building: Building, source: SourceInput, fields: Fields) -> Frame:
    """The keys of all records of a source that are in a group with others, and their positions."""
    from clinker.engine.nodes.source import source as source_flow

    planned = building.plan.nodes[source.name]
    assert isinstance(planned, PlannedSource)
    flow = source_flow(building, planned, source)
    parts = {f"{_PART}{n}": part_sql(flow, field) for n, field in enumerate(fields)}
    frame = flow.selected({**parts, POSITION: flow.text(POSITION)})
    return frame.where(f"coalesce({', '.join(map(quoted, parts))}) IS NOT NULL")


def _sizes(parts: Frame, fields: Fields) -> Frame:
    by = [f"{_PART}{n}" for n in range(len(fields))]
    return parts.group(by, [(_COUNT, "count(*)"), (_FIRST, f"min({quoted(POSITION)})")])


def _collected(session: Session, sizes: Frame, fields: Fields) -> dict[Key, Size]:
    columns = [*(f"{_PART}{n}" for n in range(len(fields))), _COUNT, _FIRST]
    rows = zip(*(column.to_pylist() for column in session.table(sizes.keep(columns))), strict=True)
    return {tuple(row[:-2]): (row[-2], row[-1]) for row in rows}
