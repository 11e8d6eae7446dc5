"""Files in any encoding as blocks of UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from clinker.formats.common.read_spec import FormatError
from clinker.frozen import frozen

BLOCK_BYTES = 1 << 17
"""How much is looked at at a time. The memory of larger blocks is given back and asked for again
with every one of them, which takes longer than to look at them."""
_MARKS = {  # the longer ones first: one begins with another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@frozen
class Block:
    """A part of a file: its bytes, and its text as UTF-8."""

    raw: bytes
    text: bytes


def is_utf8(encoding: str) -> bool:
    """Whether text in this encoding is UTF-8 as it stands."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


def is_one_byte(encoding: str) -> bool:
    """Whether every byte is a character, and the lower half of them ASCII."""
    characters = bytes(range(256)).decode(encoding, "replace")
    return len(characters) == 256 and characters[:128].encode() == bytes(range(128))


def find_text_start(stream: BinaryIO, path: str, encoding: str, help: str | None = None) -> int:
    """Where the text of a file begins: behind the byte order mark of UTF-8.

    FormatError with `help` if the mark is one of another encoding.
    """
    if not is_utf8(encoding):
        return 0
    stream.seek(0)
    mark = stream.read(4)
    for other, name in _MARKS.items():
        if mark.startswith(other):
            message = f"the file is {name.upper()}, not {encoding.upper()}"
            other_encoding = f"set 'encoding: {name}' in the source's options"
            raise FormatError(message, path, help or other_encoding)
    return len(codecs.BOM_UTF8) if mark.startswith(codecs.BOM_UTF8) else 0


def read_blocks(
    stream: BinaryIO, start: int, end: int, path: str, encoding: str
) -> Iterator[Block]:
    """The bytes from `start` to `end` in blocks; FormatError if they are not text.

    A block of UTF-8 is taken as it is, even if it ends within a character, so that positions in its
    text are positions in the file.
    """
    stays = is_utf8(encoding)
    decoder = codecs.getincrementaldecoder(encoding.removesuffix("-sig"))()
    within_character = False
    mark = _find_mark(encoding) if start == 0 else ""
    stream.seek(start)
    while start < end and (raw := stream.read(min(BLOCK_BYTES, end - start))):
        text = raw
        if not (stays and not within_character and raw.isascii()):
            try:
                decoded = decoder.decode(raw, start + len(raw) >= end)
            except UnicodeDecodeError as problem:
                raise _undecodable(problem, start, raw, path, encoding) from None
            except UnicodeError as problem:  # what codecs of UTF-16 and others raise
                raise FormatError(f"the file is not {encoding.upper()}: {problem}", path) from None
            within_character = bool(decoder.getstate()[0])
            if not stays:
                text = decoded.removeprefix(mark).encode()
                mark = "" if decoded else mark
        if b"\0" in text:
            offset = start + text.index(b"\0") if stays else None
            raise _not_text(path, encoding, offset)
        start += len(raw)
        yield Block(raw, text)


def _find_mark(encoding: str) -> str:
    """The byte order mark that may begin a file, unless its decoder takes it away by itself."""
    return "" if "".encode(encoding) else "\ufeff"


def _undecodable(
    problem: UnicodeDecodeError, start: int, raw: bytes, path: str, encoding: str
) -> FormatError:
    # The decoder puts what was left of the block before in front.
    offset = start - (len(problem.object) - len(raw)) + problem.start
    byte = problem.object[problem.start]
    return FormatError(
        f"byte {offset} (0x{byte:02X}) is not {encoding.upper()}",
        path,
        "set the file's 'encoding' in the source's options, for example 'encoding: latin-1'",
    )


def _not_text(path: str, encoding: str, offset: int | None) -> FormatError:
    where = "" if offset is None else f" at byte {offset}"
    return FormatError(
        f"there is a NUL character{where}, so the file is not text in {encoding.upper()}",
        path,
        "set the file's 'encoding' in the source's options if it is another one",
    )
