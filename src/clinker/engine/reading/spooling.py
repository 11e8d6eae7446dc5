"""The spool of a run: where it is, how large it may grow, and that nothing of it stays behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from clinker.engine.session.workspace import RunDirectory
from clinker.formats.files.spool import Spool
from clinker.plan.compile import Plan


@contextmanager
def run_spool(plan: Plan, made: Callable[[Path], None] | None = None) -> Iterator[Spool]:
    """A spool on the disk for what is spilled, as long as it is needed.

    `made` is told its directory, should there be one. What a killed run leaves of it in a directory
    for spilled data, the next one removes.
    """
    with ExitStack() as entered:

        def make_directory() -> Path:
            directory = RunDirectory(plan.storage.own_spill_dir)
            entered.callback(directory.remove)
            if made:
                made(directory.path)
            return directory.path

        yield Spool(make_directory, plan.storage.spill.disk_cap_bytes)
