"""`clinker run` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLINKER = str(Path(sys.executable).with_name("clinker"))

PIPELINE = """\
pipeline:
  name: orders
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
  - type: transform
    name: priced
    input: orders
    config:
      cxl: |
        emit gross = amount * 2.0
  - type: output
    name: result
    input: priced
    config: { type: csv, path: out/result.csv }
error_handling:
  strategy: continue
  dlq: { path: errors.csv }
"""
GOOD = "id,amount\n1,2.5\n2,4\n"
BAD = "id,amount\n1,2.5\nx,4\n"
EXPECTED = "id,amount,gross\n1,2.5,5\n2,4,8\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    (tmp_path / "orders.csv").write_text(GOOD)
    return tmp_path


def clinker(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [CLINKER, "run", "pipeline.yaml", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def metrics(folder: Path) -> dict[str, Any]:
    """What the only run has left for monitoring."""
    [file] = (folder / "spool").iterdir()
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found


def test_a_run_writes_its_output_and_says_so(folder: Path) -> None:
    done = clinker(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "result  out/result.csv  2 records  30 B\n"
        "Pipeline complete: 2 total, 2 ok, 2 written, 0 dlq\n"
    )
    assert (folder / "out" / "result.csv").read_text() == EXPECTED
    assert files(folder) == ["orders.csv", "out/result.csv", "pipeline.yaml"]


def test_a_run_with_dead_letters(folder: Path) -> None:
    (folder / "orders.csv").write_text(BAD)
    done = clinker(folder, "--metrics-spool-dir", "spool", "--batch-id", "daily")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == (
        "result        out/result.csv  1 record  24 B\n"
        "dead letters  errors.csv      1 entry\n"
        "  1  type_coercion_failure\n"
        "Pipeline complete: 2 total, 1 ok, 1 written, 1 dlq\n"
    )
    assert done.stdout in (ROOT / "docs" / "running" / "running.md").read_text("utf-8")
    found = metrics(folder)
    assert (found["exit_code"], found["batch_id"]) == (2, "daily")
    assert [found[f"records_{kind}"] for kind in ("total", "ok", "written", "dlq")] == [2, 1, 1, 1]
    assert found["input_files"] == [str(folder / "orders.csv")]
    assert found["output_files"] == [str(folder / "out" / "result.csv")]
    assert found["dlq_path"] == str(folder / "errors.csv")
    assert found["error"] is None
    assert found["peak_rss_bytes"] > 2**26
    assert found["thread_count"] == 1, "512M have no room for more"


def test_the_report_as_json(folder: Path) -> None:
    done = clinker(folder, "--format", "json", "--threads", "1")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["pipeline"] == "orders"
    assert report["exit_code"] == 0
    assert report["records"]["written"] == 2
    [output] = report["outputs"]
    assert output == {
        "name": "result",
        "files": [str(folder / "out" / "result.csv")],
        "records": 2,
        "bytes": 30,
    }
    assert report["engine"]["master"] == "local[1]"


def test_an_existing_output_is_left_alone(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "result.csv").write_text("precious")
    done = clinker(folder)
    assert (done.returncode, done.stdout) == (4, "")
    assert "out/result.csv" in done.stderr
    assert "--force" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out" / "result.csv").read_text() == "precious"
    done = clinker(folder, "--force", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "out" / "result.csv").read_text() == EXPECTED


def test_a_record_that_stops_the_run(folder: Path) -> None:
    (folder / "pipeline.yaml").write_text(PIPELINE.replace("continue", "fail_fast"))
    (folder / "orders.csv").write_text(BAD)
    done = clinker(folder, "--metrics-spool-dir", "spool", "--batch-id", "daily")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error")
    assert "Traceback" not in done.stderr
    found = metrics(folder)
    assert files(folder) == ["orders.csv", "pipeline.yaml", f"spool/{found['execution_id']}.json"]
    assert found["exit_code"] == 3
    assert found["error"]
    assert found["per_source_record_counts"] == {"orders": 2}
    assert found["per_source_dlq_counts"] == {"orders": 1}
    assert found["records_total"] == 2


def test_a_missing_input(folder: Path) -> None:
    (folder / "orders.csv").unlink()
    done = clinker(folder)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("error[E216]: 'orders.csv' does not exist")


def test_a_preview_is_printed_and_leaves_nothing(folder: Path) -> None:
    done = clinker(folder, "-n", "1")
    assert done.returncode == 0
    assert done.stdout == "id,amount,gross\n1,2.5,5\n"
    assert done.stderr == "Preview complete: 1 total, 1 ok, 1 written, 0 dlq\n"
    assert files(folder) == ["orders.csv", "pipeline.yaml"]


def test_a_preview_goes_to_a_file(folder: Path) -> None:
    done = clinker(folder, "--dry-run", "-n", "1", "--dry-run-output", "new/preview.csv", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "new/preview.csv").read_text() == "id,amount,gross\n1,2.5,5\n"


def test_a_spark_that_cannot_be_reached(folder: Path) -> None:
    done = clinker(folder, "--remote", "sc://localhost:1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("error: ")
    assert "localhost:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_spark_setting_needs_a_value(folder: Path) -> None:
    done = clinker(folder, "--spark-conf", "spark.x")
    assert (done.returncode, done.stderr) == (
        64,
        "error: --spark-conf must be key=value, got 'spark.x'\n",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(folder: Path, number: signal.Signals) -> None:
    rows = "".join(f"{n},{n / 4}\n" for n in range(2_000_000))
    (folder / "orders.csv").write_text("id,amount\n" + rows)
    process = subprocess.Popen(
        [CLINKER, "run", "pipeline.yaml", "--metrics-spool-dir", "spool", "--batch-id", "b"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    below = wait_for_java(process.pid)
    time.sleep(2)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "interrupted: nothing was written\n")
    found = metrics(folder)
    assert files(folder) == ["orders.csv", "pipeline.yaml", f"spool/{found['execution_id']}.json"]
    assert not (folder / "out").exists()
    assert found["exit_code"] == 130
    assert not [pid for pid in below if is_running(pid)]


def test_a_signal_that_python_ignores_ends_the_run_all_the_same(folder: Path) -> None:
    script = """\
import os, signal, sys
from clinker.cli.clinker import main
from clinker.engine.run import settle

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(1000))

def check_limits(*_):  # all is computed by now, and nothing is in place yet
    Finalized()

settle.check_limits = check_limits
sys.exit(main(["run", "pipeline.yaml"]))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted: nothing was written\n"
    assert files(folder) == ["orders.csv", "pipeline.yaml"]


def wait_for_java(parent: int) -> list[int]:
    """The processes below another one, once there are any."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if children:
            return list(map(int, children))
        time.sleep(0.02)
    raise AssertionError("Java was not started")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_little_memory_is_warned_about(folder: Path) -> None:
    done = clinker(folder, "--memory-limit", "256M")
    assert done.returncode == 0
    assert "warn: a memory limit of 256M is kept by records only" in done.stderr
    assert (folder / "out" / "result.csv").read_text() == EXPECTED
