"""The ends of file names: what they say of a file, and where numbers go before them."""

from __future__ import annotations

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
