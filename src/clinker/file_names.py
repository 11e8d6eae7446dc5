"""The names of files: what their ends say, where numbers go before them, how values are in them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal, TypeAlias

Compression: TypeAlias = Literal["none", "gzip", "bz2", "zstd"]

COMPRESSIONS: Mapping[str, Compression] = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""How files are compressed, by the last extension of their names."""

TEST_ENDS = ("_test.yaml", "_test.yml")
"""What the names of files end with that say what is expected of a pipeline."""


def compression_of(path: PurePath) -> Compression:
    """How a file of this name is compressed."""
    return COMPRESSIONS.get(path.suffix.lower(), "none")


def split_name(path: PurePath) -> tuple[str, str]:
    """The stem and the extension of a name; `.csv.gz` is one extension."""
    inner = PurePath(path.stem)
    if compression_of(path) == "none" or not inner.suffix:
        return path.stem, path.suffix
    return inner.stem, inner.suffix + path.suffix


NULL_PART, EMPTY_PART = "~null", "~empty"
"""What stands in a name for null and for a text without characters."""
_MARK = "~"
_SAFE = frozenset(" _-.,@+=()")
_UNSAFE_AT_BEGIN, _UNSAFE_AT_END = frozenset(" -."), frozenset(" .")
_LONGEST, _KEPT, _DIGEST_BYTES = 120, 60, 8


def name_part(value: str | None) -> str:
    """A value as a part of a file's name: no two values have the same one.

    Letters and digits of all scripts are as they are. What has a meaning to some system is written
    as `~` and its bytes, `a/b` as `a~2Fb`; of long values the beginning is left, and a digest.
    """
    if value is None:
        return NULL_PART
    if not value:
        return EMPTY_PART
    last = len(value) - 1
    part = "".join(_escape(char, at == 0, at == last) for at, char in enumerate(value))
    if len(part.encode()) <= _LONGEST:
        return part
    digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES)
    kept = part.encode()[:_KEPT].decode(errors="ignore").partition(_MARK)[0]
    return f"{kept}{_MARK}h{digest.hexdigest()}"


def _escape(char: str, is_first: bool, is_last: bool) -> str:
    unsafe_here = (is_first and char in _UNSAFE_AT_BEGIN) or (is_last and char in _UNSAFE_AT_END)
    is_plain = char in _SAFE or (char.isalnum() and unicodedata.is_normalized("NFC", char))
    if is_plain and not unsafe_here:
        return char
    return "".join(f"{_MARK}{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
