"""Where each character of a YAML scalar's value was written.

`raw` is the scalar as it stands in the file, from its quote, block header or first character on.
Offsets are relative to its start; one more than there are characters, the last for the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["plain", "'", '"', "|", ">"]

_ESCAPE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(?P<joined>\r?\n[ \t]*)|.)", re.S
)
_FOLD = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*")
_FIRST_TEXT = re.compile(r"^( *)[^ \n]", re.M)


def character_offsets(raw: str, style: Style, value: str) -> list[int]:
    if style == "|" or style == ">":
        offsets, end = _of_block(raw, value, folded=style == ">")
    else:
        offsets, end = _of_flow(raw, style)
    # Chomping decides how many of the last line breaks belong to the value.
    del offsets[len(value) :]
    return [*offsets, *[end] * (len(value) + 1 - len(offsets))]


def _of_flow(raw: str, style: str) -> tuple[list[int], int]:
    quote = len(style) == 1
    at, end = (1, max(1, len(raw) - 1)) if quote else (0, len(raw))
    offsets: list[int] = []
    while at < end:
        if fold := _FOLD.match(raw, at, end):
            # One line break reads as a blank, of several all but the first remain.
            offsets += [at] * max(1, fold[0].count("\n") - 1)
            at = fold.end()
        elif style == '"' and (escape := _ESCAPE.match(raw, at, end)):
            offsets += [] if escape["joined"] else [at]
            at = escape.end()
        else:
            offsets.append(at)
            at += 2 if style == "'" and raw[at] == "'" else 1
    return offsets, end


def _of_block(raw: str, value: str, folded: bool) -> tuple[list[int], int]:
    lines = list(_lines(raw))[1:]
    indent = _indentation(raw, lines, value)
    offsets: list[int] = []
    blank_lines: list[int] = []
    end: int | None = None
    end_folds = False
    for start, stop in lines:
        text = min(start + indent, stop)
        if text == stop:
            blank_lines.append(stop)
            continue
        folds = folded and raw[text] not in " \t"
        # The break between two folded lines is a blank, or gone if blank lines follow it.
        if end is not None and not (end_folds and folds and blank_lines):
            offsets.append(end)
        offsets += blank_lines
        offsets += range(text, stop)
        blank_lines = []
        end, end_folds = stop, folds
    if end is not None:
        offsets.append(end)
    offsets += blank_lines
    return offsets, len(raw.rstrip("\r\n"))


def _lines(raw: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in raw.split("\n"):
        yield start, start + len(line.removesuffix("\r"))
        start += len(line) + 1


def _indentation(raw: str, lines: list[tuple[int, int]], value: str) -> int:
    """The blanks before each line that are not part of the value."""
    written = next((raw[a:b] for a, b in lines if raw[a:b].strip(" ")), "")
    kept = _FIRST_TEXT.search(value)
    return len(written) - len(written.lstrip(" ")) - (len(kept[1]) if kept else 0)
