"""Files that a run leaves about itself: each appears whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def leave(file: Path, content: str) -> None:
    """Put a text in the place of a file.

    It names files and may quote records, so that it is for the same user only.
    """
    aside = _aside(file)
    try:
        with os.fdopen(_create(aside), "w", encoding="utf-8") as stream:
            stream.write(content)
        aside.replace(file)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def try_to_leave(file: Path) -> None:
    """Make the directory of a file; `OSError` if the file could not be put there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(file)
    os.close(_create(aside))
    aside.unlink()


def _aside(file: Path) -> Path:
    return file.with_name(f".{file.name}.{os.getpid()}.tmp")


def _create(file: Path) -> int:
    """A file that was not there before, so that nobody else has put a link in its place."""
    file.unlink(missing_ok=True)
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
