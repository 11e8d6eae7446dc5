"""The elements at a path, found in blocks of a document that follow each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from clinker.formats.common.json_numbers import Mask, Places
from clinker.formats.xml.dialect import ANY_NAME, ElementPath
from clinker.formats.xml.scan import Tags, find_tags, match_names
from clinker.frozen import frozen

_NAMESPACE = b"xmlns"
_NAME = re.compile(rb"<([^\s/>]+)")
_FIRST = re.compile(rb"""[ \t\r\n]*(<([^\s/>!?][^\s/>]*)(?:[^"'>]|"[^"]*"|'[^']*')*>)""")
_LONG_NAME = 1 << 10
_NONE: Places = np.zeros(0, np.int64)
_NO_TAGS = find_tags(b"", 0)


@frozen(eq=False)
class Run:
    """Elements in a row that stand in the same scope of namespaces."""

    elements: slice
    opening: bytes
    """The tags around them that declare namespaces."""
    closing: bytes
    depth: int
    """How many these are."""


@frozen(eq=False)
class Found:
    """The whole elements in a text; `first` and `last` are the places of their tags in `tags`."""

    tags: Tags
    offset: int
    """Where the text begins in what was searched."""
    first: Places
    last: Places
    end: int
    """What is behind it in the text will be found again: an element that has not ended yet."""
    inner: Places
    """The tags of elements at the path that are inside of these."""
    opened: Sequence[bytes]
    """The tags that are open where the text begins."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def starts(self) -> Places:
        return self.tags.starts[self.first]

    @property
    def ends(self) -> Places:
        return self.tags.ends[self.last]

    def only(self, chosen: Mask) -> Found:
        """Some of them, without those inside."""
        first, last = self.first[chosen], self.last[chosen]
        return Found(self.tags, self.offset, first, last, self.end, _NONE, self.opened)

    def counts(self) -> Places:
        """How many elements at the path each of them is: itself, and those inside of it."""
        outer = np.searchsorted(self.first, self.inner) - 1
        return 1 + np.bincount(outer, minlength=len(self)).astype(np.int64)

    def inner_numbers(self) -> dict[int, list[int]]:
        """Those inside of each that has such, by how many elements in it come before."""
        before = np.cumsum(self.tags.steps >= 0)
        outer = np.searchsorted(self.first, self.inner) - 1
        numbers: Places = before[self.inner] - before[self.first[outer]]
        inside: dict[int, list[int]] = {}
        for at, number in zip(outer.tolist(), numbers.tolist(), strict=True):
            inside.setdefault(at, []).append(number)
        return inside

    def opened_before(self, tag: int) -> list[bytes]:
        """The tags that are open before one of these."""
        tags = self.tags
        depths = len(self.opened) + np.cumsum(tags.steps[:tag], dtype=np.int64)
        depth = int(depths[-1]) if tag else len(self.opened)
        lowest = min(len(self.opened), int(depths.min())) if tag else depth
        opened = list(self.opened[:lowest])
        for level in range(lowest + 1, depth + 1):
            begins = tags.opened_at(level)
            at = int(begins[np.searchsorted(begins, tag) - 1])
            opened.append(tags.text[int(tags.starts[at]) : int(tags.ends[at])])
        return opened

    def runs(self) -> Iterator[Run]:
        """All of the elements, by the namespaces around them."""
        begins = np.zeros(0, np.int64)
        if len(self) > 1 and self._namespaces_change():
            begins = 1 + np.flatnonzero(self.first[1:] - self.last[:-1] > 1)
        bounds = [0, *begins.tolist(), len(self)]
        for begin, end in pairwise(bounds):
            if end > begin:
                around = [
                    tag for tag in self.opened_before(int(self.first[begin])) if _NAMESPACE in tag
                ]
                yield Run(slice(begin, end), b"".join(around), _close(around), len(around))

    def _namespaces_change(self) -> bool:
        """Whether it may be that elements have other namespaces around them than the first."""
        around = self.opened_before(int(self.first[0]))
        steps = self.tags.steps[int(self.first[0]) : int(self.last[-1]) + 1]
        lowest = len(around) + int(np.cumsum(steps, dtype=np.int64).min())
        if any(_NAMESPACE in tag for tag in around[max(0, lowest) :]):
            return True
        text, starts, ends = self.tags.text, self.starts, self.ends
        if text.find(_NAMESPACE, int(starts[0])) < 0:
            return False
        places = np.array([match.start() for match in re.finditer(_NAMESPACE, text)])
        which = np.searchsorted(starts, places, side="right") - 1
        return bool((places >= ends[np.maximum(which, 0)])[which >= 0].any())


class Alike(Protocol):
    """Elements at the beginning of a text that are alike."""

    @property
    def end(self) -> int:
        """Where the last of them ends."""


AlikeT = TypeVar("AlikeT", bound=Alike)


class ElementSearch:
    """Looks for the elements at a path, and for others at that path inside of them."""

    def __init__(
        self, path: ElementPath, *, strips: bool, opened: Sequence[bytes] = (), offset: int = 0
    ) -> None:
        self._path = path
        self._names = tuple(step.encode() for step in path.steps)
        self._strips = strips
        self._opened = list(opened)
        self._offset = offset
        self._rest: list[bytes] = []
        self._awaited = b""
        """What must come before the element can end that has begun last."""
        self._known: tuple[bytes, Sequence[bytes]] = b"", ()
        """A name that was found to be at the path, and what was open before it."""

    def look_alike(
        self, block: bytes, find: Callable[[bytes, int, bytes], AlikeT | None]
    ) -> AlikeT | None:
        """What `find` makes of the next block, if an element at the path is the first in it.

        It is given the text, where the element begins, and its name. If it finds some elements
        that are alike, what is behind them is for `look`, which needs no other block then.
        """
        if self._is_awaiting(block):
            return None
        text = b"".join([*self._rest, block])
        first = _FIRST.match(text)
        if first is None or not self._stands_alone(first[1], first[2]):
            return None
        alike = find(text, first.start(1), first[2])
        if alike is not None:
            self._rest, self._awaited = [text[alike.end :]], b""
            self._offset += alike.end
            next_one = _FIRST.match(self._rest[0])
            if next_one and next_one[2] == first[2] and not next_one[1].endswith(b"/>"):
                self._awaited = b"</" + first[2]
        return alike

    def _stands_alone(self, tag: bytes, name: bytes) -> bool:
        """Whether a tag begins an element at the path, and is not inside of one of its name."""
        if self._known == (name, self._opened):
            return True
        first, _, _ = self._find(find_tags(tag, len(self._opened)))
        around = filter(None, map(_NAME.match, self._opened))
        if not len(first) or any(outer[1] == name for outer in around):
            return False
        self._known = name, self._opened
        return True

    @property
    def opened(self) -> Sequence[bytes]:
        """The tags that are open before the next block."""
        return self._opened

    @property
    def offset(self) -> int:
        """Where the next text begins in what is searched."""
        return self._offset

    def _is_awaiting(self, block: bytes) -> bool:
        return bool(self._awaited) and self._awaited not in self._rest[-1][-_LONG_NAME:] + block

    def look(self, block: bytes) -> Found:
        """The elements that end in the next block."""
        if self._is_awaiting(block):
            if block:
                self._rest.append(block)
            return Found(_NO_TAGS, self._offset, _NONE, _NONE, 0, _NONE, ())
        text = b"".join([*self._rest, block]) if self._rest else block
        tags = find_tags(text, len(self._opened))
        first, last, inner = self._find(tags)
        tag, place = len(tags.starts), tags.end
        self._awaited = b""
        if len(last) and last[-1] < 0:
            tag = int(first[-1])
            place = int(tags.starts[tag])
            self._awaited = _close([text[place : int(tags.ends[tag])]])[:-1]
            first, last, inner = first[:-1], last[:-1], inner[inner < tag]
        found = Found(tags, self._offset, first, last, place, inner, self._opened)
        self._opened = found.opened_before(tag)
        self._rest = [text[place:]] if place < len(text) else []
        self._offset += place
        return found

    def _find(self, tags: Tags) -> tuple[Places, Places, Places]:
        """The first and the last tag of each element, and the first of those inside of others.

        The last is -1 for one that goes on behind the text.
        """
        begins = np.flatnonzero(tags.steps >= 0)
        if self._path.is_anywhere:
            begins = begins[self._are_named(tags, begins, len(self._names) - 1)]
            levels = tags.levels[begins]
            parts = [
                self._matching(tags, begins[levels == level], int(level))
                for level in np.unique(levels)
            ]
            first = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))
        else:
            level = len(self._names)
            first = self._matching(tags, begins[tags.levels[begins] == level], level)
        last, inner = _find_last(tags, first), _NONE
        if self._path.is_anywhere and len(first):
            ends = np.where(last < 0, len(tags.starts), last)
            inside = first[1:] <= np.maximum.accumulate(ends)[:-1]
            is_outermost = np.append(True, ~inside)
            inner = first[~is_outermost]
            first, last = first[is_outermost], last[is_outermost]
        return first, last, inner

    def _matching(self, tags: Tags, at: Places, level: int) -> Places:
        matching: Places = at[self._match(tags, at, level, len(self._names) - 1)]
        return matching

    def _match(self, tags: Tags, at: Places, level: int, step: int) -> Mask:
        """Which tags at a level are at the end of the first steps of the path, up to `step`."""
        match = self._are_named(tags, at, step)
        if step == 0:
            return match if self._path.is_anywhere or level == 1 else np.zeros_like(match)
        if level == 1 or not match.any():
            return np.zeros_like(match)
        parents = tags.opened_at(level - 1)
        is_good = np.append(
            self._match(tags, parents, level - 1, step - 1), self._opened_match(level - 1, step - 1)
        )
        # Before all of them is the one that was open before the text: the last here.
        match &= is_good[np.searchsorted(parents, at) - 1]
        return match

    def _opened_match(self, level: int, step: int) -> bool:
        """The same for the tag that was open at a level before the text."""
        if level > len(self._opened) or level < 1:
            return False
        tag = np.frombuffer(self._opened[level - 1], np.uint8)
        opened = self._opened[level - 1]
        name = _NAME.match(opened)
        begin = 1
        if self._strips and name and b":" in name[1]:
            begin = 1 + name[1].index(b":") + 1
        wanted = self._names[step]
        if (
            wanted != ANY_NAME.encode()
            and not match_names(tag, np.array([begin]), np.array([len(opened)]), wanted).any()
        ):
            return False
        if step == 0:
            return self._path.is_anywhere or level == 1
        return self._opened_match(level - 1, step - 1)

    def _are_named(self, tags: Tags, at: Places, step: int) -> Mask:
        name = self._names[step]
        if name == ANY_NAME.encode():
            return np.ones(len(at), np.bool_)
        return tags.named(at, name, is_local=self._strips)


def _find_last(tags: Tags, first: Places) -> Places:
    last = np.full(len(first), -1, np.int64)
    levels = tags.levels[first]
    for level in np.unique(levels):
        closings = np.flatnonzero((tags.steps < 0) & (tags.levels == level))
        of_level = np.flatnonzero(levels == level)
        which = np.searchsorted(closings, first[of_level])
        last[of_level] = np.append(closings, -1)[which]
    return np.where(tags.steps[first] == 0, first, last)


def _close(opened: Sequence[bytes]) -> bytes:
    names = (_NAME.match(tag) for tag in reversed(opened))
    return b"".join(b"</" + name[1] + b">" for name in names if name)
