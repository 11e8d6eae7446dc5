"""Copies of Spark's signed jars without their signatures.

Java checks every class of a signed jar as it is loaded, and an ahead-of-time cache leaves such
classes out. A few of Spark's jars happen to be signed, with keys of which nobody knows anything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

_META = "META-INF"
_SIGNATURES = (".SF", ".DSA", ".RSA", ".EC")


def unsigned_copies(cache: Path) -> Mapping[str, Path]:
    """The copies that a cache was made with, by the names of the jars."""
    start = _start(cache)
    return {file.name.removeprefix(start): file for file in cache.parent.glob(f"{start}*.jar")}


def make_unsigned_copies(jars: Sequence[Path], cache: Path) -> None:
    """Copy those that are signed to where a cache will be; what is there already stays."""
    for jar in jars:
        copy = cache.with_name(f"{_start(cache)}{jar.name}")
        with ZipFile(jar) as signed:
            if any(map(_is_signature, signed.namelist())) and not copy.exists():
                _copy(signed, copy)


def _start(cache: Path) -> str:
    return f"{cache.stem}-"


def _copy(signed: ZipFile, file: Path) -> None:
    aside = file.with_suffix(f".{os.getpid()}")
    with ZipFile(aside, "w") as copy:
        for entry in signed.infolist():
            if not _is_signature(entry.filename):
                copy.writestr(entry, signed.read(entry))
    aside.replace(file)


def _is_signature(name: str) -> bool:
    path = PurePosixPath(name)
    return str(path.parent) == _META and path.suffix.upper() in _SIGNATURES
