"""How many records pass between nodes, as far as what was read, rejected and written tells.

Nothing is counted for it. Most nodes hand on each record that they do not reject: if it is known
how many come, it is known how many leave, and the other way round. So it is known of all nodes but
those between two others that drop, group or join records in numbers that nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TypeAlias, assert_never

from clinker.cxl.check.typed import Distinct, EmitEach, Filter
from clinker.frozen import frozen
from clinker.plan.graph.graph import Edge
from clinker.plan.nodes import Planned, Shape

Way: TypeAlias = tuple[str, str | None]
"""A node, and the port by which records leave it."""


class Contradiction(Exception):
    """Numbers that cannot all be true; the message names the node."""


@frozen(kw_only=True)
class NodePassing:
    """The records that a node had to do with; None where nobody can tell."""

    name: str
    kind: str
    records_in: int | None
    """All that came, by whatever input; of a source, all that it read."""
    records_out: int | None
    """All that were neither rejected nor dropped; of groups, the groups."""
    rejected: int
    filtered: int | None = None
    """Of those that a program may drop by a condition."""
    distinct: int | None = None
    """Of those that a program may drop as duplicates."""
    ports: Mapping[str, int | None] = field(default_factory=dict)


@frozen(kw_only=True)
class Known:
    """What is known when a run is over."""

    read: Mapping[str, int]
    """By source."""
    written: Mapping[str, int]
    """By output."""
    rejected: Mapping[str, int]
    """By node; where there is none, nothing was."""
    counted: Mapping[Way, int] = field(default_factory=dict)
    """What someone took the trouble to count."""


class Passing:
    """What passes between the nodes that a run computes.

    If it does not add up, since records were taken back from where they had been, nothing follows
    from anything.
    """

    def __init__(self, nodes: Iterable[Planned], known: Known, *, adds_up: bool = True) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._known = known
        self._left: dict[Way, int] = {}
        if adds_up:
            self._solve()

    def of(self, name: str) -> NodePassing:
        """What is known of one of the nodes."""
        node = self._nodes[name]
        came, left = self._came(node), self._gone(node)
        dropped = None
        if came is not None and left is not None and self._takes_one_by_one(node):
            dropped = came - left - self._rejected(name)
            if dropped < 0:
                raise Contradiction(name)
        why = _drops(node)
        return NodePassing(
            name=name,
            kind=node.unit.kind,
            records_in=came if node.shape is Shape.READS else self._sum(node.unit.inputs),
            records_out=left,
            rejected=self._rejected(name),
            filtered=dropped if why == {Filter} else None if Filter in why else 0,
            distinct=dropped if why == {Distinct} else None if Distinct in why else 0,
            ports={port: self._left.get((name, port)) for port in node.node.ports},
        )

    def every(self) -> tuple[NodePassing, ...]:
        return tuple(self.of(name) for name in self._nodes)

    def unknown(self) -> list[Way]:
        """What would have to be counted to know all."""
        ways = [way for node in self._nodes.values() for way in self._ways(node)]
        return [way for way in ways if way not in self._left]

    # What follows from what

    def _solve(self) -> None:
        for way, number in self._known.counted.items():
            self._learn(way, number)
        before = -1
        while before != len(self._left):
            before = len(self._left)
            for node in self._nodes.values():
                self._forward(node)
            for node in reversed(self._nodes.values()):
                self._backward(node)

    def _forward(self, node: Planned) -> None:
        came = self._came(node)
        if came is None or node.shape is Shape.WRITES or not self._hands_on_each(node):
            return
        left = came - self._rejected(node.name)
        ways = self._ways(node)
        if not node.node.ports:
            self._learn(ways[0], left)
        elif node.node.picks_one_port:
            self._complete(ways, left)

    def _backward(self, node: Planned) -> None:
        left = self._gone(node)
        if left is None or node.shape is Shape.READS or not self._hands_on_each(node):
            return
        ways = [_way(edge) for edge in node.passed_on]
        self._complete(ways, left + self._rejected(node.name))

    def _complete(self, ways: list[Way], total: int) -> None:
        """Of numbers whose sum is known, the one that is not."""
        missing = [way for way in ways if way not in self._left]
        rest = total - sum(self._left[way] for way in ways if way not in missing)
        if len(missing) == 1:
            self._learn(missing[0], rest)
        elif not missing and rest:
            raise Contradiction(ways[0][0])

    def _learn(self, way: Way, number: int) -> None:
        if number < 0 or self._left.setdefault(way, number) != number:
            raise Contradiction(way[0])

    def _came(self, node: Planned) -> int | None:
        """The records that leave the node if it neither drops nor rejects any."""
        if node.shape is Shape.READS:
            return self._known.read[node.name]
        return self._sum(node.passed_on)

    def _sum(self, edges: Collection[Edge]) -> int | None:
        numbers = [self._left.get(_way(edge)) for edge in edges]
        known = [number for number in numbers if number is not None]
        return sum(known) if len(known) == len(numbers) else None

    def _gone(self, node: Planned) -> int | None:
        """The records that have left the node, each counted once."""
        if node.shape is Shape.WRITES:
            return self._known.written[node.name]
        if not node.node.ports:
            return self._left.get((node.name, None))
        if node.node.picks_one_port:
            ports = [self._left.get(way) for way in self._ways(node)]
            known = [number for number in ports if number is not None]
            return sum(known) if len(known) == len(ports) else None
        came = self._came(node)
        return None if came is None else came - self._rejected(node.name)

    def _ways(self, node: Planned) -> list[Way]:
        if node.shape is Shape.WRITES:
            return []
        return [(node.name, port) for port in node.node.ports or (None,)]

    def _rejected(self, name: str) -> int:
        return self._known.rejected.get(name, 0)

    def _takes_one_by_one(self, node: Planned) -> bool:
        """Whether whatever comes and does not leave was rejected, or dropped by a program."""
        if node.shape is not Shape.JOINS:
            return node.shape is Shape.PASSES and EmitEach not in _drops(node)
        config = node.node.config
        keeps = config.match != "all" and config.on_miss == "null_fields"
        # Those of other inputs than the driver may be among the rejected.
        return keeps and not self._rejected(node.name)

    def _hands_on_each(self, node: Planned) -> bool:
        """Whether all leave it that come and are not rejected."""
        match node.shape:
            case Shape.READS | Shape.MERGES:
                return True
            case Shape.PASSES:
                return not _drops(node)
            case Shape.WRITES:
                return all(key.null_order != "drop" for key in node.node.config.sort_order)
            case Shape.JOINS:
                return self._takes_one_by_one(node) and not _drops(node)
            case Shape.GROUPS:
                return False
            case other:
                assert_never(other)


def dropped(passing: Collection[NodePassing]) -> tuple[int | None, int | None]:
    """How many records all programs together have filtered, and dropped as duplicates."""
    return _total(each.filtered for each in passing), _total(each.distinct for each in passing)


def _total(numbers: Iterator[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _way(edge: Edge) -> Way:
    return edge.upstream, edge.port


def _drops(node: Planned) -> set[type]:
    """The statements of a program by which other records leave than came."""
    if node.shape is Shape.GROUPS or node.body is None:
        return set()
    statements = node.body.every_statement()
    return {type(each) for each in statements if isinstance(each, Filter | Distinct | EmitEach)}
