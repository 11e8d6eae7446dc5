"""The columns that outputs write, the hidden ones included where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from clinker.cxl.types import INT
from clinker.plan.analyses.correlation import Correlation
from clinker.plan.nodes import OutputColumn, Planned, PlannedOutput, Shape


def plan_projections(
    nodes: Mapping[str, Planned], correlation: Correlation
) -> dict[str, tuple[OutputColumn, ...]]:
    """By output, its columns in the order they are written."""
    return {
        node.name: tuple(_project(node, nodes, correlation))
        for node in nodes.values()
        if node.shape is Shape.WRITES
    }


def _project(
    output: PlannedOutput, nodes: Mapping[str, Planned], correlation: Correlation
) -> list[OutputColumn]:
    columns = list(output.columns)
    if output.node.config.include_correlation_keys:
        at = _behind_made_columns(columns, nodes, output)
        columns[at:at] = _key_columns(correlation, nodes, output)
    return [*columns, *output.metadata_columns]


def _behind_made_columns(
    columns: list[OutputColumn], nodes: Mapping[str, Planned], output: PlannedOutput
) -> int:
    """The place behind the columns of the node that made the record; transforms only add to it."""
    maker: Planned = output
    while not _makes_records(maker.shape):
        maker = nodes[maker.unit.inputs[0].upstream]
    last = [at for at, column in enumerate(columns) if column.field in maker.row.columns]
    return last[-1] + 1 if last else 0


def _makes_records(shape: Shape) -> bool:
    match shape:
        case Shape.READS | Shape.GROUPS | Shape.JOINS:
            return True
        case Shape.PASSES | Shape.MERGES | Shape.WRITES:
            return False
        case other:
            assert_never(other)


def _key_columns(
    correlation: Correlation, nodes: Mapping[str, Planned], output: PlannedOutput
) -> list[OutputColumn]:
    keys = correlation.visible[output.name]
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
