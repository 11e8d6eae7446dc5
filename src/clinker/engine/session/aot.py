"""The ahead-of-time cache: Spark's classes loaded, linked and profiled before a run starts.

It belongs to one Java, one Spark and one choice of flags. A run without it is slower and nothing
else, so whatever is wrong with a cache is no error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from clinker.engine.session.java import Java

_FIRST = 25  # the first Java that trains and writes a cache in one go


def flags(java: Java, fixed: Sequence[str], spark: Path) -> list[str]:
    """The flags that use the cache, if there is one."""
    file = cache_file(java, fixed, spark)
    return [f"-XX:AOTCache={file}"] if file and file.is_file() else []


def training_flags(file: Path) -> list[str]:
    """The flags of a run that is watched, to write the cache when it ends."""
    return [f"-XX:AOTCacheOutput={file}"]


def cache_file(java: Java, fixed: Sequence[str], spark: Path) -> Path | None:
    """Where the cache for these is kept; none for a Java that cannot have one."""
    if java.major < _FIRST:
        return None
    identity = "\n".join([str(java.home), java.version, str(spark), *fixed])
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return cache_directory() / f"spark-{key}.aot"


def cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "clinker"
