"""The `Link` header of an answer, which names other pages (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinker.frozen import frozen

_TARGET = re.compile(r"[\s,]*<([^>]*)>")
_PARAMETER = re.compile(r'\s*;\s*([^\s=;,"]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"?|[^\s;,"]*))?')
_ESCAPED = re.compile(r"\\(.)")


@frozen
class Link:
    """A link and what it leads to: one word or more."""

    target: str
    relations: frozenset[str]


def parse_links(header: str) -> Iterator[Link]:
    """The links of a header, as far as it can be understood."""
    place = 0
    while target := _TARGET.match(header, place):
        place = target.end()
        relations: frozenset[str] | None = None
        while (parameter := _PARAMETER.match(header, place)) and parameter.end() > place:
            place = parameter.end()
            # Of several parameters of that name the first one counts.
            if parameter[1].lower() == "rel" and relations is None:
                relations = frozenset(_value(parameter[2] or "").lower().split())
        yield Link(target[1].strip(), relations or frozenset())
        following = header.find(",", place)
        if following < 0:
            return
        place = following


def _value(text: str) -> str:
    if not text.startswith('"'):
        return text
    return _ESCAPED.sub(r"\1", text.removeprefix('"').removesuffix('"'))


def find_next(headers: list[str]) -> str | None:
    """Where the next page is, by the `Link` headers of an answer."""
    links = (link for header in headers for link in parse_links(header))
    return next((link.target for link in links if "next" in link.relations), None)
