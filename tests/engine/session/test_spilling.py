"""What was spilled, and for which nodes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from clinker.engine.flow.frame import Input
from clinker.engine.reading import inputs
from clinker.engine.session.spilling import share_out
from tests.engine.whole_runs import Workplace

PIPELINE = """
pipeline: { name: spilling, memory: { limit: 512M } }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: { id: int, key: int, note: string } }
  - type: transform
    name: plain
    input: rows
    config: { cxl: "emit twice = id * 2" }
  - type: aggregate
    name: by_key
    input: plain
    config: { group_by: [key], cxl: "emit longest = max(note)" }
  - type: output
    name: ordered
    input: by_key
    config: { type: csv, path: ordered.csv, sort_order: [longest] }
"""
ROWS = 500_000
COPY = """
pipeline: { name: copy }
nodes:
  - { type: source, name: rows, config: { type: csv, path: rows.csv, schema: { id: int } } }
  - { type: output, name: o, input: rows, config: { type: csv, path: o.csv } }
"""


@pytest.mark.parametrize(
    ("total", "weights", "shares"),
    [
        (10, {"a": 1, "b": 1}, {"a": 5, "b": 5}),
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 3, "b": 3, "c": 4}),
        (1, {"a": 1, "b": 2}, {"b": 1}),
        (7, {}, {"": 7}),
    ],
)
def test_shares_are_whole_and_make_up_the_total(
    total: int, weights: dict[str, int], shares: dict[str, int]
) -> None:
    assert share_out(total, weights) == shares


def test_a_run_tells_what_its_nodes_spilled(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    with (tmp_path / "in.csv").open("w") as file:
        file.write("id,key,note\n")
        for number in range(ROWS):
            noise = number * 7_368_787 % 1_000_003
            file.write(f"{number},{noise},{noise * noise:040}{noise**3:040}\n")
    command = [str(Path(sys.executable).with_name("clinker")), "run", str(tmp_path / "p.yaml")]
    # So little of the heap to work with that it does not suffice.
    tight = ["spark.memory.fraction=0.1", "spark.sql.shuffle.partitions=1"]
    chosen = [word for setting in tight for word in ("--spark-conf", setting)]
    ran = subprocess.run(
        [*command, *chosen], capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    assert ran.returncode == 0, ran.stderr
    _, heading, told = ran.stdout.partition("=== Spill Volume (actual, per stage) ===\n")
    assert heading, ran.stdout
    size = (tmp_path / "in.csv").stat().st_size
    *lines, last = told.splitlines()
    found = {
        match[1]: (int(match[2]), match[3])
        for line in lines
        if (match := re.fullmatch(r"  (\S+) +→ (\d+) bytes +\(estimated (\d+) bytes\)", line))
    }
    assert set(found) == {"by_key", "ordered"}
    assert all(estimate == str(size) for _, estimate in found.values())
    total = sum(spilled for spilled, _ in found.values())
    assert last == f"  Total: {total} bytes (compare against the --explain estimate)"
    assert total > 1_000_000


def test_a_session_remembers_nothing_of_runs_that_are_over(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = workplace.session
    workplace.write(rows_csv="id\n1\n")
    monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    ran = workplace.run(COPY)
    assert ran.report and not ran.report.spilled
    asked: list[Sequence[object]] = []
    monkeypatch.setattr(session.engine, "spilled", asked.append)
    session.spilled()
    session.table(Input(("id",), "one", lambda session: session.rows(pa.table({"id": [1]}))))
    session.spilled()
    assert asked == [[], []]
