"""The names of split files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.files.split_names import find_split_files, split_path


@pytest.mark.parametrize(
    ("path", "naming", "name"),
    [
        ("out/report.csv", "{stem}_{seq:04}.{ext}", "out/report_0007.csv"),
        ("out/report.csv", "employees_{seq:03}.csv", "out/employees_007.csv"),
        ("out/report.csv", "{seq}", "out/7"),
        ("out/report.csv", "{{{seq:2}}}", "out/{07}"),
        ("out/report", "{stem}-{seq:1}.{ext}", "out/report-7.dat"),
        ("report.tar.gz", "{stem}-{seq:1}.{ext}", "report-7.tar.gz"),
        ("report.csv", "{seq:02}/{stem}.{ext}", "07/report.csv"),
    ],
)
def test_names(path: str, naming: str, name: str) -> None:
    assert split_path(Path(path), naming, 7) == Path(name)


def test_a_number_may_be_longer_than_its_width() -> None:
    assert split_path(Path("a.csv"), "{seq:02}", 123) == Path("123")


def test_files_of_an_earlier_run(tmp_path: Path) -> None:
    for name in ("r_0001.csv", "r_0012.csv", "r_12345.csv", "r_00001.csv", "r_x.csv", "r_0001.txt"):
        (tmp_path / name).touch()
    found = find_split_files(tmp_path / "r.csv", "{stem}_{seq:04}.{ext}")
    assert [file.name for file in found] == ["r_0001.csv", "r_0012.csv", "r_12345.csv"]
    assert not list(find_split_files(tmp_path / "none" / "r.csv", "{stem}_{seq:04}.{ext}"))


def test_names_are_taken_literally(tmp_path: Path) -> None:
    for name in ("a[1]*.csv-1", "a1.csv-1"):
        (tmp_path / name).touch()
    found = list(find_split_files(tmp_path / "a[1]*.csv", "{stem}.{ext}-{seq}"))
    assert found == [tmp_path / "a[1]*.csv-1"]
