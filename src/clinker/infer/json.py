"""JSON files: one object per line, or a document, and where in it the records are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clinker.formats.common.json_numbers import MALFORMED, loads
from clinker.formats.common.read_spec import FormatError
from clinker.formats.json.scan import ElementSearch, Structure
from clinker.infer.guess import Guess
from clinker.infer.text import Text

_BLANKS = b" \t\r\n"
_LOOKED_AT = 1 << 18
"""How much of a long document is parsed to find out where its records are."""
_DEEPEST = 4
_CLOSING = {ord("["): b"]", ord("{"): b"}"}


def guess_json(text: Text, path: str, *, is_whole: bool, has_lines: bool = False) -> Guess:
    """Where the records of a JSON file are; FormatError if it is none.

    Of a file with a single line only its name tells whether that is a record, `has_lines`.
    """
    if not text.is_utf8:
        message = f"is {text.encoding.upper()}, but JSON files are UTF-8"
        raise FormatError(message, path, "convert it to UTF-8")
    content = text.content.encode()
    start = content.lstrip(_BLANKS)[:1]
    if start == b"[":
        content = content if is_whole else _cut_array(content, (), path)
        return _guess(content, "an array of objects")
    if start != b"{":
        raise FormatError("begins neither with '{' nor with '['", path)
    if has_lines or _is_lines(content):
        content = content if is_whole else content[: content.rfind(b"\n") + 1]
        return _guess(content, "one object per line")
    document = _document(content if is_whole else _repaired(content[:_LOOKED_AT]), path)
    found = sorted(_arrays(document), key=lambda each: -len(each[1]))
    if not found:
        if not is_whole:
            raise FormatError("is one large object without an array of objects", path)
        return _guess(content, "a single object, which is one record")
    steps = found[0][0]
    place = _spelled(steps)
    doubts = [
        f"'{_spelled(other)}' is an array of objects, too: set 'record_path' if records are there"
        for other, _ in found[1:]
    ]
    content = content if is_whole else _cut_array(content, steps, path)
    return _guess(content, f"records at {place}", {"record_path": place}, doubts)


def _guess(
    content: bytes, fact: str, options: dict[str, object] | None = None, doubts: Sequence[str] = ()
) -> Guess:
    return Guess(
        format="json",
        options=options or {},
        reading=options or {},
        content=content,
        facts=(fact,),
        doubts=doubts,
        has_texts=False,
    )


def _is_lines(content: bytes) -> bool:
    """Whether the first line is an object, and the second one begins another."""
    lines = [line for line in content[:_LOOKED_AT].splitlines() if line.strip()][:2]
    if len(lines) == 2 and not lines[1].lstrip().startswith(b"{"):
        return False
    try:
        return len(lines) == 2 and isinstance(loads(lines[0]), dict)
    except MALFORMED:
        return False


def _document(content: bytes, path: str) -> Any:
    try:
        return loads(content)
    except MALFORMED as problem:
        raise FormatError(f"is not JSON: {problem}", path) from None


def _repaired(content: bytes) -> bytes:
    """The beginning of a document up to its last comma, with what is open there closed."""
    marks = Structure().marks(content)
    commas = np.flatnonzero(marks.separators)
    if not len(commas):
        return content
    last = int(commas[-1])
    opened: list[bytes] = []
    for code in marks.codes[:last].tolist():
        if code in _CLOSING:
            opened.append(_CLOSING[code])
        elif code in b"]}" and opened:
            opened.pop()
    return content[: int(marks.places[last])] + b"".join(reversed(opened))


def _arrays(value: Any, steps: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The arrays of objects in a document, outside of other arrays, and the keys to them."""
    if isinstance(value, dict) and len(steps) < _DEEPEST:
        for key, inner in value.items():
            if key and not ("." in key and "/" in key):
                yield from _arrays(inner, (*steps, key))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield steps, value


def _spelled(steps: Sequence[str]) -> str:
    """A path as `record_path` is written."""
    if any("." in step or step.startswith("$") for step in steps):
        return "/" + "/".join(steps)
    return "$." + ".".join(steps)


def _cut_array(content: bytes, steps: Sequence[str], path: str) -> bytes:
    """A document of the first whole elements of an array in it."""
    search = ElementSearch(steps)
    elements = search.look(content)
    if search.begin is None or not len(elements.separators):
        raise FormatError("has a record that is too long to infer anything from", path)
    end = search.begin + int(elements.separators[-1])
    return content[:end] + b"]" + b"}" * len(steps)
