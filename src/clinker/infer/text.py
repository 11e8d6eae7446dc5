"""How the text of a file is encoded, as far as its bytes tell."""

from __future__ import annotations

import codecs

from clinker.formats.common.read_spec import FormatError
from clinker.frozen import frozen
from clinker.infer.sample import Sample

_MARKS = {  # the longer ones first: one begins with another
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_IN_TEXT = frozenset(b"\t\n\v\f\r\x1a\x1b")
_LOOKED_AT = 1 << 16


@frozen
class Text:
    """The text of a sample, and how it was encoded."""

    content: str
    encoding: str
    has_mark: bool = False
    doubt: str | None = None
    """Why it might be encoded in another way."""

    @property
    def is_utf8(self) -> bool:
        return self.encoding == "utf-8"


def decode(sample: Sample) -> Text:
    """The text of a sample; FormatError if it is none."""
    content = sample.content
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            text = _decoded(content, encoding, sample.is_whole)
            if text is None:
                raise FormatError(f"begins as {encoding.upper()}, but is not", sample.path)
            return Text(text.removeprefix("\ufeff"), encoding, has_mark=True)
    for encoding in ("utf-16-le", "utf-16-be"):
        if _is_wide(content, encoding) and (text := _decoded(content, encoding, sample.is_whole)):
            return Text(text, encoding, doubt=f"no byte order mark; it looks like {encoding}")
    if is_binary(content):
        raise FormatError("is not text, but a binary file", sample.path)
    if (text := _decoded(content, "utf-8", sample.is_whole)) is not None:
        return Text(text, "utf-8")
    line = 1 + content.count(b"\n", 0, _first_strange(content))
    for encoding in ("cp1252", "latin-1"):
        if (text := _decoded(content, encoding, sample.is_whole)) is not None:
            doubt = f"not UTF-8; {encoding} is a guess: look at the letters in line {line}"
            return Text(text, encoding, doubt=doubt)
    raise AssertionError("every byte is a character of latin-1")


def is_binary(content: bytes) -> bool:
    """Whether there are control characters in it that no text has."""
    return any(byte < 0x20 and byte not in _IN_TEXT for byte in set(content[:_LOOKED_AT]))


def _decoded(content: bytes, encoding: str, is_whole: bool) -> str | None:
    """The text of some bytes that may end within a character; None if they are not text."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, is_whole)
    except UnicodeError:
        return None
    return None if "\0" in text else text


def _is_wide(content: bytes, encoding: str) -> bool:
    """Whether every other byte is zero, as in UTF-16 of Latin letters."""
    some = content[: _LOOKED_AT & ~1]
    zeros = some[1::2] if encoding == "utf-16-le" else some[::2]
    others = some[::2] if encoding == "utf-16-le" else some[1::2]
    return len(zeros) > 1 and zeros.count(0) > 0.7 * len(zeros) and others.count(0) == 0


def _first_strange(content: bytes) -> int:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.start
    return 0
