"""The lineage of outputs."""

from __future__ import annotations

from collections.abc import Mapping

from clinker.frozen import frozen
from clinker.plan.analyses.lineage.influence import Influence, Origins, through, together
from clinker.plan.analyses.lineage.nodes import NOTHING, Made, assigned, made_by
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import OutputColumn, Planned, PlannedState, Shape
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class OutputLineage:
    """Of what an output is made."""

    columns: Mapping[str, Origins]
    """Each column; one that is the same for all records is made of nothing."""
    records: Origins
    """What decides which records there are, and in which order."""


def output_lineage(
    graph: Graph,
    nodes: Mapping[str, Planned],
    windows: Mapping[str, Window],
    projections: Mapping[str, tuple[OutputColumn, ...]],
) -> dict[str, OutputLineage]:
    """The lineage of each output, as far as columns are declared."""
    made = _every_made(graph, nodes, windows)
    lineage: dict[str, OutputLineage] = {}
    for node in nodes.values():
        if node.shape is Shape.WRITES:
            read = made[node.name]
            sorted_by = [read.fields.get(key.field, {}) for key in node.node.config.sort_order]
            order = through(together(sorted_by), Influence.SORT)
            lineage[node.name] = OutputLineage(
                columns={
                    column.name: read.fields.get(_field(column), {})
                    for column in projections[node.name]
                },
                records=together([read.deciding, order]),
            )
    return lineage


def _field(column: OutputColumn) -> str:
    """The field that a column shows; of a correlation key, the one it was read from."""
    return column.field.removeprefix("$ck.")


def _every_made(
    graph: Graph, nodes: Mapping[str, Planned], windows: Mapping[str, Window]
) -> Mapping[str, Made]:
    """What leaves each node. Variables may be read before they are written: so all is done again
    until nothing is new."""
    variables: dict[str, Origins] = {}
    while True:
        made: dict[str, Made] = {}
        found: dict[str, Origins] = {}
        for unit in graph:
            node, window = nodes[unit.name], windows.get(unit.name)
            inputs = [made.get(edge.upstream, NOTHING) for edge in unit.inputs]
            covered = made.get(window.root) if window and window.lookup is not None else None
            made[unit.name] = made_by(node, inputs, window, covered, variables)
            if isinstance(node, PlannedState):
                for name, origins in assigned(node, inputs[0], variables):
                    found[name] = together([found.get(name, {}), origins])
        if found == variables:
            return made
        variables = found
