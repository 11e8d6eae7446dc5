"""Flows: the records that leave a node, described by the SQL of their columns.

A flow stands on a frame. What a node computes of a record is added as SQL over the columns of that
frame, so that one step of the engine does the work of many nodes; records that are dropped wait as
a condition. `built` makes a frame of it all where one is needed: for several readers, for joins,
groups and sorting, and for what is written.

User columns keep their names; what the engine adds begins with `$`, which no user column can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from clinker.cxl.types import INT, Type
from clinker.engine.expressions.scope import Scope
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.frame import Frame, SortBy, quoted, selection
from clinker.engine.flow.hidden import MARK, NO_REJECT, Hidden, HiddenKind
from clinker.engine.flow.layers import with_layers
from clinker.formats.common.read_spec import FILE_SHIFT, ROW_MASK, MemberTypes
from clinker.frozen import frozen

SOURCE, POSITION, REJECT = kinds.SOURCE.name, kinds.POSITION.name, kinds.REJECT.name
META = kinds.META.name
DOCUMENT = kinds.DOCUMENT.name
_MOST_FILTERS = 4
"""So often the engine drops records one after the other, each time before it computes more of them.
What is dropped later waits until all is computed: deep plans take long to make."""
IS_REJECTED = f"{quoted(REJECT)} IS NOT NULL"
IS_KEPT = f"{quoted(REJECT)} IS NULL"


def file_number(position: str) -> str:
    """SQL for the number of the file that a position lies in."""
    return f"shiftright({position}, {FILE_SHIFT})"


def row_number(position: str) -> str:
    """SQL for the number of the record in its file."""
    return f"({position} & {ROW_MASK})"


def order_column(key: str) -> Hidden:
    """A column that orders records, together with others."""
    return Hidden(kinds.ORDER, key, INT)


@frozen(eq=False)
class Event:
    """What ends the way of some records: they are rejected, or dropped."""

    test: str
    """Where a record fails and is rejected; or, if it may be dropped, where it is not."""
    reject: str | None
    """The mark of records that are rejected; None if they are dropped."""

    @property
    def happens(self) -> str:
        """SQL for whether it befalls a record; a test that gives null does not hold."""
        holds = f"({self.test}) <=> TRUE"
        return holds if self.reject else f"NOT ({holds})"


@frozen(eq=False, kw_only=True)
class Flow:
    """Records between two nodes."""

    frame: Frame
    columns: Mapping[str, Type]
    hidden: Mapping[str, Hidden]
    """What the engine carries besides, by the names of the columns."""
    order: tuple[str, ...]
    """Columns of integers that, taken together, order the records and tell them apart."""
    is_ordered: bool
    """Whether the records already stand in that order, partition after partition."""
    aside: tuple[str, ...] = ()
    """Those of the order columns that only tell rejected records apart; for others they are 0."""
    sources: tuple[str, ...]
    """The sources whose records, or parts of them, are in it."""
    is_small: bool
    """Whether all of it comes from inputs small enough for the driver's memory."""
    overwritten: frozenset[str] = frozenset()
    """Fields that a program has emitted, so that undeclared ones of these names are gone, though
    an entry of the dead-letter file still shows them."""
    apart: Mapping[str, MemberTypes] = field(default_factory=dict)
    """Arrays that are not among the columns, since only these members of their elements are there.
    The node that reads the flow takes them."""
    narrowed: Mapping[str, Type] = field(default_factory=dict)
    """Columns whose values are held as a narrower type than that of the column."""
    borders: tuple[int, ...] = ()
    """Values of the first order column that cut the flow into parts of similar size, if known."""
    scope: Scope = field(default_factory=Scope)
    """Names for what is computed of the frame's columns."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The SQL of columns that are not simply those of the frame."""
    events: tuple[Event, ...] = ()
    """What befalls records on the way from the frame; only the first that does counts."""
    filters: int = 0
    """How often records were dropped on the way to the frame."""

    # What it holds

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return (*self.columns, *self.hidden)

    @property
    def has_rejects(self) -> bool:
        return REJECT in self.hidden

    @property
    def has_groups(self) -> bool:
        """Whether there are groups in it: records that come from no source."""
        return kinds.FIRST_SOURCE.name in self.hidden

    @property
    def kept_order(self) -> tuple[str, ...]:
        """The columns that order the records which are not rejected."""
        return tuple(name for name in self.order if name not in self.aside)

    def hidden_of(self, kind: HiddenKind) -> dict[str, Hidden]:
        """The hidden columns of a kind, by their keys."""
        return {each.key: each for each in self.hidden.values() if each.kind is kind}

    @property
    def undeclared(self) -> dict[str, Hidden]:
        """The columns of undeclared fields, by the names of the fields."""
        columns = self.hidden_of(kinds.UNDECLARED)
        return {key[1:]: column for key, column in columns.items() if key}

    @property
    def undeclared_map(self) -> Hidden | None:
        """The column of all undeclared fields, if they come as a map."""
        return self.hidden_of(kinds.UNDECLARED).get("")

    def held_type(self, name: str) -> Type:
        """The type in whose form a column holds its values."""
        return self.narrowed.get(name, self.columns[name])

    # SQL over it

    def text(self, name: str) -> str:
        """SQL for a column, to be used once."""
        return self.scope.named(self._definition(name))

    def value(self, name: str) -> str:
        """SQL for a column that costs nothing to repeat."""
        return self.scope.bind(self._definition(name))

    def _definition(self, name: str) -> str:
        return self._mark() if name == REJECT else self.values.get(name, quoted(name))

    def _mark(self) -> str:
        """SQL for the mark of rejected records, all events considered."""
        before = self.values.get(REJECT, quoted(REJECT))
        rejects = [event for event in self.events if event.reject]
        if not rejects:
            return before
        if len(self.events) == 1:
            (event,) = rejects
            mark = f"if({event.happens}, {event.reject}, {NO_REJECT})"
        else:
            cases = (
                f"WHEN {number} THEN {event.reject}"
                for number, event in enumerate(self.events, 1)
                if event.reject
            )
            mark = f"CASE {self._fate()} {' '.join(cases)} ELSE {NO_REJECT} END"
        return mark if before == NO_REJECT else f"coalesce({before}, {mark})"

    def _fate(self) -> str:
        """SQL for the number of the event that a record meets first; 0 if it is dropped, null if
        it meets none or was rejected before."""
        cases: list[str] = []
        before = self.values.get(REJECT, quoted(REJECT))
        if before != NO_REJECT:
            cases.append(f"WHEN {self.scope.bind(before)} IS NOT NULL THEN NULL")
        for number, event in enumerate(self.events, 1):
            cases.append(f"WHEN {event.happens} THEN {number if event.reject else 0}")
        return self.scope.bind(f"CASE {' '.join(cases)} END")

    @property
    def is_kept(self) -> str:
        """SQL for whether a record is still in the flow."""
        return f"{self.value(REJECT)} IS NULL" if self.has_rejects else "TRUE"

    @property
    def place(self) -> tuple[str, str]:
        """SQL for the source and the position of a record, or of the first record of a group."""
        own = self.value(SOURCE), self.value(POSITION)
        if not self.has_groups:
            return own
        first = (self.value(each.name) for each in (kinds.FIRST_SOURCE, kinds.FIRST_POSITION))
        source, position = (f"ifnull({a}, {b})" for a, b in zip(own, first, strict=True))
        return source, position

    def unless_rejected(self, test: str) -> str:
        """A condition that rejected records are not asked."""
        return f"({self.value(REJECT)} IS NOT NULL OR {test})" if self.has_rejects else test

    # Describing more

    def where(self, test: str) -> Flow:
        """The records for which a test holds, and all that are rejected."""
        flow = self
        if self._drops and self.filters < _MOST_FILTERS and self._with(test) is not self.frame:
            flow = self._filtered()
        return replace(flow, events=(*flow.events, Event(test, None)))

    def rejecting(self, fails: str, reject: str) -> Flow:
        """The flow in which records that fail are rejected, unless they were before."""
        flow = self._filtered() if self.filters < _MOST_FILTERS else self
        flow = flow if flow.has_rejects else flow.with_hidden([(MARK, NO_REJECT)])
        return replace(flow, events=(*flow.events, Event(fails, reject)))

    def with_hidden(self, columns: Iterable[tuple[Hidden, str]]) -> Flow:
        """The flow with more hidden columns, or others in place of those it has."""
        added = list(columns)
        return replace(
            self,
            hidden={**self.hidden, **{column.name: column for column, _ in added}},
            values=self.with_values({column.name: text for column, text in added}).values,
        )

    def with_values(self, texts: Mapping[str, str]) -> Flow:
        """The flow with other values in some of its columns, given by SQL."""
        values = {**self.values, **texts}
        return replace(self, values={n: text for n, text in values.items() if text != quoted(n)})

    def without_rejects(self) -> Flow:
        """The records still in the flow."""
        if not self.has_rejects:
            return self
        flow = self._filtered()
        is_kept = f"{flow.value(REJECT)} IS NULL"
        frame = flow._with(is_kept).where_in_place(is_kept)
        dropped = {REJECT, *flow.aside}
        return replace(
            flow,
            frame=frame,
            hidden={name: each for name, each in flow.hidden.items() if name not in dropped},
            values={name: text for name, text in flow.values.items() if name not in dropped},
            events=(),
            order=flow.kept_order,
            aside=(),
        )

    # Becoming a frame

    def selected(self, items: Mapping[str, str]) -> Frame:
        """A frame of columns that are computed of the flow's, given by name and SQL."""
        flow = self._filtered()
        return flow._with(*items.values()).select(items.items())

    def on_whole_frame(self, items: Mapping[str, str] | None = None) -> Flow:
        """The flow on a frame with all that the one before had, and more columns, given by SQL."""
        names = dict.fromkeys((*self.names, *self.frame.names))
        texts = {name: self.text(name) for name in names}
        return self.standing_on(self.selected({**texts, **(items or {})}))

    def standing_on(self, frame: Frame) -> Flow:
        """The flow on a frame that has all its columns."""
        scope = Scope(frame.names)
        return replace(self, frame=frame, scope=scope, values={}, events=(), filters=0)

    def built(self) -> Flow:
        """The same flow, of which nothing is left to compute."""
        if not self.values and not self.events:
            return self
        names = dict.fromkeys((*self.names, *self.apart))
        return self.standing_on(self.selected({name: self.text(name) for name in names}))

    def prepared(self, *texts: str) -> Flow:
        """The flow on a frame that has all that these texts use; records are dropped by then."""
        flow = self._filtered()
        return replace(flow, frame=flow._with(*texts))

    def in_order(self) -> Flow:
        """The same records, standing in their order."""
        if self.is_ordered:
            return self
        flow = self.built()
        order = selection(flow.order)
        if not (flow.is_small or flow.borders):
            frame = flow.frame.sort(map(SortBy, order))
        else:
            # Where the parts of the order are known, the engine need not compute all to find them.
            borders = () if flow.is_small else flow.borders
            frame = flow.frame.cut(_part_sql(order[0], borders), len(borders) + 1, order)
        return replace(flow, frame=frame, is_ordered=True)

    def _filtered(self) -> Flow:
        """The flow without the records that wait to be dropped."""
        if not self._drops:
            return self
        flow = self
        if any(event.reject for event in self.events):
            test = f"ifnull({self._fate()}, 1) > 0"
            flow = self.with_values({REJECT: self._mark()})
        else:
            test = " AND ".join(f"({event.test})" for event in self.events)
            test = replace(self, events=()).unless_rejected(f"({test})")
        frame = self._with(test)
        # Of columns that are there the engine knows best when to ask; those of groups are computed.
        is_computed = REJECT in flow.values or flow.has_groups
        frame = frame.where_in_place(test) if is_computed else frame.where(test)
        return replace(flow, frame=frame, events=(), filters=self.filters + 1)

    @property
    def _drops(self) -> bool:
        return any(event.reject is None for event in self.events)

    def _with(self, *texts: str) -> Frame:
        present = set(selection(self.frame.names))
        return with_layers(self.frame, self.scope.layers(*texts, present=present))


def _part_sql(place: str, borders: Sequence[int], first: int = 0) -> str:
    """The number of the part that a place is in."""
    if not borders:
        return str(first)
    middle = len(borders) // 2
    below = _part_sql(place, borders[:middle], first)
    above = _part_sql(place, borders[middle + 1 :], first + middle + 1)
    return f"if({place} >= {borders[middle]}L, {above}, {below})"
