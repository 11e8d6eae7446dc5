"""Fixed-width files: where fields begin, as far as columns of blanks tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from clinker.formats.common.read_spec import FormatError
from clinker.infer.evidence import looks_like_value
from clinker.infer.guess import FieldPlace, Guess
from clinker.infer.sample import Sample
from clinker.infer.text import Text

_LINES = 5_000
_BLANK = 0x20
_LONGEST = 1 << 16


def looks_fixed(text: Text) -> bool:
    """Whether lines are of one length and have columns of blanks in the same places."""
    lines = _lines(text.content.encode())
    return len(lines) > 1 and len(set(map(len, lines))) == 1 and len(_starts(lines)) > 1


def guess_fixed(sample: Sample, text: Text) -> Guess:
    """Where the fields of a fixed-width file are; FormatError if it has no lines."""
    content = sample.content
    if not sample.is_whole:
        content = content[: content.rfind(b"\n") + 1]
    lines = _lines(content)
    if not lines or max(map(len, lines)) > _LONGEST:
        raise FormatError("has no lines that could be cut into fields", sample.path)
    starts = _starts(lines)
    length = max(map(len, lines))
    bounds = pairwise([*starts, length])
    places = [
        FieldPlace(name=f"field_{number}", start=start, width=end - start)
        for number, (start, end) in enumerate(bounds, 1)
    ]
    options: dict[str, object] = {} if text.is_utf8 else {"encoding": text.encoding}
    doubts = ["fields begin behind columns of blanks: correct their borders, and give them names"]
    if len(places) == 1:
        doubts = ["no column is blank in all lines: cut the lines into fields by what you know"]
    elif _begins_with_names(lines, places):
        doubts.append("the first line seems to hold names, but is read as a record: remove it")
    lengths = sorted(set(map(len, lines)))
    shown = f"{length}" if len(lengths) == 1 else f"{lengths[0]} … {length}"
    return Guess(
        format="fixed_width",
        options=options,
        reading=options,
        content=content,
        places=places,
        facts=(f"lines of {shown} bytes",),
        doubts=doubts,
    )


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n", _LINES)[:_LINES]
    return [kept for line in lines if (kept := line.rstrip(b"\r")).strip()]


def _starts(lines: Sequence[bytes]) -> list[int]:
    """Where something stands behind a column that is blank in all lines."""
    is_filled = np.zeros(max(map(len, lines)), np.bool_)
    for line in lines:
        is_filled[: len(line)] |= np.frombuffer(line, np.uint8) != _BLANK
    before = np.concatenate([[False], is_filled[:-1]])
    starts: list[int] = np.flatnonzero(is_filled & ~before).tolist()
    return [0, *starts[1:]]


def _begins_with_names(lines: Sequence[bytes], places: Sequence[FieldPlace]) -> bool:
    def values(line: bytes) -> int:
        cells = (line[p.start : p.start + p.width].decode("latin-1").strip() for p in places)
        return sum(1 for cell in cells if cell and looks_like_value(cell))

    return not values(lines[0]) and all(map(values, lines[1:3]))
