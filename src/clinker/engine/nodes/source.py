"""Sources: the records of files as flows."""

from __future__ import annotations

from dataclasses import replace

from clinker.config.nodes import SourceNode
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import META, POSITION, REJECT, SOURCE, WIDENED, Flow, quoted
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.reading.scan import local_frame, scan
from clinker.formats.reading import Inventory
from clinker.plan.nodes.planned import PlannedSource

_PART_BYTES = 64 * 2**20
_MOST_PARTS = 64
"""Records whose order was lost are sorted in parts of that size, at most so many: the SQL that
tells them apart must not grow too long."""


_PROVENANCE = {"source_name": "name", "source_file": "file", "source_row": "row"}
"""Metadata, and the members of `$source` that it is."""


def source(building: Building, planned: PlannedSource, given: SourceInput) -> Flow:
    """The records of a source: read here if they are few, by the engine's workers if not."""
    assert isinstance(planned.unit.node, SourceNode)
    has_rejects = True
    if given.is_small:
        table = given.table
        has_rejects = table.column(REJECT).null_count < len(table)
        if not has_rejects:
            table = table.drop_columns([REJECT])
        frame = local_frame(building.spark, table)
    else:
        frame = scan(building.spark, given.spec, given.inventory)
    apart = given.inventory.members
    delivered = [c.name for c in given.spec.needed_columns if c.name not in apart]
    columns = {name: planned.row.columns[name] for name in delivered}
    keeps_undeclared = given.spec.undeclared == "keep"
    has_map = WIDENED in given.inventory.schema.names
    flow = Flow(
        frame=frame.selectExpr("*", f"{given.number} as {quoted(SOURCE)}"),
        columns=columns,
        order=(POSITION,),
        is_ordered=True,
        sources=(given.name,),
        is_small=given.is_small,
        widened=given.inventory.undeclared if keeps_undeclared and not has_map else (),
        has_widened_map=has_map,
        origin={name: (name, columns[name]) for name in _event_times(planned.unit.node)},
        has_rejects=has_rejects,
        borders=_borders(given.inventory),
        apart=apart,
    )
    return _with_provenance(building, planned, flow) if planned.meta else flow


def _with_provenance(building: Building, planned: PlannedSource, flow: Flow) -> Flow:
    """The flow with metadata that says where its records were read."""
    values = building.compiler(planned.unit, flow).inputs
    columns = [
        f"{values.system('source', (member,), planned.meta[name])} as {quoted(META + name)}"
        for name, member in _PROVENANCE.items()
    ]
    return replace(flow, frame=flow.frame.selectExpr("*", *columns), meta=planned.meta)


def _event_times(node: SourceNode) -> list[str]:
    return [node.config.watermark.column] if node.config.watermark else []


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
