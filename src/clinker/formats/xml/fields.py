"""Elements read for a few of their fields, all of a block at once.

Where most records are alike, what columns hold is found by looking at all tags of a name together,
and their texts are copied without making anything of the rest. Records that have more than that
(what a column needs is repeated or nested, comments, CDATA, oddly written attributes) are marked as
odd, to be read the exact way. Both ways give the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Kind
from clinker.formats.common.json_numbers import Codes, Mask, Places
from clinker.formats.common.read_spec import Column, ReadSpec
from clinker.formats.common.texts import contains_any
from clinker.formats.xml.dialect import ANY_NAME, XmlDialect
from clinker.formats.xml.scan import Tags, match_names
from clinker.formats.xml.search import Found
from clinker.formats.xml.texts import BLANKS, clean_texts, unescape
from clinker.frozen import frozen
from clinker.xml_names import TEXT

_QUOTE, _APOSTROPHE, _COLON, _SPACE, _EQUALS = b"\"': ="
_IS_BLANK = np.zeros(256, np.bool_)
_IS_BLANK[list(BLANKS.encode())] = True
_NIL = re.compile(rb":nil\s*=")


class _Step:
    """An element inside of records: the column that has its text, and what is inside of it."""

    def __init__(self, name: str = "") -> None:
        self.name = name.encode()
        self.column: Column | None = None
        self.attributes: dict[bytes, Column] = {}
        self.inner: dict[str, _Step] = {}


@frozen(eq=False)
class QuickFields:
    """The texts of columns, and which records must be read the exact way."""

    texts: Mapping[str, pa.StringArray]
    is_odd: Mask


class FieldReader:
    """Reads the columns of records that are alike."""

    def __init__(self, spec: ReadSpec, dialect: XmlDialect) -> None:
        self._dialect = dialect
        self._wants_all = spec.undeclared != "drop"
        self._columns = spec.columns if self._wants_all else spec.converted_columns
        self._record = _Step(dialect.path.steps[-1])
        self._dotted = [c.name.encode() for c in self._columns if "." in c.name]
        for column in self._columns:
            self._plant(column)
        self.is_able = (
            not spec.array_paths
            and dialect.path.steps[-1] != ANY_NAME
            and bool(dialect.attribute_prefix)
            and all(map(_takes_text, self._columns))
            and not any(column.name.split(".")[-1] == TEXT for column in self._columns)
        )
        """Whether what is to be read is such that this may do."""

    def _plant(self, column: Column) -> None:
        *steps, last = column.name.split(".")
        prefix = self._dialect.attribute_prefix
        is_attribute = bool(prefix) and last.startswith(prefix)
        step = self._record
        for name in steps if is_attribute else (*steps, last):
            step = step.inner.setdefault(name, _Step(name))
        if is_attribute:
            step.attributes[last.removeprefix(prefix).encode()] = column
        else:
            step.column = column

    def read(self, found: Found) -> QuickFields:
        """What the columns hold in some records."""
        reading = _Reading(found, is_local=self._dialect.strips, wants_all=self._wants_all)
        for name in self._dotted:
            children = reading.children(1)
            reading.mark(children[reading.are_named(children, name)])
        reading.take(self._record, found.first, 0)
        if self._wants_all:
            reading.mark_others()
        return QuickFields(reading.texts, reading.is_odd)


def _takes_text(column: Column) -> bool:
    return not column.type.kinds & (Kind.ARRAY | Kind.MAP)


class _Reading:
    """Takes texts out of one block, and notes which of its records are odd."""

    def __init__(self, found: Found, *, is_local: bool, wants_all: bool) -> None:
        self._found = found
        self._tags: Tags = found.tags
        self._is_local = is_local
        self._wants_all = wants_all
        self.texts: dict[str, pa.StringArray] = {}
        self.is_odd = np.zeros(len(found), np.bool_)
        tags, first, last = found.tags, found.first, found.last
        change = np.zeros(len(tags.starts) + 1, np.int8)
        change[first] = 1
        change[last + 1] -= 1
        self._is_inside = np.cumsum(change[:-1], dtype=np.int8) > 0
        begins = np.zeros(len(tags.starts), np.int64)
        begins[first] = 1
        self._record_of = np.cumsum(begins) - 1
        levels = tags.levels - tags.levels[first][np.maximum(self._record_of, 0)]
        self._levels = np.where(self._is_inside, levels, -1)
        self._children: dict[int, Places] = {}
        self._is_taken = np.zeros(len(tags.starts), np.bool_)
        self._mark_places(tags.markup)
        if b":nil" in tags.text:
            self._mark_places(np.array([m.start() for m in _NIL.finditer(tags.text)], np.int64))

    # Odd records

    def mark(self, at: Places) -> None:
        """The records of some tags are odd."""
        self.is_odd[self._record_of[at]] = True

    def _mark_places(self, places: Places) -> None:
        starts, ends = self._found.starts, self._found.ends
        which = np.searchsorted(starts, places, side="right") - 1
        inside = (which >= 0) & (places < ends[np.maximum(which, 0)])
        self.is_odd[which[inside]] = True

    def mark_others(self) -> None:
        """Records are odd that have elements or texts of which no column has anything."""
        tags = self._tags
        begins = self._is_inside & (tags.steps >= 0)
        self.mark(np.flatnonzero(begins & ~self._is_taken))
        is_text = ~_IS_BLANK[tags.codes]
        counts = np.append(0, np.cumsum(is_text))
        gaps = np.flatnonzero(self._is_inside[:-1] & self._is_inside[1:])
        filled = counts[tags.starts[gaps + 1]] > counts[tags.ends[gaps]]
        is_whole = (tags.steps[gaps] > 0) & (tags.steps[gaps + 1] < 0)
        is_between = self._record_of[gaps] == self._record_of[gaps + 1]
        is_between &= gaps != self._found.last[self._record_of[gaps]]
        is_record = self._levels[gaps] == 0
        self.mark(gaps[filled & is_between & (~is_whole | is_record)])

    # Elements

    def children(self, level: int) -> Places:
        """The tags that begin elements, so deep inside of records."""
        if level not in self._children:
            begins = (self._levels == level) & (self._tags.steps >= 0)
            self._children[level] = np.flatnonzero(begins)
        return self._children[level]

    def are_named(self, at: Places, name: bytes) -> Mask:
        return self._tags.named(at, name, is_local=self._is_local)

    def take(self, step: _Step, at: Places, level: int) -> None:
        """What columns take of the elements that some tags begin, one in a record."""
        self._is_taken[at] = True
        records = self._record_of[at]
        self.is_odd[records[1:][records[1:] == records[:-1]]] = True
        if step.column:
            self._take_text(step.column, at)
        elif self._wants_all and level:
            self.mark(at[~self._has_elements(at)])  # it is a text, which no column has
        self._take_attributes(step, at)
        if not step.inner:
            return
        children = self.children(level + 1)
        if level:
            children = children[self._are_inside(children, at)]
        for inner in step.inner.values():
            self.take(inner, children[self.are_named(children, inner.name)], level + 1)

    def _are_inside(self, children: Places, parents: Places) -> Mask:
        """Which elements are children of some others: the last that began so deep before them."""
        if not len(parents):
            return np.zeros(len(children), np.bool_)
        level = int(self._levels[parents[0]])
        every = self.children(level)
        is_parent = np.isin(every, parents, assume_unique=True)
        inside: Mask = is_parent[np.searchsorted(every, children) - 1]
        return inside

    def _take_text(self, column: Column, at: Places) -> None:
        tags = self._tags
        self.mark(at[self._has_elements(at)])
        starts = tags.ends[at]
        behind = np.minimum(at + 1, len(tags.starts) - 1)
        stops = np.where(tags.steps[at] > 0, tags.starts[behind], starts)
        texts = self._copy(at, starts, np.maximum(starts, stops))
        has_blanks = _IS_BLANK[tags.codes[stops - 1]]
        has_blanks |= _IS_BLANK[tags.codes[np.minimum(starts, len(tags.codes) - 1)]]
        self.texts[column.name] = clean_texts(texts, trims=bool(has_blanks.any()))

    def _has_elements(self, at: Places) -> Mask:
        """Which elements have others inside of them."""
        steps = self._tags.steps
        has: Mask = (steps[at] > 0) & (steps[np.minimum(at + 1, len(steps) - 1)] >= 0)
        return has

    def _copy(self, at: Places, starts: Places, stops: Places) -> pa.StringArray:
        """The bytes between places that are in order; null for records that have none."""
        bounds = np.empty(2 * len(at), np.int32)
        bounds[::2], bounds[1::2] = starts, stops
        if not len(at):
            return pa.nulls(len(self._found), pa.string())
        segments = pa.BinaryArray.from_buffers(
            pa.binary(),
            len(bounds) - 1,
            [None, pa.py_buffer(bounds), pa.py_buffer(self._tags.text)],
        )
        records = self._record_of[at]
        where = np.full(len(self._found), -1, np.int32)
        where[records] = np.arange(0, 2 * len(at), 2, dtype=np.int32)
        indices = pa.array(where, mask=where < 0) if (where < 0).any() else pa.array(where)
        return pc.take(segments, indices, boundscheck=False).view(pa.string())

    # Attributes

    def _take_attributes(self, step: _Step, at: Places) -> None:
        if not (step.attributes or self._wants_all):
            return
        tags = self._tags
        names = (tags.local_names if self._is_local else tags.names)[at]
        behind = names + len(step.name)
        has_more = tags.ends[at] - (tags.steps[at] == 0) - 1 > behind
        if not (step.attributes or has_more.any()):
            return
        at, behind = at[has_more], behind[has_more]
        values = _Attributes(tags, at, behind)
        self.mark(at[values.are_odd])
        is_known = np.zeros(len(values.owners), np.bool_)
        for name, column in step.attributes.items():
            match = match_names(tags.codes, values.names, values.starts, name)
            is_known |= match
            owners = at[values.owners[match]]
            self.mark(owners[1:][owners[1:] == owners[:-1]])
            texts = self._copy(owners, values.starts[match], values.stops[match])
            if contains_any(texts, b"\t\r\n"):  # they are spaces, unless they are escaped
                odd = pc.fill_null(pc.match_substring_regex(texts, "[\t\r\n]"), False)
                self.is_odd |= np.asarray(odd)
            self.texts[column.name] = unescape(texts)
        if self._wants_all:
            self.mark(at[values.owners[~is_known]])


class _Attributes:
    """The attributes of some tags in the order of the text, if they are written plainly."""

    def __init__(self, tags: Tags, at: Places, behind: Places) -> None:
        codes = tags.codes
        quotes = np.flatnonzero(codes == _QUOTE)
        ends = tags.ends[at]
        low, high = np.searchsorted(quotes, behind), np.searchsorted(quotes, ends)
        counts = high - low
        self.are_odd: Mask = counts % 2 > 0
        for code in (_APOSTROPHE, _COLON):
            self.are_odd |= _count_between(codes, code, behind, ends) > 0
        self.owners: Places = np.repeat(np.arange(len(at)), np.where(self.are_odd, 0, counts // 2))
        firsts = np.cumsum(np.where(self.are_odd, 0, counts // 2)) - np.where(
            self.are_odd, 0, counts // 2
        )
        number = np.arange(len(self.owners)) - firsts[self.owners]
        opening = low[self.owners] + 2 * number
        self.starts: Places = quotes[opening] + 1 if len(opening) else opening
        self.stops: Places = quotes[opening + 1] if len(opening) else opening
        before = np.where(number == 0, behind[self.owners], np.append(quotes, 0)[opening - 1] + 1)
        self.names: Places = before + 1
        is_plain = (codes[before] == _SPACE) & (codes[self.starts - 2] == _EQUALS)
        is_plain &= ~_IS_BLANK[codes[before + 1]] & ~_IS_BLANK[codes[self.starts - 3]]
        self.are_odd[self.owners[~is_plain]] = True


def _count_between(codes: Codes, code: int, begins: Places, ends: Places) -> Places:
    places = np.flatnonzero(codes == code)
    if not len(places):
        return np.zeros(len(begins), np.int64)
    count: Places = np.searchsorted(places, ends) - np.searchsorted(places, begins)
    return count


def replace_rows(texts: pa.StringArray, rows: Mask, values: Sequence[str | None]) -> pa.StringArray:
    """The texts, those of some rows replaced."""
    return pc.replace_with_mask(texts, pa.array(rows), pa.array(values, pa.string()))
