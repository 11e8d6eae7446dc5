"""Markup, escaped by construction: a text becomes markup only by the functions of this module.

What is made is HTML and SVG alike, and well-formed XML besides, except for the few elements of HTML
that have no end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TypeAlias

from clinker.cxl.failure import printable
from clinker.frozen import frozen

_ENDLESS = frozenset({"br", "col", "hr", "meta"})


@frozen
class Markup:
    """Markup that is what it looks like; everything else is a text."""

    text: str

    def __str__(self) -> str:
        return self.text


Content: TypeAlias = Markup | str | int | Iterable["Content"] | None
Attribute: TypeAlias = str | int | float | bool | None


def element(name: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """An element with what is in it: markup as it is, texts escaped.

    Of the names of attributes, `_` stands for `-`, and one at the end for nothing: `class_`.
    """
    start = f"<{name}{''.join(_attributes(attributes))}>"
    return Markup(start if name in _ENDLESS else f"{start}{together(*content)}</{name}>")


def together(*content: Content) -> Markup:
    """Several things one after the other."""
    return Markup("".join(_pieces(content)))


def stylesheet(css: str) -> Markup:
    """A style sheet of ours."""
    if "</" in css:
        raise ValueError("a style sheet cannot contain the end of an element")
    return Markup(f"<style>{css}</style>")


def document(*content: Content, language: str) -> Markup:
    """A whole document of HTML."""
    return Markup(f"<!DOCTYPE html>\n{element('html', *content, lang=language)}\n")


def _pieces(content: Iterable[Content]) -> Iterator[str]:
    for each in content:
        match each:
            case None:
                pass
            case Markup(text=text):
                yield text
            case str() | int():
                yield _escaped(str(each))
            case _:
                yield from _pieces(each)


def _attributes(attributes: dict[str, Attribute]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = "" if value is True else f"{value:g}" if isinstance(value, float) else str(value)
        yield f' {name.rstrip("_").replace("_", "-")}="{_escaped(shown)}"'


def _escaped(text: str) -> str:
    """A text as markup; what cannot be seen or is no text in HTML is shown by its code."""
    return escape("\n".join(map(printable, text.split("\n"))))
