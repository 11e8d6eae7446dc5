"""Runs on Sail, as a user starts them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from clinker.engine.reading import inputs
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run import compute
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session import (
    SessionError,
    SessionSettings,
    adopt,
    open_session,
    sail,
    start_jvm,
)
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

CLINKER = str(Path(sys.executable).with_name("clinker"))
EXAMPLE = Path(__file__).parents[3] / "examples" / "pipelines" / "order_report"
RECORDS = 250_000
"""So many that workers read them, in several parts and many batches."""

LARGE = """
pipeline: { name: large }
nodes:
  - type: source
    name: numbers
    config:
      type: csv
      path: numbers.csv
      schema: [{ name: id, type: int }, { name: amount, type: float }, { name: kind, type: string }]
  - type: transform
    name: computed
    input: numbers
    config:
      cxl: |
        filter id % 3 != 0
        emit ratio = 1.0 / (id % 1000)
        emit total = amount * 2.0
  - type: output
    name: in_order
    input: computed
    config: { type: csv, path: in_order.csv }
  - type: output
    name: sorted
    input: computed
    config:
      type: csv
      path: sorted.csv
      sort_order: [{ field: amount, order: desc }]
  - type: aggregate
    name: kinds
    input: computed
    config:
      group_by: [kind]
      cxl: |
        emit records = count(*)
        emit total = sum(total)
        emit first_id = first(id)
  - type: output
    name: kinds_out
    input: kinds
    config: { type: csv, path: kinds.csv }
error_handling:
  strategy: continue
  dlq: { path: rejected.csv }
"""


WIDENED = """
pipeline: { name: widened }
nodes:
  - type: source
    name: src
    config:
      type: json
      path: in.json
      schema: [{ name: id, type: int }]
      on_unmapped: { mode: auto_widen }
      options: { format: ndjson }
  - { type: transform, name: t, input: src, config: { cxl: "emit v = id % 7" } }
  - type: output
    name: out
    input: t
    config: { type: csv, path: out.csv, sort_order: [{ field: v, order: desc }] }
"""
DROPPING = """
pipeline: { name: dropping }
nodes:
  - type: source
    name: numbers
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - { type: transform, name: some, input: numbers, config: { cxl: "filter id > 1" } }
  - { type: output, name: out, input: some, config: { type: csv, path: out.csv } }
"""


def clinker(folder: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CLINKER, "run", "pipeline.yaml", *args],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


def rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(newline="") as text:
        yield from csv.DictReader(text)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    (tmp_path / "pipeline.yaml").write_text(LARGE)
    with (tmp_path / "numbers.csv").open("w") as file:
        file.write("id,amount,kind\n")
        for n in range(RECORDS):
            file.write(f"{n},{n * 7919 % 100003}.25,kind {n * 31 % 7}\n")
    return tmp_path


def test_the_example(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    done = clinker(tmp_path, "--engine", "sail", "--format", "json")
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert (report["exit_code"], report["records"]["written"]) == (0, 6)
    assert report["engine"]["engine"] == "sail"
    assert report["engine"]["java"] is None
    assert (tmp_path / "output" / "normal_orders.csv").read_text() == (
        "order_id,ordered_on,product,category,total,quarter\n"
        "1,2024-01-15,Lamp,Home,39.98,Q1\n"
        "3,2024-04-01,unknown,other,5,Q2\n"
    )


def test_many_records_stand_in_their_order(
    large: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    aside = tmp_path_factory.mktemp("tmp")
    done = clinker(large, CLINKER_ENGINE="sail", TMPDIR=str(aside))
    assert (done.returncode, done.stderr) == (2, "")
    wanted = [n for n in range(RECORDS) if n % 3]
    kept = [n for n in wanted if n % 1000]
    assert [int(row["id"]) for row in rows(large / "in_order.csv")] == kept
    amount = {n: n * 7919 % 100003 for n in kept}
    by_amount = sorted(kept, key=lambda n: (-amount[n], n))
    assert [int(row["id"]) for row in rows(large / "sorted.csv")] == by_amount
    rejected = [int(row["_cxl_dlq_source_row"]) for row in rows(large / "rejected.csv")]
    assert rejected == [n + 1 for n in wanted if n % 1000 == 0]
    kinds: dict[str, list[int]] = {}
    for n in kept:
        kinds.setdefault(f"kind {n * 31 % 7}", []).append(n)
    found = {
        row["kind"]: (int(row["records"]), float(row["total"]), int(row["first_id"]))
        for row in rows(large / "kinds.csv")
    }
    totals = {kind: sum(amount[n] * 2 + 0.5 for n in ids) for kind, ids in kinds.items()}
    assert list(found.items()) == [
        (kind, (len(ids), totals[kind], ids[0])) for kind, ids in kinds.items()
    ]
    assert list(aside.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(
    large: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    aside = tmp_path_factory.mktemp("tmp")
    before = sorted(large.iterdir())
    process = subprocess.Popen(
        [CLINKER, "run", "pipeline.yaml", "--engine", "sail"],
        cwd=large,
        env={**os.environ, "TMPDIR": str(aside)},
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        while not _has_sail(process):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert (process.returncode, told) == (130, "interrupted: nothing was written\n")
    assert sorted(large.iterdir()) == before
    assert list(aside.iterdir()) == []


def _has_sail(process: subprocess.Popen[str]) -> bool:
    """Whether the server runs in it, which has threads of its own."""
    names = [file.read_text() for file in Path(f"/proc/{process.pid}/task").glob("*/comm")]
    return any(name.startswith("tokio") for name in names)


def test_a_server_that_is_sail_is_told_from_spark() -> None:
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    try:
        assert server.listening_address
        url = f"sc://127.0.0.1:{server.listening_address[1]}"
        with pytest.raises(SessionError, match="is Sail, which is used on this machine only"):
            open_session(SessionSettings(remote=url))
    finally:
        server.stop()


def test_a_session_of_sail_is_recognized_and_lends_nothing() -> None:
    with open_session(SessionSettings(engine="sail")) as session:
        assert adopt(session.spark).engine.name == "sail"
        with pytest.raises(SessionError, match="Sail keeps no order of records"):
            adopt(session.spark, lends_frames=True)


def test_a_panic_below_a_function_is_an_error() -> None:
    """In Python a panic is no Exception, and its class is not to be had."""

    class PanicException(BaseException):
        pass

    def broken(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            if number:
                raise PanicException("out of bounds")
            yield batch

    with open_session(SessionSettings(engine="sail")) as session:
        frame = session.spark.range(0, 100_000, 1, 1)
        mapped = session.engine.map_in_arrow(frame, broken, frame.schema)
        with pytest.raises(PySparkException, match="panic: out of bounds"):
            mapped.toArrow()


def test_a_run_that_loses_records_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pipeline.yaml").write_text(DROPPING)
    (tmp_path / "in.csv").write_text("id\n1\n2\n3\n")
    plan = compile_pipeline(DROPPING.encode(), "p.yaml", Options(tmp_path)).plan
    assert plan
    with open_session(SessionSettings(engine="sail")) as session:
        count = session.count
        monkeypatch.setattr(session, "count", lambda frame: count(frame) + 1)
        with pytest.raises(RunError, match="the numbers do not add up") as caught:
            run_in(plan, session, Quiet())
        assert caught.value.exit_code == Exit.INTERNAL
        assert not (tmp_path / "out.csv").exists()
        monkeypatch.undo()
        run_in(plan, session, Quiet())
    assert (tmp_path / "out.csv").read_text() == "id\n2\n3\n"


def test_undeclared_fields_stand_as_their_first_records_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if these are so many that workers read them, and Sail would mix them up."""
    monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    monkeypatch.setattr(compute, "_TINY_INPUT", 0)
    records = 40_000
    keys = [f"k{n * 7919 % 40011 % 300}" for n in range(records)]
    lines = [json.dumps({"id": n, key: n}) for n, key in enumerate(keys)]
    (tmp_path / "in.json").write_text("\n".join(lines))
    plan = compile_pipeline(WIDENED.encode(), "p.yaml", Options(tmp_path)).plan
    assert plan
    with open_session(SessionSettings(engine="sail", threads=2)) as session:
        run_in(plan, session, Quiet())
    ordered = sorted(range(records), key=lambda n: (-(n % 7), n))
    with (tmp_path / "out.csv").open() as file:
        header = file.readline().rstrip("\n").split(",")
    assert header == ["id", "v", *dict.fromkeys(keys[n] for n in ordered)]


def test_sail_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sail, "find_spec", lambda name: None)
    with pytest.raises(
        SessionError, match=r"not installed: run pip install 'clinker-spark\[sail\]'"
    ):
        start_jvm(SessionSettings(engine="sail"))


def test_frames_that_records_leave_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text(
        """
pipeline: { name: p }
nodes:
  - type: source
    name: src
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - type: transform
    name: seen
    input: src
    config:
      analytic_window: { group_by: [], sort_by: [id], frame: { rows: 1 preceding..current_row } }
      cxl: emit n = $window.sum(id)
  - { type: output, name: out, input: seen, config: { type: csv, path: out.csv } }
"""
    )
    (tmp_path / "in.csv").write_text("id\n1\n2\n")
    for mode in ([], ["--dry-run"]):
        done = clinker(tmp_path, "--engine", "sail", *mode)
        assert done.returncode == 1
        assert done.stderr.startswith(
            "error[E324]: the engine Sail has only frames of rows that begin "
        )
    assert clinker(tmp_path, "--engine", "spark", "--dry-run").returncode == 0
