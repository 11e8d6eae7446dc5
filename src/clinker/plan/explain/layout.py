"""Where the nodes of a picture stand, and the ways of the lines between them.

A layered drawing: every node stands behind all that it reads from. A line that passes a layer gets
a place in it as if it were a node. Nodes are put into an order with few crossings, then as straight
below what they read from as their neighbours let them. The same graph always looks the same.

Nothing here knows directions: `layer` counts along the flow, `across` is measured in its layer.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from clinker.frozen import frozen

_ROUNDS = 13
"""Of an odd number, the last leads downwards."""
_LINE = 26.0
"""The room that a line takes in a layer that it passes."""
_STRAIGHTNESS = 4.0
"""How much more a line that passes a layer is to be straight than a node is to be central."""


class Place(NamedTuple):
    layer: int
    across: float
    """Where its middle is."""


@frozen
class Layout:
    """The places of nodes, by their numbers, and the ways of links, by theirs."""

    nodes: tuple[Place, ...]
    ways: tuple[tuple[Place, ...], ...]
    """For each link, where it passes the layers between its ends."""
    layers: int
    breadth: float


def lay_out(count: int, links: Sequence[tuple[int, int]], width: float, gap: float) -> Layout:
    """Places for nodes that are `width` across, links leading from lower to higher numbers."""
    layer_of = _layers(count, links)
    graph = _Layered.of(layer_of, links)
    rows = _ordered(graph)
    across = _placed(graph, rows, [width if v < count else _LINE for v in range(graph.size)], gap)
    places = [Place(graph.layer[v], across[v]) for v in range(graph.size)]
    return Layout(
        nodes=tuple(places[:count]),
        ways=tuple(tuple(places[v] for v in chain) for chain in graph.chains),
        layers=len(rows),
        breadth=max((across[v] for v in range(count)), default=0) + width / 2,
    )


def _layers(count: int, links: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each node: behind all it reads from; what reads nothing, close to its reader."""
    layer = [0] * count
    for start, end in sorted(links, key=lambda link: link[1]):
        layer[end] = max(layer[end], layer[start] + 1)
    reading = {end for _, end in links}
    for node in range(count):
        readers = [layer[end] for start, end in links if start == node]
        if node not in reading and readers:
            layer[node] = min(readers) - 1
    return layer


@frozen(eq=False)
class _Layered:
    """A graph whose links lead from each layer to the next."""

    layer: Sequence[int]
    chains: Sequence[Sequence[int]]
    """For each link that was given, what stands for it in the layers that it passes."""
    above: Sequence[Sequence[int]]
    below: Sequence[Sequence[int]]
    size: int

    @staticmethod
    def of(layer_of: Sequence[int], links: Sequence[tuple[int, int]]) -> _Layered:
        layer, chains = [*layer_of], []
        steps: list[tuple[int, int]] = []
        for start, end in links:
            passed = range(layer_of[start] + 1, layer_of[end])
            chain = range(len(layer), len(layer) + len(passed))
            layer += passed
            chains.append(chain)
            steps += pairwise([start, *chain, end])
        above: list[list[int]] = [[] for _ in layer]
        below: list[list[int]] = [[] for _ in layer]
        for start, end in steps:
            above[end].append(start)
            below[start].append(end)
        return _Layered(layer, chains, above, below, len(layer))


def _ordered(graph: _Layered) -> list[list[int]]:
    """The layers, each in the order with the fewest crossings that were found."""
    rows: list[list[int]] = [[] for _ in range(max(graph.layer, default=-1) + 1)]
    for vertex in range(graph.size):
        rows[graph.layer[vertex]].append(vertex)
    best, fewest = rows, _crossings(graph, rows)
    for turn in range(_ROUNDS):
        if not fewest:
            break
        rows = _swept(graph, rows, downwards=turn % 2 == 0)
        crossings = _crossings(graph, rows)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _swept(graph: _Layered, rows: Sequence[Sequence[int]], *, downwards: bool) -> list[list[int]]:
    """Every layer in the order of the middles of its neighbours in the layer before."""
    neighbours = graph.above if downwards else graph.below
    swept = [[*row] for row in rows]
    at = {vertex: place for row in swept for place, vertex in enumerate(row)}

    def middle(vertex: int) -> float:
        own = neighbours[vertex]
        return sum(at[each] for each in own) / len(own) if own else at[vertex]

    for row in swept if downwards else reversed(swept):
        row.sort(key=lambda vertex: (middle(vertex), at[vertex]))
        at.update((vertex, place) for place, vertex in enumerate(row))
    return swept


def _crossings(graph: _Layered, rows: Sequence[Sequence[int]]) -> int:
    """How many pairs of lines cross."""
    at = {vertex: place for row in rows for place, vertex in enumerate(row)}
    crossings = 0
    for row in rows:
        ends: list[int] = []
        for vertex in row:
            own = sorted(at[each] for each in graph.below[vertex])
            crossings += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return crossings


def _placed(
    graph: _Layered, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float
) -> list[float]:
    """Where each vertex is in its layer: in the middle of its neighbours, if there is room."""
    across = [0.0] * graph.size
    for row in rows:
        _settle(row, [0.0] * len(row), [1.0] * len(row), widths, gap, across)
    weights = [_STRAIGHTNESS if widths[v] == _LINE else 1.0 for v in range(graph.size)]
    for turn in range(_ROUNDS):
        downwards = turn % 2 == 0
        nearer, farther = (graph.above, graph.below) if downwards else (graph.below, graph.above)
        for row in rows if downwards else reversed(rows):
            wanted = [_middle(nearer[v] or farther[v], across, v) for v in row]
            _settle(row, wanted, [weights[v] for v in row], widths, gap, across)
    for row in reversed(rows):
        wanted = [across[v] if graph.above[v] else _middle(graph.below[v], across, v) for v in row]
        _settle(row, wanted, [weights[v] for v in row], widths, gap, across)
    first = min((across[v] - widths[v] / 2 for v in range(graph.size)), default=0.0)
    return [round(each - first, 1) for each in across]


def _middle(neighbours: Sequence[int], across: Sequence[float], vertex: int) -> float:
    """The middle of the neighbours of a vertex; without any, where it is."""
    own = neighbours or [vertex]
    return sum(across[each] for each in own) / len(own)


def _settle(
    row: Sequence[int],
    wanted: Sequence[float],
    weights: Sequence[float],
    widths: Sequence[float],
    gap: float,
    across: list[float],
) -> None:
    """Put the vertices of a layer as close to where they are wanted as they fit, in their order.

    Those that would overlap move together, to where all of them together are least displaced.
    """
    offsets, behind = [], 0.0
    for place, vertex in enumerate(row):
        if place:
            behind += (widths[row[place - 1]] + widths[vertex]) / 2 + gap
        offsets.append(behind)
    blocks: list[tuple[float, float, int]] = []
    for target, offset, weight in zip(wanted, offsets, weights, strict=True):
        middle, heavy, many = target - offset, weight, 1
        while blocks and blocks[-1][0] > middle:
            other, other_weight, other_many = blocks.pop()
            middle = (middle * heavy + other * other_weight) / (heavy + other_weight)
            heavy, many = heavy + other_weight, many + other_many
        blocks.append((middle, heavy, many))
    starts = [middle for middle, _, many in blocks for _ in range(many)]
    for vertex, start, offset in zip(row, starts, offsets, strict=True):
        across[vertex] = start + offset
