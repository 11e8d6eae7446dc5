"""Where the report of a run goes, and that there is one whatever becomes of the run."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clinker.cli.clinker import main

PIPELINE = """\
pipeline: { name: shop }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: [{ name: id, type: int }] }
  - { type: output, name: out, input: orders, config: { type: csv, path: out.csv } }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline whose input is missing, so that nothing of it is read or computed."""
    (tmp_path / "p.yaml").write_text(PIPELINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options: str) -> int:
    return main(["run", "p.yaml", *options])


def test_a_run_that_fails_leaves_a_report_for_its_owner_only(folder: Path) -> None:
    assert run("--report", "reports/new/run.html") == 4
    file = folder / "reports/new/run.html"
    page = file.read_text()
    assert "exit code 4: nothing was written" in page
    assert "does not exist" in page
    assert "What went wrong" in page
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["run.html"]


def test_a_pipeline_with_mistakes_leaves_a_report(folder: Path) -> None:
    (folder / "p.yaml").write_text(PIPELINE.replace("type: int", "type: itn"))
    assert run("--report", "run.html") == 1
    page = (folder / "run.html").read_text()
    assert "exit code 1: nothing was written" in page
    assert "error E014" in page


def test_an_interrupted_run_leaves_a_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    (folder / "orders.csv").write_text("id\n1\n")
    monkeypatch.setattr("clinker.cli.execution.check_start", interrupt)
    assert run("--report", "run.html") == 130
    assert "Interrupted</strong>" in (folder / "run.html").read_text()


def test_the_id_of_the_run_is_its_name_in_a_directory(folder: Path) -> None:
    (folder / "there").mkdir()
    assert run("--report", "there", "--metrics-spool-dir", "spool") == 4
    assert run("--report", "new/", "--metrics-spool-dir", "spool") == 4
    named = {file.stem for name in ("there", "new") for file in (folder / name).iterdir()}
    assert named == {file.stem for file in (folder / "spool").iterdir()}


def test_the_environment_may_ask_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINKER_REPORT", "reports/")
    assert run() == 4
    assert len(list((folder / "reports").iterdir())) == 1
    (folder / "orders.csv").write_text("id\n1\n")
    assert run("--dry-run") == 0  # which has nothing to report
    assert len(list((folder / "reports").iterdir())) == 1


@pytest.mark.parametrize("option", [("--dry-run",), ("-n", "3"), ("--explain", "text")])
def test_without_a_run_there_is_nothing_to_report(
    folder: Path, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*option, "--report", "run.html") == 64
    assert "--report tells what a run has done" in capsys.readouterr().err
    assert not (folder / "run.html").exists()


def test_a_report_replaces_a_report(folder: Path) -> None:
    (folder / "run.html").touch()
    for batch in ("first", "second"):
        assert run("--report", "run.html", "--batch-id", batch) == 4
        assert f"<code>{batch}</code>" in (folder / "run.html").read_text()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("p.yaml", "'p.yaml' exists and is no report of a run"),
        ("./out.csv", "'out.csv' is the file of output 'out'"),
        ("p.yaml/run.html", "'p.yaml/run.html' cannot be written: Not a directory"),
        ("/dev/null", "'/dev/null' exists and is no report of a run"),
        ("a\0b", "cannot be written: this is no name of a file"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_a_file_that_cannot_be_is_told_before_anything_is_read(
    folder: Path, target: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--report", target) == 4
    said = capsys.readouterr().err
    assert message in said
    assert "does not exist" not in said  # of the input nobody has heard
    assert (folder / "p.yaml").read_text() == PIPELINE
    assert [file.name for file in folder.iterdir()] == ["p.yaml"]


def test_a_mistake_of_ours_in_the_page_changes_nothing_about_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("defect")

    monkeypatch.setattr("clinker.engine.report.as_html.report_page", fail)
    monkeypatch.setattr("clinker.cli.execution.metrics", fail)
    assert run("--report", "run.html", "--metrics-spool-dir", "spool") == 4
    said = capsys.readouterr().err
    assert "warn: the metrics are missing: internal error: KeyError: 'defect'; this is a" in said
    assert "warn: there is no report: 'run.html': internal error: KeyError: 'defect'; this" in said
    assert "Traceback" not in said
    assert run("--report", "run.html", "--log-level", "debug") == 4
    assert "in fail" in capsys.readouterr().err


def test_what_takes_its_place_meanwhile_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(*_: object) -> None:
        (folder / "run.html").write_text("mine")
        raise KeyError("defect")

    (folder / "orders.csv").write_text("id\n1\n")
    monkeypatch.setattr("clinker.cli.execution.check_start", write)
    assert run("--report", "run.html") == 70
    assert "warn: there is no report: 'run.html' exists" in capsys.readouterr().err
    assert (folder / "run.html").read_text() == "mine"
