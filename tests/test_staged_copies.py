"""Staged copies: their names, and which of them are trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clinker.staged_copies import Manifest, StagedCopy

NAMES = ["a b", "it's", '"q"', "`id`", "${HOME}", "new\nline", "-rf", "\x1b[31m", "ü", "x" * 200]


def staged(directory: Path, **changes: object) -> StagedCopy:
    """A copy of `source.csv` with its manifest, of which some fields are otherwise."""
    source = directory / "source.csv"
    source.write_bytes(b"id\n1\n")
    copy = StagedCopy.of(directory, source)
    copy.path.write_bytes(b"id\n1\n")
    fields = {
        "source": str(source),
        "size": 5,
        "mtime_ns": source.stat().st_mtime_ns,
        "blake3": "0" * 64,
        "copy_mtime_ns": copy.path.stat().st_mtime_ns,
        "staged_at": "2024-01-01T00:00:00.000+00:00",
        "run": "r",
        "version": 1,
    }
    copy.manifest.write_text(json.dumps(fields | changes))
    return copy


def test_a_copy_is_called_after_the_canonical_path(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.link(tmp_path / "a", tmp_path / "hard")
    copy = StagedCopy.of(Path("/stage"), tmp_path / "a")
    assert copy.path.parent == Path("/stage")
    assert copy == StagedCopy.of(Path("/stage"), tmp_path / "link")
    assert copy == StagedCopy.of(Path("/stage"), tmp_path / "b" / ".." / "a")
    assert copy != StagedCopy.of(Path("/stage"), tmp_path / "hard")


@pytest.mark.parametrize("name", NAMES)
def test_names_of_sources_do_not_show_in_those_of_copies(name: str) -> None:
    copy = StagedCopy.of(Path("/stage"), Path("/data") / name)
    for path in (copy.path, copy.manifest, copy.lock, copy.partial("r")):
        assert path.parent == Path("/stage")
        assert path.name.isascii() and path.name.partition(".")[0].isalnum()


def test_names_that_are_no_text(tmp_path: Path) -> None:
    source = tmp_path / os.fsdecode(b"\xff.csv")
    manifest = Manifest(
        source=str(source),
        size=1,
        mtime_ns=2,
        blake3="",
        copy_mtime_ns=3,
        staged_at="",
        run="",
    )
    copy = StagedCopy.of(tmp_path, source)
    copy.path.write_bytes(b"x")
    os.utime(copy.path, ns=(3, 3))
    copy.manifest.write_bytes(manifest.as_json())
    assert copy.committed() == manifest


def test_a_whole_copy_is_trusted(tmp_path: Path) -> None:
    copy = staged(tmp_path)
    manifest = copy.committed()
    assert manifest and manifest.size == 5
    assert list(copy.leftovers()) == [copy.manifest, copy.path]
    assert copy.is_fresh(tmp_path / "source.csv")
    assert not copy.is_fresh(tmp_path / "gone.csv")


def test_a_source_that_has_changed_makes_its_copy_stale(tmp_path: Path) -> None:
    copy, source = staged(tmp_path), tmp_path / "source.csv"
    before = source.stat().st_mtime_ns
    os.utime(source, ns=(before, before + 1))
    assert copy.committed() and not copy.is_fresh(source)
    source.write_bytes(b"longer than before")
    os.utime(source, ns=(before, before))
    assert not copy.is_fresh(source)


@pytest.mark.parametrize(
    "changes", [{"version": 2}, {"size": 6}, {"size": "5"}, {"copy_mtime_ns": 0}, {"more": 1}]
)
def test_manifests_that_do_not_fit(tmp_path: Path, changes: dict[str, object]) -> None:
    assert staged(tmp_path, **changes).committed() is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"version": 1}', "[" * 60_000, '{"a":' * 9_000, "\0"]
)
def test_damaged_manifests(tmp_path: Path, content: str) -> None:
    copy = staged(tmp_path)
    copy.manifest.write_text(content)
    assert copy.committed() is None


def test_half_a_copy_is_none(tmp_path: Path) -> None:
    copy = staged(tmp_path)
    copy.path.unlink()
    assert copy.committed() is None
    copy = staged(tmp_path)
    copy.manifest.unlink()
    assert copy.committed() is None


def test_links_and_pipes_are_no_copies(tmp_path: Path) -> None:
    copy = staged(tmp_path)
    copy.manifest.rename(tmp_path / "elsewhere")
    copy.manifest.symlink_to(tmp_path / "elsewhere")
    assert copy.committed() is None
    copy.manifest.unlink()
    os.mkfifo(copy.manifest)
    assert copy.committed() is None
    copy.manifest.unlink()
    copy = staged(tmp_path)
    copy.path.rename(tmp_path / "elsewhere")
    copy.path.symlink_to(tmp_path / "elsewhere")
    assert copy.committed() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
@pytest.mark.parametrize("name", ["path", "manifest"])
def test_files_of_other_users_are_not_trusted(tmp_path: Path, name: str) -> None:
    copy = staged(tmp_path)
    os.chown(getattr(copy, name), 12345, -1)
    assert copy.committed() is None
