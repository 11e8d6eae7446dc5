"""Locks of staged sources."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from faults.dying import started

from clinker.formats.files.staging.locks import SourceLock, allow_locks


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[tuple[SourceLock, SourceLock]]:
    """The same lock, as two runs see it."""
    with ExitStack() as held:
        both = SourceLock(tmp_path / "lock"), SourceLock(tmp_path / "lock")
        for lock in both:
            held.callback(lock.release)
        yield both


def test_many_share_and_one_owns(locks: tuple[SourceLock, SourceLock]) -> None:
    first, second = locks
    assert first.share() and second.share()
    assert not first.own()  # and has nothing any more
    assert second.own()
    assert not first.share() and not first.own()
    assert second.share() and first.share()
    second.release()
    assert first.own()


def test_a_lock_is_private(tmp_path: Path, locks: tuple[SourceLock, SourceLock]) -> None:
    assert locks[0].share()
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


def test_a_removed_lock_protects_nothing(
    tmp_path: Path, locks: tuple[SourceLock, SourceLock]
) -> None:
    first, second = locks
    assert first.own()
    first.remove()
    assert not (tmp_path / "lock").exists()
    assert first.share() and (tmp_path / "lock").exists()
    # Another has removed it, and someone has made a new one.
    (tmp_path / "lock").unlink()
    assert second.own() and not first.own()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    lock = SourceLock(tmp_path / "lock")

    def hold() -> None:
        lock.own()
        os.write(writing, b".")
        signal.pause()

    process = started(hold)
    os.read(reading, 1)
    assert not lock.share()
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    assert lock.own()
    lock.release()


def test_locks_are_not_handed_to_other_programs(locks: tuple[SourceLock, SourceLock]) -> None:
    assert locks[0].own()
    descriptor = locks[0]._descriptor
    assert descriptor is not None and not os.get_inheritable(descriptor)


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        SourceLock(tmp_path / "lock").share()
    assert not (tmp_path / "other").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
def test_locks_of_other_users(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    os.chown(tmp_path / "lock", 12345, -1)
    with pytest.raises(PermissionError, match="another user stages the same file there"):
        SourceLock(tmp_path / "lock").share()


def test_as_many_locks_as_are_needed() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
    try:
        allow_locks(50)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 600
        allow_locks(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 612
        if hard != resource.RLIM_INFINITY:
            with pytest.raises(OSError, match=rf"of which the system allows {hard}") as caught:
                allow_locks(hard)
            assert caught.value.errno == errno.EMFILE
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
