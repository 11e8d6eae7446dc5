"""Sources as DataFrames: what workers read is what the driver would read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from clinker.engine.reading.scan import format_error, scan
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import identify
from clinker.engine.session.session import Session
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.reading import Inventory, ReadSpec, read_split
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.engine.opening import open_files
from tests.formats.reading import inventory_of, spec_of

_TYPES = {
    "id": "int",
    "amount": "float",
    "name": "string",
    "ok": "bool",
    "day": "date",
    "at": "date_time",
    "number": "numeric",
    "list": "array",
}

ORDERED = pytest.mark.spark_only("to Sail, what is read stands in no order")


def _orders(directory: Path, rows: int, split_bytes: int) -> tuple[ReadSpec, Inventory]:
    lines = [
        f'{n if n % 7 else "x"},{n}.5,"né\n{n}",{n % 2},2024-01-{n % 28 + 1:02},'
        f'0001-01-01T00:00:00.25,{n},"[{n}, ""a""]",extra\n'
        for n in range(rows)
    ]
    content = "id,amount,name,ok,day,at,number,list,more\n" + "".join(lines)
    spec = spec_of(CsvDialect(), _TYPES)
    return spec, inventory_of(directory, spec, content.encode(), split_bytes=split_bytes)


def local_table(spec: ReadSpec, inventory: Inventory) -> pa.Table:
    """The records of a source, read here."""
    batches = (batch for split in inventory.splits for batch in read_split(spec, inventory, split))
    return pa.Table.from_batches(batches, inventory.schema)


@ORDERED
def test_workers_and_driver_read_the_same(session: Session, tmp_path: Path) -> None:
    spec, inventory = _orders(tmp_path, 200, 2000)
    table = local_table(spec, inventory)
    assert table.num_rows == 200
    assert len(inventory.splits) > 3
    remote = scan(session, spec, inventory)
    local = session.rows(table)
    assert remote.schema == local.schema
    assert remote.schema.simpleString() == (
        "struct<id:bigint,amount:double,name:string,ok:boolean,day:date,at:timestamp_ntz,"
        "number:string,list:array<string>,$widened.more:string,$pos:bigint,"
        "$reject:struct<site:int,inputs:string,origin:string>>"
    )
    assert remote.toArrow().to_pylist() == local.toArrow().to_pylist() == table.to_pylist()


@ORDERED
def test_every_task_reads_about_as_much(session: Session, tmp_path: Path) -> None:
    spec, inventory = _orders(tmp_path, 500, 1500)
    size = sum(split.size for split in inventory.splits)
    frame = scan(session, spec, replace(inventory, task_bytes=size // 4 + 1))
    counts = [row["count"] for row in frame.groupBy(f.spark_partition_id()).count().collect()]
    assert sum(counts) == 500
    assert len(counts) == 4
    assert all(abs(count - 125) < 30 for count in counts), counts


@ORDERED
def test_partitions_and_records_keep_their_order(session: Session, tmp_path: Path) -> None:
    def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    spec, inventory = _orders(tmp_path, 500, 1500)
    frame = scan(session, spec, inventory).selectExpr(
        "`$pos` as pos", "spark_partition_id() as partition", "id"
    )
    frame = frame.where("pos % 3 > 0").mapInArrow(unchanged, frame.schema)
    rows = frame.toArrow().to_pylist()
    assert [row["pos"] for row in rows] == [n for n in range(1, 501) if n % 3]
    firsts = [split.first_row for split in inventory.splits]
    assert [row["partition"] for row in rows] == [
        sum(first <= row["pos"] for first in firsts) - 1 for row in rows
    ]


@ORDERED
def test_small_files_share_a_partition(session: Session, tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"id": "int"})
    contents = [b"id\n%d\n" % n for n in range(9)]
    inventory = inventory_of(tmp_path, spec, *contents, split_bytes=6)
    assert len(inventory.splits) == 9
    rows = scan(session, spec, inventory).selectExpr("id", "spark_partition_id() as part").collect()
    assert [(row["id"], row["part"]) for row in rows] == [(n, n // 3) for n in range(9)]


def test_a_source_without_files_has_no_records(session: Session, tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), _TYPES)
    inventory = inventory_of(tmp_path, spec)
    assert scan(session, spec, inventory).count() == 0
    assert session.rows(local_table(spec, inventory)).count() == 0


def test_what_workers_cannot_read_is_told_as_such(session: Session, tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"id": "int"})
    inventory = inventory_of(tmp_path, spec, b'[{"id":1},\n{"id":"\xe4"}]\n')
    with pytest.raises(PySparkException) as caught:
        scan(session, spec, inventory).count()
    problem = format_error(str(caught.value))
    assert problem is not None
    assert problem.message == "line 2: byte 0xE4 is not UTF-8"
    assert problem.path == str(tmp_path / "0.data")
    with pytest.raises(PySparkException) as other:
        session.spark.range(1).selectExpr("raise_error('x')").collect()
    assert format_error(str(other.value)) is None


@pytest.mark.parametrize(
    ("memory_limit", "is_small"), [(None, False), (2**30, True)], ids=["default", "1G"]
)
def test_the_driver_reads_what_its_memory_has_room_for(
    tmp_path: Path, memory_limit: int | None, is_small: bool
) -> None:
    (tmp_path / "in.csv").write_bytes(b"id\n" + b"1234567\n" * (6 * 2**17))  # 6 MiB
    pipeline = b"""
pipeline: { name: p }
nodes:
  - { type: source, name: s, config: { type: csv, path: in.csv, schema: { id: int } } }
  - { type: output, name: o, input: s, config: { type: csv, path: out.csv } }
"""
    options = Options(base_dir=tmp_path, memory_limit=memory_limit)
    plan = compile_pipeline(pipeline, "p.yaml", options).plan
    assert plan
    (source,) = open_files(plan, identify(None), Sites())
    assert source.is_small == is_small
    assert source.records == 6 * 2**17
