"""Runs that fail, and the metrics they leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinker.cli.clinker import main

PIPELINE = """\
pipeline:
  name: customer_etl
  metrics: { spool_dir: spool }
nodes:
  - type: source
    name: customers
    config: { type: csv, path: customers.csv, schema: [{ name: id, type: int }] }
  - type: output
    name: result
    input: customers
    config: { type: csv, path: result.csv }
"""


def test_runs_of_one_batch_leave_a_file_each(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    for _ in range(2):
        assert main(["run", str(tmp_path / "p.yaml"), "--batch-id", "daily/1"]) == 4
    files = list((tmp_path / "spool").iterdir())
    found = [json.loads(file.read_bytes()) for file in files]
    assert [each["batch_id"] for each in found] == ["daily/1", "daily/1"]
    ids = [each["execution_id"] for each in found]
    assert [file.stem for file in files] == ids
    assert len(set(ids)) == 2


def test_a_mistake_of_ours_is_told_and_leaves_metrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "customers.csv").write_text("id\n1\n")

    def fail(*_: object) -> None:
        raise KeyError("a mistake\nof ours")

    monkeypatch.setattr("clinker.cli.execution.check_start", fail)
    assert main(["run", str(tmp_path / "p.yaml")]) == 70
    message = r"internal error: KeyError: 'a mistake\nof ours'; nothing was written"
    assert capsys.readouterr().err == (
        f"error: {message}\n"
        "  help: this is a defect of clinker; please report it; "
        "run again with --log-level debug to see where it is\n"
    )
    [file] = (tmp_path / "spool").iterdir()
    found = json.loads(file.read_bytes())
    assert (found["exit_code"], found["error"]) == (70, message)
    assert not (tmp_path / "result.csv").exists()
    assert main(["run", str(tmp_path / "p.yaml"), "--log-level", "debug"]) == 70
    assert "in fail" in capsys.readouterr().err


def test_a_run_that_fails_leaves_metrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    code = main(["run", str(tmp_path / "p.yaml")])
    assert code == 4
    assert "error[E216]: 'customers.csv' does not exist" in capsys.readouterr().err
    [file] = (tmp_path / "spool").iterdir()
    found = json.loads(file.read_bytes())
    assert file.name == f"{found['execution_id']}.json"
    assert found["exit_code"] == 4
    assert found["error"] == "'customers.csv' does not exist"
    assert found["records_total"] == 0
    assert found["peak_rss_bytes"] > 0


def test_metrics_that_cannot_be_written_are_only_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "spool").write_text("not a directory")
    assert main(["run", str(tmp_path / "p.yaml")]) == 4
    said = capsys.readouterr().err
    assert f"warn: the metrics cannot be written to '{tmp_path / 'spool'}': File exists" in said
