"""Whole commands: what they tell those who watch, log and catalogue runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.runs import server

from tests.engine.report.openlineage.standard import check
from tests.web import Reply, Request, json_reply, serving

CLINKER = str(Path(sys.executable).with_name("clinker"))
HOSTILE = 'a"b\\\x1b[2J\u2028,{"level":"x"}'
PIPELINE = """
pipeline: { name: p }
error_handling: { strategy: continue }
nodes:
  - type: source
    name: orders
    config:
      type: json
      path: in.json
      schema: { id: int, name: string }
  - type: transform
    name: seen
    input: orders
    config:
      cxl: filter id > 0 emit part = 10.0 / (id - 2)
      log:
        - { level: warn, when: per_record, message: "seen {name}", fields: [id, name] }
  - { type: output, name: o, input: seen, config: { type: csv, path: out.csv } }
"""
WEB = """
      transport: { kind: rest, url: "http://me:s3cret@%s/orders", max_pages: 1 }
"""


@pytest.fixture(scope="module")
def spark() -> Iterator[str]:
    with server() as url:
        yield url


def start(place: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [CLINKER, "run", "p.yaml", "--log-format", "json", *options],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n")[:-1]]


def events(place: Path) -> list[dict[str, Any]]:
    found = lines((place / "events.ndjson").read_text())
    for event in found:
        check(event)
    return found


def test_a_run_that_succeeds(tmp_path: Path, spark: str) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    records = [{"id": n, "name": HOSTILE + str(n)} for n in range(4)]
    (tmp_path / "in.json").write_text(json.dumps(records))
    process = start(
        tmp_path,
        *("--remote", spark, "--openlineage", "events.ndjson", "--batch-id", HOSTILE),
        *("--metrics-spool-dir", "spool", "--report", "run.html"),
    )
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, ""), err
    logged = lines(err)
    assert {each["batch_id"] for each in logged} == {HOSTILE}
    said = [each["fields"]["name"] for each in logged if "fields" in each]
    assert HOSTILE + "1" in said
    assert (logged[-1]["message"], logged[-1]["exit_code"]) == ("run complete", 2)
    begun, ended = events(tmp_path)
    assert (begun["eventType"], ended["eventType"]) == ("START", "COMPLETE")
    assert begun["run"]["runId"] == ended["run"]["runId"] == logged[-1]["execution_id"]
    statistics = ended["outputs"][0]["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["fileCount"]) == (2, 1)
    [file] = (tmp_path / "spool").iterdir()
    metrics = json.loads(file.read_text())
    assert (metrics["records_total"], metrics["records_filtered"]) == (4, 1)
    seen = metrics["nodes"][1]
    assert (seen["name"], seen["records_in"], seen["records_out"]) == ("seen", 4, 2)
    page = (tmp_path / "run.html").read_text()
    assert "exit code 2: all outputs are in place" in page
    assert "spark-connect" in page
    assert "\x1b" not in page


def test_a_run_that_fails(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    process = start(tmp_path, "--openlineage", "events.ndjson")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert lines(err)[-1]["exit_code"] == 4
    begun, ended = events(tmp_path)
    assert (begun["eventType"], ended["eventType"]) == ("START", "FAIL")
    assert "in.json" in ended["run"]["facets"]["errorMessage"]["message"]


def test_a_catalogue_that_is_down_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        process = start(tmp_path, "--openlineage", f"http://me:s3cret@{address}/v1?token=s3cret")
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    [warning] = [each for each in lines(err) if each["level"] == "warn"]
    assert warning["message"] == (
        f"lineage was not delivered: http://{address}/v1: cannot be reached"
    )
    assert "s3cret" not in err


def test_a_run_that_is_interrupted(tmp_path: Path) -> None:
    asked, over = threading.Event(), threading.Event()

    def hold(request: Request) -> Reply:
        asked.set()
        over.wait(60)
        return json_reply([])

    with serving(hold) as service:
        text = PIPELINE.replace("      path: in.json\n", WEB.lstrip("\n") % service.host)
        (tmp_path / "p.yaml").write_text(text)
        process = start(tmp_path, "--openlineage", "events.ndjson", "--report", "run.html")
        assert asked.wait(60)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        over.set()
    assert process.returncode == 130
    last = lines(err)[-1]
    assert (last["message"], last["exit_code"]) == ("interrupted: nothing was written", 130)
    begun, ended = events(tmp_path)
    assert (begun["eventType"], ended["eventType"]) == ("START", "ABORT")
    page = (tmp_path / "run.html").read_text()
    assert "Interrupted</strong>" in page
    assert "s3cret" not in json.dumps([begun, ended]) + page
    assert begun["inputs"][0]["namespace"] == f"http://{service.host}"
