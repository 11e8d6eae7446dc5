"""The bytes of fields as texts, and texts as bytes, in any encoding.

What is plain ASCII in the end, as most files are, is translated byte by byte; a value with other
characters is decoded with others like it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.encodings import is_utf8
from clinker.formats.common.texts import join_bytes
from clinker.frozen import frozen

Mask = npt.NDArray[np.bool_]

_NEL = "\x85"
"""What ends a line on mainframes."""


@frozen(eq=False)
class Decoded:
    """Texts; `broken` marks those whose bytes are none, None if all are."""

    texts: pa.StringArray
    broken: Mask | None = None


class Codec:
    """One encoding, in both directions."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.removesuffix("-sig")
        self._is_utf8 = is_utf8(encoding)
        characters = [_decode_byte(byte, self._encoding) for byte in range(256)]
        self._to_ascii = bytes(ord(c) if c and c.isascii() else 0 for c in characters)
        self._ascii_bytes = bytes(b for b, c in enumerate(characters) if c and c.isascii())
        self._keeps_ascii = self._to_ascii[:128] == bytes(range(128))
        ordered = sorted(self._ascii_bytes, key=lambda byte: self._to_ascii[byte])
        self._from_ascii = bytes(ordered).ljust(256) if len(ordered) == 128 else b""

    def line_ends(self, character: str) -> bytes:
        """The bytes that may end lines: the character, and what mainframes have instead of LF."""
        ends = self.encode_one(character)
        if character == "\n" and not self._keeps_ascii:
            ends += self.encode_one(_NEL)
        return ends

    def encode_one(self, character: str) -> bytes:
        return character.encode(self._encoding)

    def decode(self, values: pa.BinaryArray) -> Decoded:
        data = join_bytes(values)
        if data.isascii() and self._keeps_ascii:
            return Decoded(_as_texts(values))
        if self._is_utf8:
            try:
                return Decoded(pc.cast(values, pa.string()))
            except pa.ArrowInvalid:
                return self._decode_distinct(values)
        if not data.translate(None, self._ascii_bytes):
            return Decoded(_with_bytes(values, data.translate(self._to_ascii), pa.string()))
        return self._decode_distinct(values)

    def _decode_distinct(self, values: pa.BinaryArray) -> Decoded:
        """Every distinct value on its own."""
        encoded = values.dictionary_encode()
        texts: list[str] = []
        broken: list[bool] = []
        for value in encoded.dictionary.to_pylist():
            try:
                text = value.decode(self._encoding)
                is_broken = False
            except UnicodeError:
                text = value.decode(self._encoding, "backslashreplace")
                is_broken = True
            texts.append(text)
            broken.append(is_broken)
        decoded = pa.array(texts, pa.string()).take(encoded.indices)
        if not any(broken):
            return Decoded(decoded)
        return Decoded(decoded, np.asarray(pa.array(broken).take(encoded.indices)))

    def encode(self, texts: pa.StringArray) -> tuple[pa.BinaryArray, int]:
        """The bytes of texts without nulls; and the first that has characters for which there are
        none, -1 if all can be encoded."""
        data = join_bytes(texts)
        if self._is_utf8 and self._encoding != "ascii":
            return texts.cast(pa.binary()), -1
        if data.isascii() and self._from_ascii:
            return _with_bytes(texts, data.translate(self._from_ascii), pa.binary()), -1
        encoded = texts.dictionary_encode()
        values: list[bytes] = []
        for at, text in enumerate(encoded.dictionary.to_pylist()):
            try:
                values.append(text.encode(self._encoding))
            except UnicodeEncodeError:
                return texts.cast(pa.binary()), int(pc.index(encoded.indices, at).as_py())
        return pa.array(values, pa.binary()).take(encoded.indices), -1

    def shorten(self, value: bytes, width: int) -> bytes:
        """As many whole characters as have room."""
        kept = value[:width]
        while kept:
            try:
                kept.decode(self._encoding)
            except UnicodeError:
                kept = kept[:-1]
            else:
                break
        return kept


def _decode_byte(byte: int, encoding: str) -> str:
    try:
        return bytes((byte,)).decode(encoding)
    except UnicodeError:
        return ""


def _as_texts(values: pa.BinaryArray) -> pa.StringArray:
    """Bytes that are known to be ASCII."""
    return pa.Array.from_buffers(pa.string(), len(values), values.buffers(), offset=values.offset)


def _with_bytes(values: pa.Array, data: bytes, to: pa.DataType) -> pa.Array:
    """Values of the same lengths, but of other bytes."""
    offsets = np.frombuffer(values.buffers()[1], np.int32)
    offsets = offsets[values.offset : values.offset + len(values) + 1]
    buffers = [None, pa.py_buffer(offsets - offsets[0]), pa.py_buffer(data)]
    return pa.Array.from_buffers(to, len(values), buffers)
