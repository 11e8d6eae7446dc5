"""XML documents as UTF-8, and the check that they are well-formed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO
from xml.parsers import expat

from lxml import etree

from clinker.cxl.failure import printable
from clinker.formats.common.encodings import is_utf8
from clinker.formats.common.read_spec import FormatError
from clinker.formats.xml.scan import DEEPEST
from clinker.frozen import frozen

_HEAD_BYTES = 1 << 10
_DECLARATION = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)""")
_MARKS = {  # the longer ones first: one begins with another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0?\0": "utf-16-le",
    b"\0<\0?": "utf-16-be",
}
_NO_DTD = "remove the DOCTYPE, and what it declares"


@frozen
class Encoding:
    """How the text of a document is encoded."""

    name: str
    start: int = 0
    """Where the text begins: behind a byte order mark, if the decoder does not know about it."""

    @property
    def is_utf8(self) -> bool:
        """Whether the text is UTF-8 as it stands."""
        return is_utf8(self.name)


def find_encoding(stream: BinaryIO, path: str) -> Encoding:
    """The encoding that the first bytes of a document tell, or declare."""
    stream.seek(0)
    head = stream.read(_HEAD_BYTES)
    if head.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8", len(codecs.BOM_UTF8))
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return Encoding(name)
    declared = _DECLARATION.match(head)
    if declared is None:
        return Encoding("utf-8")
    name = declared[1].decode()
    try:
        codec = codecs.lookup(name)
    except LookupError:
        codec = None
    if codec is None or not codec._is_text_encoding:
        message = f"the document declares the encoding '{name}', which is not known"
        raise FormatError(message, path, "convert it to UTF-8")
    # The declaration could be read, so the encoding has one byte for each of its characters.
    return Encoding("utf-8" if codec.name.startswith(("utf-16", "utf-32")) else codec.name)


def read_text(
    stream: BinaryIO, encoding: Encoding, start: int, end: int, path: str, block_bytes: int
) -> Iterator[bytes]:
    """The text between two places of a document as blocks of UTF-8."""
    start = max(start, encoding.start)
    stream.seek(start)
    decoder = None if encoding.is_utf8 else codecs.getincrementaldecoder(encoding.name)()
    while start < end and (raw := stream.read(min(block_bytes, end - start))):
        start += len(raw)
        if decoder is None:
            yield raw
            continue
        try:
            yield decoder.decode(raw, start >= end).encode()
        except UnicodeError as problem:
            reason = getattr(problem, "reason", str(problem))
            message = f"the document is not {encoding.name.upper()}: {reason}"
            raise FormatError(message, path, "declare the encoding that it has") from None


class _NoTree:
    """Takes nothing of what a parser finds, so nothing is made of it; refuses DTDs."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise _HasDoctype

    def close(self) -> None:
        pass


class _HasDoctype(Exception):
    pass


class WellFormedness:
    """Checks a document block by block; FormatError where it is not well-formed, or has a DTD."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parser = etree.XMLParser(
            target=_NoTree(),  # type: ignore[arg-type]  # it need not have all methods
            encoding="utf-8",
            huge_tree=True,
            resolve_entities=False,
            no_network=True,
        )

    def check(self, text: bytes) -> None:
        """The next block of the document."""
        try:
            self._parser.feed(text)
        except etree.XMLSyntaxError as problem:
            raise self._malformed(problem) from None
        except _HasDoctype:
            raise has_doctype(self._path) from None

    @property
    def is_sure(self) -> bool:
        """Whether it has seen everything: once there was a prefix that nobody declares, libxml2
        does not look at what stands behind the root any more."""
        return not len(self._parser.feed_error_log)

    def finish(self) -> None:
        """There are no more blocks."""
        try:
            self._parser.close()
        except etree.XMLSyntaxError as problem:
            raise self._malformed(problem) from None
        except _HasDoctype:
            raise has_doctype(self._path) from None

    def _malformed(self, problem: etree.XMLSyntaxError) -> FormatError:
        log = self._parser.feed_error_log
        if not len(log):
            return FormatError(f"is no XML document: {problem.msg}", self._path)
        first = log[0]
        message = printable(first.message.strip())
        return FormatError(f"line {first.line}, column {first.column}: {message}", self._path)


def check_again(blocks: Iterable[bytes], path: str) -> None:
    """Check a document by a parser that prefixes mean nothing to; FormatError as above."""
    parser = expat.ParserCreate("utf-8")
    try:
        for block in blocks:
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as problem:
        place = f"line {problem.lineno}, column {problem.offset + 1}"
        raise FormatError(f"{place}: {expat.ErrorString(problem.code)}", path) from None


def has_doctype(path: str) -> FormatError:
    """What is wrong with a document that has a DTD."""
    return FormatError("the document has a DTD (a DOCTYPE), which is refused", path, _NO_DTD)


def too_deep(path: str) -> FormatError:
    """What is wrong with a document whose elements are nested too deeply."""
    return FormatError(f"elements are nested more than {DEEPEST} levels deep", path)
