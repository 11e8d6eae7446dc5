"""The places of nodes and lines in a picture."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from clinker.plan.explain.layout import Layout, Place, lay_out

WIDTH, GAP = 100.0, 20.0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 18))
    pairs = [*combinations(range(count), 2)]
    links = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    return count, links


def places(layout: Layout) -> list[Place]:
    return [*layout.nodes, *(place for way in layout.ways for place in way)]


@given(graphs())
def test_lines_lead_onwards_and_nothing_overlaps(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, links = graph
    layout = lay_out(count, links, WIDTH, GAP)
    for (start, end), way in zip(links, layout.ways, strict=True):
        stops = [layout.nodes[start], *way, layout.nodes[end]]
        assert all(below.layer == above.layer + 1 for above, below in pairwise(stops))
    for layer in range(layout.layers):
        nodes = sorted(place.across for place in layout.nodes if place.layer == layer)
        lines = [place.across for way in layout.ways for place in way if place.layer == layer]
        assert all(right - left >= WIDTH + GAP - 0.2 for left, right in pairwise(nodes))
        assert all(abs(node - line) >= WIDTH / 2 for node in nodes for line in lines)
    assert min(place.across for place in places(layout)) >= 0
    assert max(node.across for node in layout.nodes) + WIDTH / 2 <= layout.breadth + 0.1


@given(graphs())
def test_the_same_graph_looks_the_same(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, links = graph
    assert lay_out(count, links, WIDTH, GAP) == lay_out(count, links, WIDTH, GAP)


def test_a_chain_is_straight() -> None:
    layout = lay_out(4, [(0, 1), (1, 2), (2, 3)], WIDTH, GAP)
    assert layout.nodes == tuple(Place(layer, WIDTH / 2) for layer in range(4))
    assert layout.breadth == WIDTH


def test_branches_stand_side_by_side_and_meet_in_the_middle() -> None:
    layout = lay_out(4, [(0, 1), (0, 2), (1, 3), (2, 3)], WIDTH, GAP)
    top, left, right, end = layout.nodes
    assert (left.layer, right.layer) == (1, 1)
    assert top.across == end.across == (left.across + right.across) / 2


def test_lines_that_need_not_cross_do_not() -> None:
    # Two chains, declared crosswise.
    layout = lay_out(6, [(0, 3), (1, 2), (2, 5), (3, 4)], WIDTH, GAP)
    across = [place.across for place in layout.nodes]
    assert (across[0] < across[1]) == (across[3] < across[2]) == (across[4] < across[5])


def test_what_is_read_late_stands_close_to_its_reader() -> None:
    layout = lay_out(5, [(0, 1), (1, 2), (2, 4), (3, 4)], WIDTH, GAP)
    assert layout.nodes[3].layer == layout.nodes[4].layer - 1


def test_a_line_passes_beside_nodes() -> None:
    layout = lay_out(3, [(0, 1), (1, 2), (0, 2)], WIDTH, GAP)
    [passed] = layout.ways[2]
    assert passed.layer == 1
    assert abs(passed.across - layout.nodes[1].across) > WIDTH / 2
