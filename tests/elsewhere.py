"""A directory on another device than the files of tests, as staging needs one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_CANDIDATES = (Path("/dev/shm"), Path("/var/tmp"), Path.home())


@contextmanager
def on_another_device(place: Path) -> Iterator[Path]:
    for candidate in _CANDIDATES:
        if candidate.is_dir() and candidate.stat().st_dev != place.stat().st_dev:
            with tempfile.TemporaryDirectory(prefix="clinker-test-", dir=candidate) as directory:
                yield Path(directory)
            return
    pytest.skip("there is no other device to write to")
