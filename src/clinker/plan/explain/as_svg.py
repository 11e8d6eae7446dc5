"""A plan as a picture: nodes with the lines between them, and how many records passed, if known.

It reads no file, and draws the same plan the same way wherever it is asked to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from unicodedata import combining, east_asian_width

from clinker.frozen import frozen
from clinker.markup import Content, Markup, element, stylesheet, together
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.compile import Plan
from clinker.plan.explain.handoffs import Crossing, HandOff, hand_offs
from clinker.plan.explain.layout import Layout, Place, lay_out
from clinker.plan.explain.operators import operator
from clinker.plan.explain.style import PICTURE
from clinker.plan.files.paths import pipeline_hash

WIDEST_FLAT = 1080
"""A picture that flows to the right may be so wide; wider ones are better read downwards."""
UNKNOWN = "—"
"""What stands in a picture for a number of records that nobody can tell."""

_WIDTH, _HEIGHT = 196, 64
_MARGIN = 8
_ARROW = 7
_LONGEST_NAME, _LONGEST_LABEL = 20, 14
_CORNER = 7

Point = tuple[float, float]


def as_svg(plan: Plan) -> str:
    """The picture of a plan as a file of its own."""
    return f"{_fitting(plan).svg(with_style=True)}\n"


def plan_html(plan: Plan) -> str:
    """The picture of a plan as a notebook shows it."""
    return str(element("div", stylesheet(PICTURE), _fitting(plan).svg(), class_="clinker"))


def plan_pictures(plan: Plan, passing: Sequence[NodePassing], anchor: str) -> Markup:
    """The picture of a run: if it is small enough, as well for wide screens as for narrow ones."""
    picture = _Picture.of(plan, passing)
    upright = picture.drawn(f"{anchor}-upright", is_upright=True)
    flat = picture.drawn(f"{anchor}-flat", is_upright=False)
    if flat.width > WIDEST_FLAT:
        return upright.svg("picture")
    return together(upright.svg("picture for-narrow"), flat.svg("picture for-wide"))


def _fitting(plan: Plan) -> _Drawing:
    """The drawing that can be read where there is room for one only."""
    picture = _Picture.of(plan, ())
    anchor = f"plan-{pipeline_hash(plan.text)[:8]}"
    flat = picture.drawn(anchor, is_upright=False)
    return flat if flat.width <= WIDEST_FLAT else picture.drawn(anchor, is_upright=True)


@frozen(eq=False)
class _Picture:
    """What is to be drawn."""

    name: str
    nodes: Sequence[tuple[str, str]]
    """By number, the name and the kind."""
    links: Sequence[HandOff]
    passing: Mapping[str, NodePassing]

    @staticmethod
    def of(plan: Plan, passing: Sequence[NodePassing]) -> _Picture:
        operators = {unit.name: operator(plan, unit) for unit in plan.graph}
        return _Picture(
            plan.pipeline.pipeline.name,
            [(unit.name, unit.kind) for unit in plan.graph],
            hand_offs(plan, operators),
            {each.name: each for each in passing},
        )

    def drawn(self, anchor: str, *, is_upright: bool) -> _Drawing:
        numbers = {name: number for number, (name, _) in enumerate(self.nodes)}
        links = [(numbers[link.producer], numbers[link.consumer]) for link in self.links]
        across, gap = (_WIDTH, 28) if is_upright else (_HEIGHT, 24)
        layout = lay_out(len(self.nodes), links, across, gap)
        return _Drawing(self, layout, links, anchor, is_upright)

    @property
    def description(self) -> str:
        """The picture in words, for those who do not see it."""
        fates = (
            f"{node.name}: {', '.join(text for _, text in _fate(node))}"
            for node in self.passing.values()
            if any(_fate(node))
        )
        return ". ".join([*(self.link_text(link) for link in self.links), *fates]) + "."

    def link_text(self, link: HandOff) -> str:
        way = f"{link.producer}{f' ({link.port})' if link.port else ''} to {link.consumer}"
        records = self.records(link)
        return f"{way}: {records.replace(UNKNOWN, 'unknown')} records" if records else way

    def records(self, link: HandOff) -> str | None:
        """How many went this way; None if the run had no use for them, or there was none."""
        passed = self.passing.get(link.producer)
        if passed is None or link.consumer not in self.passing:
            return None
        records = passed.ports[link.port] if link.port else passed.records_out
        return UNKNOWN if records is None else f"{records:,}"


@frozen(eq=False)
class _Drawing:
    """A picture with the places of everything in it."""

    picture: _Picture
    layout: Layout
    links: Sequence[tuple[int, int]]
    anchor: str
    is_upright: bool

    @property
    def _depth(self) -> int:
        """How far a node reaches along the flow."""
        return _HEIGHT if self.is_upright else _WIDTH

    @property
    def _pitch(self) -> int:
        """How far it is from layer to layer; the labels of lines stand between them."""
        return self._depth + (56 if self.is_upright else 84)

    @property
    def width(self) -> float:
        return self._size[0]

    @property
    def _size(self) -> Point:
        along = (self.layout.layers - 1) * self._pitch + self._depth
        width, height = self._turned(along, self.layout.breadth)
        return width + 2 * _MARGIN, height + 2 * _MARGIN

    def svg(self, class_: str = "picture", *, with_style: bool = False) -> Markup:
        width, height = self._size
        title, description = f"{self.anchor}-title", f"{self.anchor}-description"
        return element(
            "svg",
            element("title", f"The steps of {self.picture.name}", id=title),
            element("desc", self.picture.description, id=description),
            stylesheet(PICTURE) if with_style else None,
            self._lines(),
            (self._node(number) for number in range(len(self.picture.nodes))),
            self._labels(),
            xmlns="http://www.w3.org/2000/svg",
            class_=f"clinker {class_}" if with_style else class_,
            viewBox=f"0 0 {width:g} {height:g}",
            width=width,
            height=height,
            # Smaller, nobody can read it; what it stands in can be scrolled.
            style=f"min-width: {round(width * 0.7)}px",
            role="img",
            aria_labelledby=f"{title} {description}",
        )

    # Places

    def _turned(self, along: float, across: float) -> Point:
        return (across, along) if self.is_upright else (along, across)

    def _point(self, along: float, across: float) -> Point:
        x, y = self._turned(along, across)
        return x + _MARGIN, y + _MARGIN

    def _stops(self) -> Iterator[list[Point]]:
        """For each link the points that it leads through, from node to node."""
        starts, ends = self._ends()
        for number, (start, end) in enumerate(self.links):
            first, last = self.layout.nodes[start], self.layout.nodes[end]
            stops = [self._point(self._behind(first), starts[number])]
            for place in self.layout.ways[number]:
                stops.append(self._point(self._before(place), place.across))
                stops.append(self._point(self._behind(place), place.across))
            yield [*stops, self._point(self._before(last) - _ARROW, ends[number])]

    def _before(self, place: Place) -> float:
        return place.layer * self._pitch

    def _behind(self, place: Place) -> float:
        return self._before(place) + self._depth

    def _ends(self) -> tuple[dict[int, float], dict[int, float]]:
        """Where links leave nodes and reach them: side by side, in the order of where they lead."""
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for node in range(len(self.picture.nodes)):
            leaving = [n for n, (start, _) in enumerate(self.links) if start == node]
            coming = [n for n, (_, end) in enumerate(self.links) if end == node]
            self._spread(node, leaving, 1, starts)
            self._spread(node, coming, -2, ends)
        return starts, ends

    def _spread(self, node: int, links: list[int], next_: int, found: dict[int, float]) -> None:
        own = self.layout.nodes[node].across

        def neighbour(link: int) -> tuple[float, int]:
            start, end = (self.layout.nodes[each] for each in self.links[link])
            return [start, *self.layout.ways[link], end][next_].across, link

        room = (_WIDTH if self.is_upright else _HEIGHT) - 36
        step = min(34.0, room / max(len(links) - 1, 1))
        for place, link in enumerate(sorted(links, key=neighbour)):
            found[link] = own + (place - (len(links) - 1) / 2) * step

    # Lines

    def _lines(self) -> Iterator[Markup]:
        for link, stops in zip(self.picture.links, self._stops(), strict=True):
            dashed = "" if link.crossing is Crossing.PIPELINED else " held"
            why = f" ({link.reason})" if link.reason else ""
            yield element(
                "g",
                element("title", self.picture.link_text(link) + why),
                element("path", d=self._curve(stops)),
                element("path", d=self._arrow(stops[-1]), class_="arrow"),
                class_=f"link{dashed}",
            )

    def _curve(self, stops: Sequence[Point]) -> str:
        def bend(start: Point, end: Point) -> str:
            (x, y), (to_x, to_y) = start, end
            if self.is_upright:
                middle = (y + to_y) / 2
                return f"C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"
            middle = (x + to_x) / 2
            return f"C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"

        x, y = stops[0]
        return f"M{x:g} {y:g}" + "".join(bend(*each) for each in pairwise(stops))

    def _arrow(self, at: Point) -> str:
        x, y = at
        if self.is_upright:
            return f"M{x - 4:g} {y:g}h8l-4 {_ARROW}z"
        return f"M{x:g} {y - 4:g}v8l{_ARROW} -4z"

    def _labels(self) -> Iterator[Markup]:
        """What leads out of nodes by which branch, and how many records went there."""
        for link, stops in zip(self.picture.links, self._stops(), strict=True):
            (x, y), (to_x, to_y) = stops[0], stops[1]
            middle, height = (x + to_x) / 2, (y + to_y) / 2
            name = "window" if link.is_lookup else link.port or link.qualifier
            lines = [("way", _cut(name, _LONGEST_LABEL))] if name else []
            if records := self.picture.records(link):
                lines.append(("records", records))
            for place, (class_, text) in enumerate(lines):
                base = height + 4 + (place - (len(lines) - 1) / 2) * 14
                yield element("text", text, x=middle, y=base, class_=class_)

    # Nodes

    def _node(self, number: int) -> Markup:
        name, kind = self.picture.nodes[number]
        place = self.layout.nodes[number]
        along = self._before(place) + self._depth / 2
        x, y = self._point(along, place.across)
        left, top = x - _WIDTH / 2, y - _HEIGHT / 2
        told = self.picture.passing.get(name)
        fate = [*_fate(told)] if told else []
        return element(
            "g",
            element("title", ", ".join([f"{name} ({kind})", *(text for _, text in fate)])),
            element("rect", x=left, y=top, width=_WIDTH, height=_HEIGHT, rx=_CORNER, class_="box"),
            element("rect", x=left + 7, y=top + 11, width=4, height=_HEIGHT - 22, rx=2),
            element("text", kind, x=left + 20, y=top + 20, class_="kind"),
            element("text", _cut(name, _LONGEST_NAME), x=left + 20, y=top + 37, class_="name"),
            _fate_line(fate, left + 20, top + 53),
            class_=f"node {kind}",
        )


def _fate(node: NodePassing) -> Iterator[tuple[str, str]]:
    """What became of records that did not leave a node."""
    if node.rejected:
        yield "rejected", f"{node.rejected:,} rejected"
    if node.filtered:
        yield "dropped", f"{node.filtered:,} filtered"
    if node.distinct:
        yield "dropped", f"{node.distinct:,} duplicates"


def _fate_line(fate: Sequence[tuple[str, str]], x: float, y: float) -> Markup | None:
    if not fate:
        return None
    pieces: list[Content] = []
    for class_, text in fate:
        pieces += [", "] if pieces else []
        pieces.append(element("tspan", text, class_=class_))
    return element("text", pieces, x=x, y=y, class_="fate")


def _cut(text: str, most: int) -> str:
    """As much of a text as there is room for; some letters are twice as wide as others."""
    room = most
    for place, character in enumerate(text):
        room -= 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        if room < 0:
            return text[: max(place - 1, 0)] + "…"
    return text
