"""Sources: the records of files as flows."""

from __future__ import annotations

from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import POSITION, REJECT, Flow
from clinker.engine.flow.frame import Input
from clinker.engine.flow.hidden import HIDDEN_KINDS, Hidden, Reading
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.settling.taking import at_source
from clinker.formats.reading import Inventory
from clinker.plan.nodes import PlannedSource

_PART_BYTES = 64 * 2**20
_MOST_PARTS = 64
"""Records whose order was lost are sorted in parts of that size, at most so many: the SQL that
tells them apart must not grow too long."""


def source(building: Building, planned: PlannedSource, files: SourceInput) -> Flow:
    """The records of a source: read here if they are few, by the engine's workers if not."""
    inventory = files.inventory
    columns = {
        column.name: planned.row.columns[column.name]
        for column in files.spec.needed_columns
        if column.name not in inventory.members
    }
    names = (n for n in inventory.delivered.names if files.has_rejects or n != REJECT)
    flow = Flow(
        frame=Input(tuple(names), f"'{files.name}'", files.open),
        columns=columns,
        hidden={},
        order=(POSITION,),
        is_ordered=building.keeps_order,
        sources=(files.name,),
        is_small=files.is_small,
        borders=_borders(inventory),
        apart=inventory.members,
    )
    for kind in HIDDEN_KINDS:
        values = kind.read(Reading(building, planned, files, flow)) if kind.read else {}
        flow = flow.with_hidden(
            (Hidden(kind, key, type_), text) for key, (text, type_) in values.items()
        )
    return at_source(building, planned, flow)


def _borders(inventory: Inventory) -> tuple[int, ...]:
    """Positions that cut the records into parts of similar size."""
    size = max(_PART_BYTES, sum(split.size for split in inventory.splits) // _MOST_PARTS)
    borders: list[int] = []
    held = 0
    for split in inventory.splits:
        if held >= size:
            borders.append(split.file.position(split.first_row))
            held = 0
        held += split.size
    return tuple(borders)
