"""What processes hold."""

from __future__ import annotations

import mmap
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinker.engine.session.usage import Usage, usage

MB = 1_000_000
HUNGRY = "x = bytearray(200_000_000); print(flush=True); input()"
FORKING = """
import os
x = bytearray(200_000_000)
child = os.fork()
if child:
    print(flush=True)
    input()
else:
    print(flush=True)
    os.read(0, 1)
"""


@contextmanager
def running(program: str, lines: int = 1) -> Iterator[int]:
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        for _ in range(lines):
            child.stdout.readline()
        yield child.pid
        child.communicate(b"\n\n")


def test_children_are_counted() -> None:
    before = usage()
    with running(HUNGRY):
        assert usage().held - before.held > 150 * MB
    assert usage().held - before.held < 100 * MB


def test_what_processes_share_counts_once() -> None:
    with running(FORKING, lines=2) as process:
        assert 190 * MB < usage(process).held < 300 * MB


def test_mapped_files_are_resident_and_not_held(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(bytes(100 * MB))
    before = usage()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[place] for place in range(0, 100 * MB, 4096)) == 0
        now = usage()
        assert now.resident - before.resident > 90 * MB
        assert now.held - before.held < 20 * MB


def test_a_process_that_is_gone_holds_nothing() -> None:
    with running(HUNGRY) as process:
        pass
    assert usage(process) == Usage()
