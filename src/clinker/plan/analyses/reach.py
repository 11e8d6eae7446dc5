"""How many source records reached an output, where the numbers of written records tell; and where
all must that are not rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TypeAlias, assert_never

from clinker.cxl.check.typed import Distinct, EmitEach, Filter, Statement
from clinker.frozen import frozen
from clinker.plan.graph.graph import Edge, Graph, Unit
from clinker.plan.nodes import Planned, Shape

_MOST_PATHS = 100

Nodes: TypeAlias = Mapping[str, Planned]


@frozen
class _Step:
    """A node that records pass on their way to an output, and the port they leave it by."""

    unit: Unit
    port: str | None


_Path: TypeAlias = tuple[_Step, ...]
"""From the source of records to the node an output reads."""
_Paths: TypeAlias = tuple[_Path, ...]


def reached(nodes: Nodes, written: Mapping[str, int]) -> int | None:
    """How many source records reached an output, given how many each of them wrote.

    None where records cannot be followed: if there may be several of one source record, or one of
    several.
    """
    counts: dict[_Paths, int] = {}
    for node in nodes.values():
        if node.shape is Shape.WRITES:
            paths = _paths(nodes, node.unit.inputs[0])
            if paths is None:
                return None
            counts[paths] = written[node.name]
    widest = [own for own in counts if not any(_goes_on(own, o) for o in counts if o != own)]
    every = [path for paths in widest for path in paths]
    if len(every) > _MOST_PATHS or not all(_apart(*pair) for pair in combinations(every, 2)):
        return None
    return sum(counts[paths] for paths in widest)


def _paths(nodes: Nodes, edge: Edge) -> _Paths | None:
    """The ways records come here; None if one of their nodes does not pass them on one by one."""
    node = nodes[edge.upstream]
    if not _passes_single_records(node):
        return None
    step = _Step(node.unit, edge.port)
    ways: list[_Path] = []
    for before in node.passed_on:
        paths = _paths(nodes, before)
        if paths is None or len(ways) > _MOST_PATHS:
            return None
        ways += ((*path, step) for path in paths)
    return tuple(ways) or ((step,),)


def _passes_single_records(node: Planned) -> bool:
    match node.shape:
        case Shape.GROUPS:
            return False
        case Shape.JOINS:
            return node.node.config.match != "all"
        case Shape.PASSES:
            return not any(isinstance(each, EmitEach) for each in _statements(node))
        case Shape.READS | Shape.MERGES | Shape.WRITES:
            return True
        case other:
            assert_never(other)


def _goes_on(own: _Paths, other: _Paths) -> bool:
    """Whether all records on their ways have come by one of the others."""
    return all(any(path[: len(before)] == before for before in other) for path in own)


def _apart(one: _Path, other: _Path) -> bool:
    """Whether no record can take both ways."""
    for left, right in zip(one, other, strict=False):
        if left.unit is not right.unit:
            return left is one[0]
        if left.port != right.port:
            return left.unit.node.picks_one_port
    return False


def keeps_every_record(graph: Graph, nodes: Nodes) -> bool:
    """Whether each record that is read is written once if it is not rejected: nothing drops any,
    makes others of it, or takes it twice."""
    return all(_hands_on_each(graph, node) for node in nodes.values())


def _hands_on_each(graph: Graph, node: Planned) -> bool:
    match node.shape:
        case Shape.READS | Shape.MERGES:
            return _leaves_once(graph, node)
        case Shape.PASSES:
            return _leaves_once(graph, node) and not any(map(_drops_or_copies, _statements(node)))
        case Shape.WRITES:
            return all(key.null_order != "drop" for key in node.node.config.sort_order)
        case Shape.JOINS | Shape.GROUPS:
            return False
        case other:
            assert_never(other)


def _leaves_once(graph: Graph, node: Planned) -> bool:
    """Whether a record that leaves the node reaches exactly one other."""
    ports = sorted(str(edge.port) for _, edge in graph.consumers(node.name))
    if node.node.ports:
        return node.node.picks_one_port and ports == sorted(node.node.ports)
    return len(ports) == 1


def _statements(node: Planned) -> Iterable[Statement]:
    return node.body.every_statement() if node.body else ()


def _drops_or_copies(statement: Statement) -> bool:
    return isinstance(statement, Filter | Distinct | EmitEach)
