"""How an element is written that has plain attributes, and children that are just texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from clinker.formats.xml.dialect import XmlDialect
from clinker.frozen import frozen
from clinker.xml_names import TEXT

_PART = rb"[^\s/>=:\"'<&!?]+"
_NAME = rb"(?:%s:)?%s" % (_PART, _PART)
_ATTRIBUTE = re.compile(rb' (%s)="([^"<]*)"' % _PART)
_OPENING = re.compile(rb'<(%s)((?: %s="[^"<]*")*)>' % (_NAME, _PART))
_CHILD = re.compile(rb"[ \t\r\n]*(<(%s)(?:/>|>([^<]*)</\2>))" % _NAME)
_BLANKS = re.compile(rb"[ \t\r\n]*")
_NAMESPACE = "xmlns"


@frozen
class Child:
    """An element inside of another: a text."""

    key: str
    tag: int
    """Which of the tags of the outer element begins it."""
    behind: int | None
    """How long that tag is: there begins the text, up to the next tag; None if it has none."""


@frozen
class Pattern:
    """An element, cut into what is the same in all that are like it."""

    attributes: Sequence[str]
    """Their keys."""
    pieces: Sequence[bytes]
    """What is before the first value of an attribute, between two, and behind the last up to the
    first child; all of that, if there are none."""
    children: Mapping[str, Child]
    literals: Sequence[bytes]
    """What is from the first child on to the first text, between two, and behind the last."""
    gap: bytes
    """The blanks between the element and the next one."""
    tags: int
    """How many it has."""
    closing: bytes
    """The last of them."""

    @property
    def keys(self) -> list[str]:
        return [*self.attributes, *self.children]

    @cached_property
    def texts(self) -> list[Child]:
        """The children that have a text, be it empty."""
        return [child for child in self.children.values() if child.behind is not None]


def find_pattern(text: bytes, start: int, dialect: XmlDialect) -> Pattern | None:
    """How the element at a place is written; None if there is more to it."""
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    children, literals = [], []
    place, tags = opening.end(), 1
    literal = content = _skip_blanks(text, place)
    while child := _CHILD.match(text, place):
        has_text = child[3] is not None
        behind = child.start(3) - child.start(1) if has_text else None
        children.append(Child(_make_key(child[2], dialect), tags, behind))
        tags += 2 if has_text else 1
        if has_text:
            literals.append(text[literal : child.start(3)])
            literal = child.end(3)
        place = child.end()
    closing = b"</" + opening[1] + b">"
    place = _skip_blanks(text, place)
    if not literals or not text.startswith(closing, place):
        return None
    end = place + len(closing)
    names = [name.decode() for name, _ in _ATTRIBUTE.findall(opening[2])]
    pattern = Pattern(
        [dialect.attribute_prefix + name for name in names],
        _cut_values(text[start:content], opening[2]),
        {child.key: child for child in children},
        [*literals, text[literal:end]],
        text[end : _skip_blanks(text, end)],
        tags + 1,
        closing,
    )
    keys = [*pattern.attributes, *(child.key for child in children)]
    is_plain = (
        len(set(keys)) == len(keys)
        and TEXT not in keys
        and _NAMESPACE not in names
        and not any("." in key for key in keys)
        # Else it would be a record of its own.
        and not (dialect.path.is_anywhere and _make_key(opening[1], dialect) in pattern.children)
    )
    return pattern if is_plain else None


def _cut_values(tag: bytes, attributes: bytes) -> list[bytes]:
    """What stands around the values of the attributes of a tag."""
    if not attributes:
        return [tag]
    first, *between, last = tag.split(b'"')[::2]
    return [first + b'"', *(b'"%s"' % piece for piece in between), b'"' + last]


def _make_key(name: bytes, dialect: XmlDialect) -> str:
    return name.decode().rpartition(":")[2] if dialect.strips else name.decode()


def _skip_blanks(text: bytes, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place
