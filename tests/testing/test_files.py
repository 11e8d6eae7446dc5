"""Test files are found by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.testing.files import NotThere, find_test_files


def test_directories_are_searched_and_files_taken_as_they_are(tmp_path: Path) -> None:
    for name in ("b_test.yaml", "a_test.yml", "sub/c_test.yaml", ".venv/x_test.yaml", "d.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = find_test_files([tmp_path, tmp_path / "d.yaml", tmp_path / "b_test.yaml"])
    names = [str(path.relative_to(tmp_path)) for path in found]
    assert names == ["a_test.yml", "b_test.yaml", "sub/c_test.yaml", "d.yaml"]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotThere):
        find_test_files([tmp_path / "gone"])
