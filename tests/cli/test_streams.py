"""Standard streams that are closed, or that nothing can be written to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.smallest import DATA, lay_out

CLINKER = str(Path(sys.executable).with_name("clinker"))
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this machine has no /dev/full")


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    ("words", "code"), [("clinker explain --code E200", 4), ("cxl functions", 2)]
)
@needs_full
def test_an_answer_that_cannot_be_written_is_an_error(
    words: str, code: int, buffered: bool
) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    program, *options = words.split(" ")
    command = [str(Path(CLINKER).with_name(program)), *options]
    with FULL.open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == code
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"


@needs_full
def test_a_run_does_not_fail_since_nobody_hears_of_it(tmp_path: Path) -> None:
    lay_out(tmp_path)
    command = [CLINKER, "run", "p.yaml", "--force", "--log-level", "debug"]
    with FULL.open("wb") as full:
        for stream in ("stdout", "stderr"):
            others = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
            done = subprocess.run(command, cwd=tmp_path, **others)  # type: ignore[call-overload]
            assert done.returncode == 0, done
            assert (tmp_path / "o.csv").read_text() == DATA
            if stream == "stdout":
                assert done.stderr.endswith(
                    b" warn: cannot write to standard output: No space left on device\n"
                )


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "<&- 1>&- 2>&-"])
def test_closed_streams_are_no_places_for_files_to_appear_at(closed: str) -> None:
    command = f'"{CLINKER}" explain --code E200 {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(done.stdout) == ("1>&-" not in closed)
