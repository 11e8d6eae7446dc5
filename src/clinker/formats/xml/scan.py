"""The tags of an XML document, found block by block without parsing it.

In a well-formed document `<` is always markup, so tags are found by looking for it. Comments, CDATA
sections and processing instructions are stepped over. Whether the document is well-formed is for
others to check; of one that is not, anything may be found here.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import numpy.typing as npt

from clinker.formats.common.json_numbers import Codes, Mask, Places
from clinker.frozen import frozen

DEEPEST = 250
"""How deeply elements may be nested."""
_LT, _GT, _SLASH, _COLON, _BANG, _QUESTION = b"<>/:!?"
_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_MARKUP = {b"<?": b"?>", b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_WORD = 8
_ENDS_NAME = np.zeros(256, np.bool_)
_ENDS_NAME[list(b" \t\r\n/>=")] = True


class TooDeep(Exception):
    """Elements that are nested too deeply."""


class Unbalanced(Exception):
    """More elements that end than begin."""


@frozen(eq=False)
class Tags:
    """The tags of elements in a text, each as a whole."""

    text: bytes
    codes: Codes
    starts: Places
    ends: Places
    """Behind each of them."""
    steps: npt.NDArray[np.int8]
    """1 for a tag that begins an element, -1 for one that ends it, 0 for one that is all of it."""
    levels: Places
    """How deep the element is; the root is at 1."""
    markup: Places
    """Where comments, CDATA sections and processing instructions begin."""
    end: int
    """What is behind it in the text has not been looked at: a part of a tag, or the like."""

    @cached_property
    def names(self) -> Places:
        """Where the names begin."""
        return self.starts + 1 + (self.steps < 0)

    @cached_property
    def local_names(self) -> Places:
        """Where the names begin without their prefixes."""
        begins = self.names
        if b":" not in self.text:
            return begins
        colons = np.flatnonzero(self.codes == _COLON)
        which = np.searchsorted(colons, begins)
        first = np.append(colons, len(self.codes))[which]
        begins = begins.copy()
        alive = np.flatnonzero(first < self.ends)
        places = begins[alive]
        while len(alive):
            is_prefix = places == first[alive]
            begins[alive[is_prefix]] = places[is_prefix] + 1
            goes_on = ~is_prefix & ~_ENDS_NAME[self.codes[places]]
            alive, places = alive[goes_on], places[goes_on] + 1
        return begins

    @cached_property
    def _heads(self) -> dict[bool, npt.NDArray[np.uint64]]:
        return {}

    def named(self, at: Places, name: bytes, *, is_local: bool) -> Mask:
        """Which of some tags have a name: those that begin with the same eight bytes, and more."""
        begins = self.local_names if is_local else self.names
        if is_local not in self._heads:
            words = np.ndarray(len(self.text), "<u8", self.text + bytes(_WORD), 0, (1,))
            self._heads[is_local] = words[begins]
        length = min(len(name), _WORD)
        mask = np.uint64((1 << 8 * length) - 1)
        head = np.uint64(int.from_bytes(name[:_WORD], "little"))
        are_named: Mask = (self._heads[is_local][at] & mask) == head
        alive = np.flatnonzero(are_named)
        some = at[alive]
        are_named[alive] = match_names(self.codes, begins[some], self.ends[some], name, length)
        return are_named

    def opened_at(self, level: int) -> Places:
        """The tags that begin elements at a level, and do not end them."""
        return np.flatnonzero((self.steps > 0) & (self.levels == level))


def match_names(codes: Codes, begins: Places, ends: Places, name: bytes, known: int = 0) -> Mask:
    """Which of the names that begin somewhere are the one; each is inside of what ends there.

    So many of their first characters are known to be the same.
    """
    alive = np.flatnonzero(ends - begins > len(name))
    alive = alive[_ENDS_NAME[codes[begins[alive] + len(name)]]]
    for offset, code in enumerate(name[known:], known):
        alive = alive[codes[begins[alive] + offset] == code]
    are_named = np.zeros(len(begins), np.bool_)
    are_named[alive] = True
    return are_named


def find_tags(text: bytes, depth: int) -> Tags:
    """The tags of a text that begins inside of so many elements."""
    codes = np.frombuffer(text, np.uint8)
    starts = np.flatnonzero(codes == _LT)
    end = len(text)
    if len(starts) and starts[-1] == end - 1:
        end = int(starts[-1])
        starts = starts[:-1]
    kinds = codes[starts + 1]
    markup = starts[(kinds == _BANG) | (kinds == _QUESTION)]
    if len(markup):
        starts, markup, end = _step_over(text, starts, markup, end)
    starts, ends, end = _find_ends(text, codes, starts, end)
    steps = np.ones(len(starts), np.int8)
    steps[codes[ends - 2] == _SLASH] = 0
    steps[codes[starts + 1] == _SLASH] = -1
    depths = depth + np.cumsum(steps, dtype=np.int64)
    levels = depths + (steps <= 0)
    if len(levels):
        if int(levels.max()) > DEEPEST:
            raise TooDeep
        if int(levels.min()) < 1:
            raise Unbalanced
    return Tags(text, codes, starts, ends, steps, levels, markup, end)


def _step_over(text: bytes, starts: Places, markup: Places, end: int) -> tuple[Places, Places, int]:
    """Without what is no tag, and without all inside of it."""
    is_tag = np.ones(len(starts), np.bool_)
    is_tag[np.searchsorted(starts, markup)] = False
    behind, found = 0, []
    for begin in markup.tolist():
        if begin < behind:
            continue
        closing = next((c for o, c in _MARKUP.items() if text.startswith(o, begin)), None)
        place = -1 if closing is None else text.find(closing, begin + 2)
        if closing == b"-->":
            place = text.find(closing, begin + 4)
        if place < 0 or closing is None:
            end = begin
            break
        behind = place + len(closing)
        is_tag[slice(*np.searchsorted(starts, (begin, behind)))] = False
        found.append(begin)
    return starts[is_tag & (starts < end)], np.array(found, np.int64), end


def _find_ends(text: bytes, codes: Codes, starts: Places, end: int) -> tuple[Places, Places, int]:
    """Where tags end: at the next `>`, unless that is in a value of an attribute."""
    closings = np.flatnonzero(codes == _GT)
    if len(closings) == len(starts) and bool(
        (closings > starts).all() and (closings[:-1] < starts[1:]).all()
    ):
        return starts, closings + 1, end
    which = np.searchsorted(closings, starts)
    whole = int(np.searchsorted(which, len(closings)))
    if whole < len(starts):
        end = min(end, int(starts[whole]))
        starts, which = starts[:whole], which[:whole]
    ends = closings[which] + 1
    for at in np.flatnonzero(np.diff(which, append=len(closings)) > 1).tolist():
        tag = _TAG.match(text, int(starts[at]))
        if tag is None:
            return starts[:at], ends[:at], min(end, int(starts[at]))
        ends[at] = tag.end()
    return starts, ends, end
