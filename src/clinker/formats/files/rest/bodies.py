"""Bodies of answers, unpacked piece by piece: a few bytes may stand for very many."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

_PIECE_BYTES = 1 << 20
_GZIP, _ZLIB, _BARE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS

ACCEPTED = "gzip, deflate"
"""The encodings that are understood, as a request lists them."""


class BodyError(Exception):
    """A body that is not what the answer says it is."""


def unpack_body(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The body of an answer in pieces of limited size, by its `Content-Encoding`."""
    for name in reversed([word.strip().lower() for word in encoding.split(",")]):
        if name in ("gzip", "x-gzip", "deflate"):
            chunks = _inflate(chunks, is_gzip="gzip" in name)
        elif name not in ("", "identity"):
            raise BodyError(f"is encoded as '{name}', which was not asked for")
    yield from chunks


def _inflate(chunks: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    inflater: zlib._Decompress | None = None
    for chunk in chunks:
        data = chunk
        while data:
            if inflater is None:
                inflater = zlib.decompressobj(_GZIP if is_gzip else _wrapping(data))
            try:
                piece = inflater.decompress(data, _PIECE_BYTES)
            except zlib.error:
                raise BodyError("is compressed, but damaged") from None
            if piece:
                yield piece
            data = inflater.unconsumed_tail
            if inflater.eof:
                data, inflater = inflater.unused_data, None
    if inflater is not None:
        if rest := inflater.flush():
            yield rest
        if not inflater.eof:
            raise BodyError("is compressed, but ends too early")


def _wrapping(data: bytes) -> int:
    """Whether what is called deflate has the wrapping that it should have; some servers differ."""
    return _ZLIB if data[0] & 0x0F == 8 and data[0] >> 4 <= 7 else _BARE
