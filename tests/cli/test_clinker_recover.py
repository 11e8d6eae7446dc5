"""`clinker recover`"""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.commits import BEFORE, RUN, content, half_committed

from clinker.cli.clinker import main
from clinker.formats.files.marks import mark_in

PIPELINE = """
pipeline: { name: p }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - { type: output, name: a, input: rows, config: { type: csv, path: "out/a.csv" } }
  - type: output
    name: b
    input: rows
    config: { type: csv, path: "days/{timestamp}/b.csv" }
error_handling: { dlq: { path: letters/rejected.csv } }
"""


@pytest.fixture(autouse=True)
def own_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


def test_a_directory_and_all_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = half_committed(tmp_path / "runs")
    assert main(["recover", str(place)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(
        f"run {RUN}, which was killed while it put its files in place, is undone: "
        f"'{place}/out/a.csv', '{place}/out/b.csv'"
    )
    assert content(place) == BEFORE
    assert main(["recover", str(place)]) == 0
    assert capsys.readouterr().out == "nothing to recover\n"
    assert main(["recover", "--quiet", str(place)]) == 0
    assert capsys.readouterr().out == ""


def test_the_directories_of_a_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    left = (".", "out", "letters", "days", "days/2024-01-15T06-00-00Z", "elsewhere")
    for name in left:
        (tmp_path / name).mkdir(exist_ok=True)
        mark_in(tmp_path / name, RUN).touch()
        (tmp_path / name / f".clinker-{RUN}-1.tmp").touch()
    assert main(["recover", str(tmp_path / "p.yaml")]) == 0
    assert capsys.readouterr().out.count("removed a file that run") == 5
    assert sorted(content(tmp_path)) == [
        f"elsewhere/.clinker-{RUN}-1.tmp",
        f"elsewhere/.clinker-{RUN}.run",
        "p.yaml",
    ]


def test_what_is_left_alone_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    mark_in(tmp_path / "out", RUN).write_text("../first")
    assert main(["recover", str(tmp_path)]) == 4
    assert "which it wrote to first, is not there" in capsys.readouterr().err
    assert main(["recover", "--force", str(tmp_path)]) == 0
    assert content(tmp_path) == {}


def test_a_pipeline_that_does_not_compile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text("nodes: []")
    assert main(["recover", str(tmp_path / "p.yaml")]) == 1
    assert main(["recover", str(tmp_path / "nowhere")]) == 4
