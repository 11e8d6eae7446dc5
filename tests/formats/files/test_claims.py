"""Claims: two runs never write the same file at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clinker.formats.files.claims import Claimant, Claims, Conflict
from clinker.formats.files.marks import Marks
from clinker.formats.files.recovery import recover

_HOLDER = """\
import sys
from pathlib import Path
from clinker.formats.files.claims import Claimant, Claims
from clinker.formats.files.marks import Marks

run_id, *paths = sys.argv[1:]
marks = Marks(run_id)
paths = [Path(path) for path in paths]
claimant = Claimant(run_id=run_id, batch_id="b", process=1, host="h", started="s")
conflict = Claims(marks, claimant).make(paths, [path.parent for path in paths])
print("conflict" if conflict else "claimed", flush=True)
sys.stdin.read()
marks.remove()
"""


class Run:
    """A run in this process."""

    def __init__(self, run_id: str = "me") -> None:
        self.marks = Marks(run_id)
        self._claims = Claims(
            self.marks, Claimant(run_id=run_id, batch_id="", process=0, host="", started="")
        )

    def claim(self, *paths: Path, places: Sequence[Path] = ()) -> Conflict | None:
        return self._claims.make(paths, [*places, *(path.parent for path in paths)])


@contextmanager
def holder(*paths: Path, run_id: str = "other") -> Iterator[subprocess.Popen[str]]:
    """Another process with a claim on files."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, run_id, *map(str, paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "claimed\n"
    try:
        yield process
    finally:
        process.communicate(timeout=20)


def test_a_file_is_claimed_by_one_run_at_a_time(tmp_path: Path) -> None:
    file, run = tmp_path / "out.csv", Run()
    with holder(file) as other:
        conflict = run.claim(tmp_path / "mine.csv", file)
        assert conflict
        assert (conflict.path, conflict.claimant.batch_id) == (file, "b")
        assert other.poll() is None
    assert run.claim(file) is None
    run.marks.remove()
    assert [*tmp_path.iterdir()] == []


def test_other_files_of_the_same_directory_are_free(tmp_path: Path) -> None:
    run = Run()
    with holder(tmp_path / "theirs.csv"):
        assert run.claim(tmp_path / "mine.csv") is None
    run.marks.remove()
    assert [*tmp_path.iterdir()] == []


def test_a_claim_ends_with_the_process_that_made_it(tmp_path: Path) -> None:
    file, run = tmp_path / "out.csv", Run()
    with holder(file) as other:
        assert run.claim(file)
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert run.claim(file) is None
    recover([tmp_path])
    run.marks.remove()
    assert [*tmp_path.iterdir()] == []


def test_a_directory_that_does_not_exist_yet(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "out.csv"
    with holder(file):
        assert Run().claim(file)
        file.parent.mkdir(parents=True)
        assert Run("me2").claim(file, places=[tmp_path])


def test_a_link_leads_to_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    with holder(tmp_path / "there" / "out.csv"):
        assert Run().claim(tmp_path / "link" / "out.csv")


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    for name in ("real", "one", "two"):
        (tmp_path / name).mkdir()
    for name in ("one", "two"):
        (tmp_path / name / "out.csv").symlink_to(tmp_path / "real" / "out.csv")
    with holder(tmp_path / "one" / "out.csv"):
        assert Run().claim(tmp_path / "one" / "out.csv")
        assert Run().claim(tmp_path / "two" / "out.csv")
        assert Run().claim(tmp_path / "real" / "out.csv")


def test_names_may_be_any_bytes(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff\n'$(x)")
    with holder(file):
        assert Run().claim(file)


def test_a_run_may_claim_more_later(tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    run = Run()
    assert run.claim(first) is None
    assert run.claim(first, second) is None
    assert Run("other").claim(second)
    # Who does not get all of it lets go of what it had, so that nobody waits for each other.
    with holder(tmp_path / "3.csv"):
        assert run.claim(first, tmp_path / "3.csv")
        assert Run("another").claim(first) is None


def test_many_that_begin_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER]
    processes = [
        subprocess.Popen(
            [*command, f"run{n}", str(tmp_path / "out.csv")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(6)
    ]
    answers = [process.stdout.readline() for process in processes if process.stdout]
    for process in processes:
        process.communicate(timeout=20)
    assert sorted(answers) == ["claimed\n", *["conflict\n"] * 5]
