"""The same bytes, however the work is divided and however often it is done."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from clinker.engine.reading import inputs
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

PIPELINE = """
pipeline: {{ name: all_nodes, concurrency: {{ chunk_size: {chunk} }} }}
nodes:
  - type: source
    name: orders
    config:
      type: csv
      glob: "orders-*.csv"
      schema:
        - {{ name: id, type: int }}
        - {{ name: product, type: string }}
        - {{ name: amount, type: float }}
        - {{ name: note, type: string }}
  - type: source
    name: products
    config:
      type: csv
      path: products.csv
      schema:
        - {{ name: product, type: string }}
        - {{ name: title, type: string }}
  - type: transform
    name: derived
    input: orders
    config:
      cxl: |
        filter id % 17 != 3
        emit share = 1000 / (id % 50)
        emit note = note.trim()
  - type: combine
    name: titled
    input: {{ orders: derived, products: products }}
    config:
      where: orders.product == products.product
      match: all
      on_miss: null_fields
      propagate_ck: driver
      cxl: |
        emit id = orders.id
        emit product = orders.product
        emit title = products.title
        emit amount = orders.amount
        emit note = orders.note
  - type: route
    name: sides
    input: titled
    config:
      conditions: {{ cheap: "amount < 0.5" }}
      default: dear
  - type: aggregate
    name: totals
    input: titled
    config:
      group_by: [product]
      cxl: |
        emit total = sum(amount)
        emit mean = avg(amount)
        emit n = count(*)
        emit notes = collect(note)
  - type: transform
    name: unique
    input: sides.cheap
    config:
      cxl: |
        distinct by note
        emit cheap_id = id
  - {{ type: output, name: all, input: titled, config: {{ type: csv, path: out/all.csv }} }}
  - {{ type: output, name: dear, input: sides.dear, config: {{ type: json, path: out/dear.json }} }}
  - {{ type: output, name: groups, input: totals, config: {{ type: csv, path: out/groups.csv }} }}
  - {{ type: output, name: firsts, input: unique, config: {{ type: csv, path: out/firsts.csv }} }}
error_handling: {{ strategy: continue, dlq: {{ path: out/rejected.csv }} }}
"""
_VOLATILE = 2
"""Columns of dead letters, the id and the time, that no two runs share."""


def write_inputs(folder: Path, sizes: list[int]) -> None:
    draw = random.Random(7)
    number = 0
    for file, size in enumerate(sizes):
        lines = ["id,product,amount,note"]
        for _ in range(size):
            number += 1
            amount = "oops" if number % 41 == 0 else repr(draw.random() * 10 ** draw.randint(-9, 9))
            note = f'"line {number % 9}\nof ""{number}"""' if number % 5 == 0 else f"n{number % 30}"
            lines.append(f"{number},p{draw.randint(0, 12)},{amount},{note}")
        (folder / f"orders-{file}.csv").write_text("\n".join(lines) + "\n")
    products = [f"p{n % 10},title {n}" for n in range(14)]
    (folder / "products.csv").write_text("product,title\n" + "\n".join(products) + "\n")


def results(folder: Path, session: Session, chunk: int) -> dict[str, str]:
    options = Options(base_dir=folder, force=True)
    compiled = compile_pipeline(PIPELINE.format(chunk=chunk).encode(), "p.yaml", options)
    assert compiled.plan, [d.message for d in compiled.diagnostics]
    run_in(compiled.plan, session, Quiet())
    found = {path.name: path.read_text() for path in sorted((folder / "out").iterdir())}
    letters = [line.split(",", _VOLATILE)[-1] for line in found["rejected.csv"].splitlines()]
    return {**found, "rejected.csv": "\n".join(letters)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inputs(tmp_path, [400, 1, 250, 90])
    return tmp_path


def test_results_do_not_depend_on_how_the_work_is_divided(
    folder: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = results(folder, session, chunk=2**20)
    assert len(expected) == 5
    assert all(expected.values())
    usual = session.spark.conf.get("spark.sql.shuffle.partitions")
    assert usual
    for partitions in ("1", "2", "7", usual):
        session.spark.conf.set("spark.sql.shuffle.partitions", partitions)
        assert results(folder, session, chunk=2**20) == expected
    # From here on the engine's workers read the files, in ever smaller pieces.
    monkeypatch.setattr(inputs, "SMALL_INPUT", 0)
    for chunk in (2**20, 6000, 1500):
        assert results(folder, session, chunk) == expected


def test_results_are_the_same_every_time(folder: Path, session: Session) -> None:
    expected = results(folder, session, chunk=2**20)
    for _ in range(4):
        assert results(folder, session, chunk=2**20) == expected


def test_sums_do_not_depend_on_the_files_that_records_come_in(
    tmp_path: Path, session: Session
) -> None:
    found = []
    for number, sizes in enumerate(([741], [1, 640, 100], [300, 300, 141])):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_inputs(folder, sizes)
        found.append(results(folder, session, chunk=2**20)["groups.csv"])
    assert found[0] == found[1] == found[2]
