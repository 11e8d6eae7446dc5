"""The ahead-of-time cache: Spark's classes loaded, linked and profiled before a run starts.

It belongs to one Java, one Spark and one choice of flags. A run without it is slower and nothing
else, so whatever is wrong with a cache is no error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from clinker.engine.session.java import Java

_TRAINING = "pipelines, unsigned jars"
"""What caches are made of, which changes whenever that does."""
_FIRST = 25  # the first Java that trains and writes a cache in one go


def flags(java: Java, fixed: Sequence[str], spark: Path) -> list[str]:
    """The flags that use the cache, if there is one."""
    file = cache_file(java, fixed, spark)
    if file is None or not file.is_file():
        return []
    # At the address it was written for, the cache is mapped; anywhere else it is copied.
    return ["-XX:ArchiveRelocationMode=0", f"-XX:AOTCache={file}"]


def is_missing(java: Java, fixed: Sequence[str], spark: Path) -> bool:
    """Whether there could be a cache, and is none."""
    file = cache_file(java, fixed, spark)
    return file is not None and not file.is_file()


def training_flags(file: Path) -> list[str]:
    """The flags of a run that is watched, to write the cache when it ends."""
    return [f"-XX:AOTCacheOutput={file}"]


def cache_file(java: Java, fixed: Sequence[str], spark: Path) -> Path | None:
    """Where the cache for these is kept; none for a Java that cannot have one, or without a place.

    The first part of the name tells one installation from another, the second its states.
    """
    place = cache_directory()
    if java.major < _FIRST or place is None:
        return None
    jars = spark / "jars"
    names = sorted(jar.name for jar in jars.iterdir())
    state = [_TRAINING, *names, str(jars.stat().st_mtime_ns), java.version, *fixed]
    return place / f"spark-{_digest(str(java.home), str(spark))}-{_digest(*state)}.aot"


def outdated(file: Path) -> Iterator[Path]:
    """What is left of earlier states of the same installation."""
    installation = file.stem.rpartition("-")[0]
    found = file.parent.glob(f"{installation}-*")
    return (other for other in found if not other.name.startswith(file.stem))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def cache_directory() -> Path | None:
    """None for users without a home, of whom the system knows nothing but a number."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "clinker"
    home = os.path.expanduser("~")  # noqa: PTH111, which raises for them
    return Path(home, ".cache", "clinker") if home != "~" else None
