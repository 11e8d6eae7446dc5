"""Files that a run leaves about itself."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from clinker.engine.report.leaving import leave, try_to_leave


def test_a_file_is_for_its_owner_only_and_replaces_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "left"
    file.write_text("earlier")
    leave(file, "now é")
    assert file.read_bytes() == "now é".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [*tmp_path.iterdir()] == [file]


def test_nothing_is_written_through_a_link_that_others_have_laid(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    file = tmp_path / "left"
    aside = tmp_path / f".left.{os.getpid()}.tmp"
    aside.symlink_to(precious)
    try_to_leave(file)
    aside.symlink_to(precious)
    leave(file, "now")
    assert (precious.read_text(), file.read_text()) == ("precious", "now")


def test_what_cannot_be_left_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        try_to_leave(tmp_path / "file/left")
    try_to_leave(tmp_path / "new/left")
    assert not [*(tmp_path / "new").iterdir()]
