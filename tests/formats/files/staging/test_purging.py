"""What killed runs have left in a staging directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clinker.formats.files.staging.locks import SourceLock
from clinker.formats.files.staging.purging import purge
from clinker.staged_copies import StagedCopy


@pytest.fixture
def copy(tmp_path: Path) -> StagedCopy:
    return StagedCopy.of(tmp_path, Path("/data/orders.csv"))


def names(directory: Path) -> list[str]:
    return sorted(path.name.partition(".")[2] for path in directory.iterdir())


@pytest.mark.parametrize(
    ("left", "removed", "kept"),
    [
        ([], 0, []),
        (["lock"], 1, []),
        (["staged"], 2, []),
        (["manifest.json", "lock"], 2, []),
        (["r-1.partial", "lock"], 2, []),
        (["r-1.partial", "r-2.partial"], 3, []),
        (["staged", "r-1.partial"], 3, []),
        (["staged", "manifest.json", "lock"], 0, ["lock", "manifest.json", "staged"]),
        (["staged", "manifest.json"], 0, ["manifest.json", "staged"]),
        (["staged", "manifest.json", "r-1.partial"], 1, ["lock", "manifest.json", "staged"]),
    ],
)
def test_what_is_of_no_use_goes(
    tmp_path: Path, copy: StagedCopy, left: list[str], removed: int, kept: list[str]
) -> None:
    for name in left:
        (tmp_path / f"{copy.id}.{name}").touch()
    assert purge(tmp_path) == removed
    assert names(tmp_path) == kept
    assert purge(tmp_path) == 0


@pytest.mark.parametrize("name", ["lock", "staged", "manifest.json", "r-1.partial"])
@pytest.mark.parametrize("alone", [True, False])
def test_what_belongs_to_a_living_run_stays(
    tmp_path: Path, copy: StagedCopy, name: str, alone: bool
) -> None:
    (tmp_path / f"{copy.id}.{name}").touch()
    lock = SourceLock(copy.lock)
    assert lock.own() if alone else lock.share()
    assert purge(tmp_path) == 0
    assert names(tmp_path) == sorted({name, "lock"})
    lock.release()
    assert purge(tmp_path) == len({name, "lock"})


def test_what_others_have_put_there_stays(tmp_path: Path, copy: StagedCopy) -> None:
    others = ["orders.csv", "x.staged", f"{copy.id}.csv", f"{copy.id}.staged.old", "0.partial"]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / f"{copy.id}.staged").mkdir()
    assert purge(tmp_path) == 0
    left = {path.name for path in tmp_path.iterdir()} - {copy.lock.name}
    assert left == {*others, copy.path.name}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
def test_what_another_user_stages_stays(tmp_path: Path, copy: StagedCopy) -> None:
    for path in (copy.path, copy.lock):
        path.touch()
        os.chown(path, 12345, -1)
    assert purge(tmp_path) == 0
    assert names(tmp_path) == ["lock", "staged"]
