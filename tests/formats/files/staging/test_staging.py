"""What becomes of sources that runs stage, one after the other and at the same time."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.staging import CapExceeded, CopyExists, Rules
from clinker.staged_copies import StagedCopy
from tests.formats.files.staging.staged import Events, Run, kinds, run, sources

REUSE = Rules(on_existing="reuse", cleanup="never")
OVERWRITE = Rules(on_existing="overwrite", cleanup="never")
COPIED = ["copying", "verifying", "copied 900"]
PAIR = ["lock", "manifest.json", "staged"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (path,) = sources(tmp_path, ["order.csv"])
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "staged"
    path.mkdir()
    return path


# Copies of earlier runs


def test_overwrite_copies_again(source: Path, directory: Path) -> None:
    assert run(directory, source, rules=OVERWRITE) == COPIED
    assert run(directory, source, rules=OVERWRITE) == COPIED
    assert kinds(directory) == PAIR


def test_reuse_copies_once(source: Path, directory: Path) -> None:
    assert run(directory, source, rules=REUSE) == COPIED
    assert run(directory, source, rules=REUSE) == ["reused"]
    source.write_bytes(b"other")
    assert run(directory, source, rules=REUSE)[-1] == "copied 5"
    assert run(directory, source, rules=REUSE) == ["reused"]


def test_reuse_does_not_trust_a_copy_that_was_touched(source: Path, directory: Path) -> None:
    run(directory, source, rules=REUSE)
    copy = StagedCopy.of(directory, source)
    copy.path.write_bytes(source.read_bytes().replace(b"order", b"hacks"))
    assert run(directory, source, rules=REUSE) == COPIED
    copy.manifest.write_bytes(b"{}")
    assert run(directory, source, rules=REUSE) == COPIED


def test_error_touches_no_copy(source: Path, directory: Path) -> None:
    rules = Rules(on_existing="error", cleanup="always")
    assert run(directory, source, rules=rules) == COPIED
    assert run(directory, source, rules=REUSE) == COPIED
    with pytest.raises(CopyExists) as refused:
        run(directory, source, rules=rules)
    copy = StagedCopy.of(directory, source)
    assert (refused.value.source, refused.value.copy) == (source, copy.path)
    assert copy.is_fresh(source)


# The end of a run


@pytest.mark.parametrize(
    ("cleanup", "ok", "left"),
    [
        ("on_success", True, []),
        ("on_success", False, PAIR),
        ("always", True, []),
        ("always", False, []),
        ("never", True, PAIR),
        ("never", False, PAIR),
    ],
)
@pytest.mark.parametrize("is_reused", [True, False])
def test_cleanup(
    source: Path,
    directory: Path,
    cleanup: Literal["on_success", "always", "never"],
    ok: bool,
    left: list[str],
    is_reused: bool,
) -> None:
    if is_reused:
        run(directory, source, rules=REUSE)
    run(directory, source, rules=Rules(on_existing="reuse", cleanup=cleanup), ok=ok)
    assert kinds(directory) == left


def test_the_last_reader_removes_a_copy(source: Path, directory: Path) -> None:
    rules = Rules(on_existing="reuse")
    first, second = Run(directory, rules), Run(directory, rules)
    (copy,) = first.hold(source)
    assert second.hold(source) == [copy] and second.events.seen == ["reused"]
    first.end()
    assert copy.read_bytes() == source.read_bytes()
    second.end()
    assert kinds(directory) == []


def test_a_failed_run_keeps_no_lock_of_nothing(tmp_path: Path, directory: Path) -> None:
    begun = Run(directory)
    with pytest.raises(FormatError):
        begun.hold(*sources(tmp_path, ["a", "b"]), tmp_path / "missing")
    begun.end(succeeded=False)
    assert sorted({*kinds(directory)} - {*PAIR}) == []
    assert kinds(directory).count("lock") == kinds(directory).count("staged")


def test_a_run_without_sources_removes_what_others_have_left(directory: Path) -> None:
    (directory / f"{'0' * 64}.staged").touch()
    assert run(directory) == ["purged 2"]
    assert kinds(directory) == []
    assert run(directory) == run(directory / "missing") == []


# Several sources


def test_one_content_under_two_names(tmp_path: Path, directory: Path) -> None:
    one, two = sources(tmp_path, ["a.csv", "b.csv"])
    two.write_bytes(one.read_bytes())
    assert run(directory, one, two, rules=REUSE) == 2 * ["copying", "verifying", "copied 500"]
    assert kinds(directory) == sorted(2 * PAIR)


def test_one_source_under_two_names(tmp_path: Path, source: Path, directory: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(source)
    begun = Run(directory)
    assert len(set(begun.hold(source, link))) == 1
    assert begun.hold(link)[0].read_bytes() == source.read_bytes()
    assert begun.events.seen == COPIED
    begun.end()


@pytest.mark.parametrize(
    "name", ["it's", '"', "$(x)", "${HOME}", "new\nline", "\x1b[1m", "-f", "*", "\udcff.csv"]
)
def test_names_of_all_kinds(tmp_path: Path, directory: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / name
    path.write_bytes(b"content")
    assert run(directory, path, rules=REUSE)[-1] == "copied 7"
    assert run(directory, path, rules=REUSE) == ["reused"]


def test_the_cap_counts_what_a_run_copies(tmp_path: Path, directory: Path) -> None:
    paths = sources(tmp_path, ["a", "b", "c"])
    rules = Rules(on_existing="reuse", cleanup="never", most=299)
    with pytest.raises(CapExceeded) as refused:
        run(directory, *paths, rules=rules)
    assert (refused.value.size, refused.value.copied) == (100, 200)
    # What is there already costs nothing.
    assert sorted(run(directory, *paths, rules=rules)) == sorted(
        ["reused", "reused", "copying", "verifying", "copied 100"]
    )
    with pytest.raises(CapExceeded):
        run(directory, paths[0], rules=Rules(most=99))
    assert kinds(directory) == sorted(3 * PAIR)


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_more_sources_than_files_may_be_open(tmp_path: Path, directory: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_open_files() + 20, hard))
    try:
        (tmp_path / "in").mkdir()
        paths = sources(tmp_path / "in", map(str, range(60)))
        assert run(directory, *paths, rules=Rules(verifies=False))[-1].startswith("copied")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert kinds(directory) == []


# Several runs at once


class Other:
    """Another run, in a thread of its own."""

    def __init__(self, directory: Path, source: Path, rules: Rules) -> None:
        self._waits = threading.Event()
        self.run = Run(directory, rules, Events(then={"waiting": self._waits.set}))
        self.copies: list[Path] = []
        self._thread = threading.Thread(target=self._hold, args=[source])

    def _hold(self, source: Path) -> None:
        self.copies = self.run.hold(source)

    def start_and_wait(self) -> None:
        """Until it has to wait for someone."""
        self._thread.start()
        assert self._waits.wait(60)

    def finish(self) -> list[str]:
        self._thread.join(60)
        return self.run.events.seen


@pytest.fixture
def events() -> Iterator[Events]:
    yield Events()


@pytest.mark.parametrize("on_existing", ["overwrite", "reuse", "error"])
def test_runs_that_ask_while_another_copies_share_its_copy(
    source: Path,
    directory: Path,
    events: Events,
    on_existing: Literal["overwrite", "reuse", "error"],
) -> None:
    rules = Rules(on_existing=on_existing)
    other = Other(directory, source, rules)
    events.then["verifying"] = other.start_and_wait
    first = Run(directory, rules, events)
    copies = first.hold(source)
    assert other.finish() == ["waiting", "reused"]
    assert other.copies == copies
    first.end()
    other.run.end()
    assert kinds(directory) == []


def test_if_another_fails_to_copy_a_waiting_run_does(
    source: Path, directory: Path, events: Events
) -> None:
    other = Other(directory, source, Rules())

    def fail() -> None:
        other.start_and_wait()
        raise KeyboardInterrupt

    events.then["verifying"] = fail
    first = Run(directory, Rules(), events)
    with pytest.raises(KeyboardInterrupt):
        first.hold(source)
    first.end(succeeded=False)
    assert other.finish() == ["waiting", *COPIED]
    other.run.end()
    assert kinds(directory) == []


def test_overwriting_waits_for_readers(source: Path, directory: Path) -> None:
    reader = Run(directory, OVERWRITE)
    (copy,) = reader.hold(source)
    other = Other(directory, source, OVERWRITE)
    other.start_and_wait()
    written = copy.stat().st_mtime_ns
    assert copy.read_bytes() == source.read_bytes()
    reader.end()
    assert other.finish() == ["waiting", *COPIED]
    assert copy.stat().st_mtime_ns != written
    other.run.end()


def test_runs_that_stage_the_same_sources_do_not_wait_for_each_other_forever(
    tmp_path: Path, directory: Path
) -> None:
    paths = sources(tmp_path, map(str, range(8)))

    def stage(order: list[Path]) -> None:
        for _ in range(5):
            run(directory, *order)

    threads = [
        threading.Thread(target=stage, args=[order]) for order in (paths, paths[::-1], paths[4:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert kinds(directory) == []
