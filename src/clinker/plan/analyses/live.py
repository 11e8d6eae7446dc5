"""Which nodes a run computes: those that something it writes or keeps depends on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import Planned, PlannedState, Shape
from clinker.plan.nodes.window import Window


def live_nodes(
    graph: Graph, nodes: Mapping[str, Planned], windows: Iterable[Window]
) -> frozenset[str]:
    """Outputs, what windows look up, the init phase, and all that these are made of."""
    looked_up = {window.root for window in windows if window.lookup is not None}
    ends = [node.name for node in nodes.values() if _is_end(node) or node.name in looked_up]
    return frozenset(name for end in ends for name in (end, *graph.ancestors(end)))


def _is_end(node: Planned) -> bool:
    if isinstance(node, PlannedState):
        return bool(node.node.init_phase)
    return node.shape is Shape.WRITES
