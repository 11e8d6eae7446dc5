"""The spool of a run: where it is, how large it may grow, and that nothing of it stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from clinker.engine.session.workspace import RunDirectory
from clinker.formats.files.spool import Spool
from clinker.plan.compile import Plan


@contextmanager
def run_spool(plan: Plan) -> Iterator[Spool]:
    """A spool on the disk for what is spilled, as long as it is needed.

    What a killed run leaves of it, the next one removes.
    """
    with ExitStack() as entered:

        def make_directory() -> Path:
            directory = RunDirectory(plan.storage.spill_dir)
            entered.callback(directory.remove)
            return directory.path

        yield Spool(make_directory, plan.storage.spill.disk_cap_bytes)
