"""The columns that outputs write, the hidden ones included where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from clinker.config.nodes import OutputNode
from clinker.cxl.types import INT, Type
from clinker.plan.analyses.correlation import Correlation
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes.planned import OutputColumn, Planned, PlannedOutput

_ROW_MAKERS = ("source", "aggregate", "combine")


def plan_projections(
    graph: Graph, nodes: Mapping[str, Planned], correlation: Correlation
) -> dict[str, tuple[OutputColumn, ...]]:
    """By output, its columns in the order they are written."""
    found: dict[str, tuple[OutputColumn, ...]] = {}
    for unit in graph:
        output = nodes[unit.name]
        if isinstance(unit.node, OutputNode) and isinstance(output, PlannedOutput):
            columns = list(output.columns)
            if unit.node.config.include_correlation_keys:
                at = _behind_made_columns(columns, graph, nodes, unit)
                columns[at:at] = _key_columns(correlation, nodes, unit)
            columns += metadata_columns(output.meta, unit.node)
            found[unit.name] = tuple(columns)
    return found


def _behind_made_columns(
    columns: list[OutputColumn], graph: Graph, nodes: Mapping[str, Planned], unit: Unit
) -> int:
    """The place behind the columns of the node that made the record; transforms only add to it."""
    maker = unit
    while maker.kind not in _ROW_MAKERS:
        maker = graph.units[maker.inputs[0].upstream]
    made = nodes[maker.name].row.columns
    last = [at for at, column in enumerate(columns) if column.field in made]
    return last[-1] + 1 if last else 0


def _key_columns(
    correlation: Correlation, nodes: Mapping[str, Planned], unit: Unit
) -> list[OutputColumn]:
    keys = correlation.visible[unit.name]
    types = {
        field: nodes[source].row.columns[field].nullable()
        for source, key in correlation.sources.items()
        for field in key.fields
    }
    return [
        *(OutputColumn(f"$ck.{field}", f"$ck.{field}", types[field]) for field in keys.fields),
        *(
            OutputColumn(f"$ck.aggregate.{name}", f"$ck.aggregate.{name}", INT.nullable())
            for name in keys.aggregates
        ),
    ]


def metadata_columns(meta: Mapping[str, Type], node: OutputNode) -> list[OutputColumn]:
    """The metadata that an output writes, of all that its records carry."""
    chosen = node.config.include_metadata
    if chosen.mode == "none":
        return []
    keys = meta if chosen.mode == "all" else chosen.keys
    return [OutputColumn(f"meta.{key}", f"$meta.{key}", meta[key]) for key in keys if key in meta]
