"""XML files: which of the elements are the records."""

from __future__ import annotations

import io
import re
from collections import Counter
from xml.parsers import expat

from clinker.formats.common.read_spec import FormatError
from clinker.formats.xml.dialect import XmlDialect
from clinker.formats.xml.documents import find_encoding, has_doctype, read_text
from clinker.formats.xml.search import ElementSearch
from clinker.infer.guess import Guess
from clinker.infer.sample import Sample

_BLOCK_BYTES = 1 << 16
_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]*\?>")
_TAG_NAME = re.compile(rb"<([^\s/>]+)")

_Path = tuple[str, ...]


def guess_xml(sample: Sample) -> Guess:
    """Where the records of an XML file are; FormatError if it is none."""
    stream = io.BytesIO(sample.content)
    encoding = find_encoding(stream, sample.path)
    # Of a sample that ends within a character, the rest is left to the decoder.
    end = len(sample.content) + (not sample.is_whole)
    blocks = read_text(stream, encoding, 0, end, sample.path, _BLOCK_BYTES)
    text = b"".join(blocks)
    repeated = _repeated(text, sample)
    options: dict[str, object] = {}
    fact, doubts = "the root element is the only record", list[str]()
    if repeated:
        depth = min(map(len, repeated))
        likely = sorted((p for p in repeated if len(p) == depth), key=lambda p: -repeated[p])
        path = _spelled(likely[0])
        options = {"record_path": path}
        fact = f"records are the elements {path}"
        doubts = [
            f"{_spelled(other)} occurs repeatedly, too: set 'record_path' if those are the records"
            for other in likely[1:]
        ]
    elif not sample.is_whole:
        raise FormatError("has no elements that repeat, so there are no records", sample.path)
    content = sample.content if sample.is_whole else _cut(text, options, sample.path)
    facts = [fact] if encoding.is_utf8 else [encoding.name.upper(), fact]
    return Guess(
        format="xml",
        options=options,
        reading=options,
        content=content,
        facts=facts,
        doubts=doubts,
    )


def _repeated(text: bytes, sample: Sample) -> Counter[_Path]:
    """The elements of which several stand beside each other, by the names that lead to them."""
    tags = _Tags()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = tags.start
    parser.EndElementHandler = tags.end
    parser.StartDoctypeDeclHandler = tags.doctype
    try:
        parser.Parse(text, sample.is_whole)
    except expat.ExpatError as problem:
        place = f"line {problem.lineno}, column {problem.offset + 1}"
        message = f"is not XML: {place}: {expat.ErrorString(problem.code)}"
        raise FormatError(message, sample.path) from None
    except _HasDoctype:
        raise has_doctype(sample.path) from None
    return tags.repeated


class _HasDoctype(Exception):
    pass


class _Tags:
    """Counts elements while a document is parsed."""

    def __init__(self) -> None:
        self.repeated: Counter[_Path] = Counter()
        self._path: list[str] = []
        self._children: list[Counter[str]] = [Counter()]

    def start(self, name: str, attributes: object) -> None:
        name = name.rpartition(":")[2]
        self._children[-1][name] += 1
        self._path.append(name)
        self._children.append(Counter())

    def end(self, _: str) -> None:
        self._children.pop()
        if self._children[-1][self._path[-1]] > 1:
            self.repeated[tuple(self._path)] += 1
        self._path.pop()

    def doctype(self, *_: object) -> None:
        raise _HasDoctype


def _spelled(path: _Path) -> str:
    return "/" + "/".join(path)


def _cut(text: bytes, options: dict[str, object], path: str) -> bytes:
    """A document of the first whole records in a text."""
    text = _DECLARATION.sub(b"", text, count=1)
    dialect = XmlDialect(record_path=str(options["record_path"]))
    found = ElementSearch(dialect.path, strips=dialect.strips).look(text)
    if not len(found):
        raise FormatError("has a record that is too long to infer anything from", path)
    opened = found.opened_before(int(found.last[-1]) + 1)
    names = (_TAG_NAME.match(tag) for tag in reversed(opened))
    closing = b"".join(b"</" + name[1] + b">" for name in names if name)
    return text[: int(found.ends[-1])] + closing
