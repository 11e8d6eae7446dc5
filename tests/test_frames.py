"""Frames of other libraries as sources, and records as tables."""

from __future__ import annotations

import datetime as dt
import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clinker
from clinker.config.nodes import SourceNode
from clinker.engine.reading import inputs
from clinker.engine.session.session import Session
from clinker.formats.files.spool import Spool
from clinker.formats.parquet.spooling import spool_frame

PIPELINE = """
pipeline: { name: orders }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      on_unmapped: { mode: MODE }
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
        - { name: day, type: date }
        - { name: at, type: date_time }
        - { name: tags, type: array }
        - { name: who.name, type: string }
        - { name: what, type: any }
  - type: transform
    name: doubled
    input: orders
    config: { cxl: "emit double = amount * 2.0 emit row = $source.row emit file = $source.file" }
  - { type: route, name: sizes, input: doubled,
      config: { conditions: { large: "amount > 2.0" }, default: small } }
  - { type: output, name: out, input: sizes.large, config: { type: csv, path: out.csv } }
  - { type: output, name: rest, input: sizes.small, config: { type: csv, path: rest.csv } }
"""
DAY, AT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 0, 250_000)
ROWS: dict[str, list[Any]] = {
    "id": [1, 2, 3],
    "amount": [1.5, None, 3.0],
    "day": [DAY, None, DAY],
    "at": [AT, None, AT],
    "tags": [["a", "b"], None, []],
    "who": [{"name": "Ann", "age": 1}, None, {"name": None, "age": 3}],
    "what": ["x", None, "7"],
    "extra": [0.5, None, 2.0],
}
MOMENT = AT.replace(tzinfo=dt.UTC)


@pytest.fixture
def plan(tmp_path: Path) -> clinker.Plan:
    return compiled(tmp_path)


def compiled(folder: Path, mode: str = "drop") -> clinker.Plan:
    path = folder / "pipeline.yaml"
    path.write_text(PIPELINE.replace("MODE", mode))
    return clinker.compile(path)


def as_arrow() -> Any:
    return pa.table(ROWS)


def as_pandas() -> Any:
    return pd.DataFrame(ROWS, index=[7, 8, 9])


def as_polars() -> Any:
    polars = pytest.importorskip("polars", reason="it is installed for benchmarks only")
    return polars.DataFrame(ROWS)


def as_stream() -> Any:
    return pa.RecordBatchReader.from_batches(as_arrow().schema, as_arrow().to_batches(1))


@pytest.mark.parametrize("frame", [as_arrow, as_pandas, as_polars, as_stream])
def test_frames_of_any_library_are_the_same_records(
    plan: clinker.Plan, session: Session, frame: Any
) -> None:
    table = plan.table("doubled", session.spark, sources={"orders": frame()})
    assert table.schema == pa.schema(
        [
            ("id", pa.int64()),
            ("amount", pa.float64()),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("tags", pa.list_(pa.string())),
            ("who.name", pa.string()),
            ("what", pa.string()),
            ("double", pa.float64()),
            ("row", pa.int64()),
            ("file", pa.string()),
        ]
    )
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (1, 1.5, DAY, MOMENT, ["a", "b"], "Ann", "x", 3.0, 1, "<frame>"),
        (2, None, None, None, None, None, None, None, 2, "<frame>"),
        (3, 3.0, DAY, MOMENT, [], None, "7", 6.0, 3, "<frame>"),
    ]


def test_nan_is_null_only_where_it_stands_for_it(plan: clinker.Plan, session: Session) -> None:
    amounts = pa.table({"amount": [1.5, float("nan"), None]})
    given = {"arrow": amounts, "pandas": amounts.to_pandas()}
    found = {
        name: plan.table("orders", session.spark, sources={"orders": frame})["amount"].to_pylist()
        for name, frame in given.items()
    }
    assert str(found) == "{'arrow': [1.5, nan, None], 'pandas': [1.5, None, None]}"


def test_undeclared_columns_are_fields_if_the_source_keeps_them(
    tmp_path: Path, session: Session
) -> None:
    plan = compiled(tmp_path, "auto_widen")
    table = plan.table("orders", session.spark, sources={"orders": as_arrow()})
    assert table.select(["who.age", "extra"]).to_pydict() == {
        "who.age": ["1", None, "3"],
        "extra": ["0.5", None, "2"],
    }


def test_a_struct_may_be_declared_besides_a_member(tmp_path: Path, session: Session) -> None:
    path = tmp_path / "pipeline.yaml"
    schema = "schema:\n        - { name: who, type: any }"
    path.write_text(PIPELINE.replace("MODE", "reject").replace("schema:", schema))
    frame = as_arrow().drop_columns(["extra"])
    table = clinker.compile(path).table("orders", session.spark, sources={"orders": frame})
    assert table.select(["who", "who.name"]).to_pylist()[0] == {
        "who": '{"name":"Ann","age":1}',
        "who.name": "Ann",
    }


def test_undeclared_columns_are_refused_if_the_source_refuses_them(
    tmp_path: Path, session: Session
) -> None:
    plan = compiled(tmp_path, "reject")
    with pytest.raises(
        clinker.RunError, match=r"<frame>: the schema .* columns 'who[.]age', 'extra'"
    ):
        plan.run(session.spark, sources={"orders": as_arrow()})


def test_a_run_reads_a_frame_and_writes_files(
    plan: clinker.Plan, tmp_path: Path, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    frame = pd.DataFrame({"id": ["1", "x", "3"], "amount": [5, 6, 1], "photo": [b"1", b"2", b"3"]})
    with caplog.at_level(logging.WARNING, "clinker"):
        report = plan.run(session.spark, sources={"orders": frame})
    assert repr(report) == "<RunReport 'orders': 3 read, 2 written, 1 dead letters, exit code 2>"
    missing = (
        "source 'orders' declares columns 'day', 'at', 'tags', 'who.name', 'what', "
        "which the frame does not have: null"
    )
    assert (report.warnings, caplog.messages) == ((missing,), [missing])
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "1,5,,,,,,10,1,<frame>"
    (header, entry) = (tmp_path / "dlq.csv").read_text().splitlines()
    cells = dict(zip(header.split(","), entry.split(","), strict=True))
    assert {name: cells[name] for name in ("id", "amount", "_cxl_dlq_source_file")} == {
        "id": "x",
        "amount": "6",
        "_cxl_dlq_source_file": "<frame>",
    }
    assert cells["_cxl_dlq_source_row"] == "2"
    assert (cells["_cxl_dlq_triggering_field"], cells["_cxl_dlq_triggering_value"]) == ("id", "x")


def test_a_frame_of_spark_is_read_in_its_session_and_order(
    plan: clinker.Plan, session: Session
) -> None:
    spark = session.spark
    frame = spark.range(5000).selectExpr("id", "id * 1.5D AS amount").orderBy("id", ascending=False)
    table = plan.table("sizes.small", sources={"orders": frame})
    assert table.column("id").to_pylist() == [1, 0]
    assert table.column("row").to_pylist() == [4999, 5000]


def test_a_dataframe_of_spark_is_made_of_a_frame(plan: clinker.Plan, session: Session) -> None:
    frame = plan.dataframe("sizes.large", session.spark, sources={"orders": as_arrow()})
    assert [row["id"] for row in frame.collect()] == [3]


def test_a_large_frame_is_read_by_workers(
    plan: clinker.Plan, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    count = 70_000  # which two groups of rows hold
    frame = pa.table({"id": pa.array(range(count)), "amount": [1.5] * count})
    table = plan.table("sizes.small", session.spark, sources={"orders": frame})
    assert table.column("id").to_pylist() == list(range(count))
    assert table.column("row").to_pylist() == list(range(1, count + 1))


def test_types_that_files_have_no_place_for(tmp_path: Path, session: Session) -> None:
    frame = pa.table(
        {
            "id": [1],
            "what": pa.nulls(1).dictionary_encode(),
            "cost": pa.array([Decimal(100)], pa.decimal128(3, -2)),
            "month": pa.array(pd.PeriodIndex(["2024-02"], freq="M")),
            "span": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        }
    )
    table = compiled(tmp_path).table("orders", session.spark, sources={"orders": frame})
    assert table.select(["id", "what"]).to_pylist() == [{"id": 1, "what": None}]
    with pytest.raises(
        clinker.RunError, match=r"<frame>: column 'cost' .* cannot be read"
    ) as raised:
        compiled(tmp_path, "auto_widen").run(session.spark, sources={"orders": frame})
    assert "set 'on_unmapped: {mode: drop}', or convert it" in str(raised.value)


@pytest.mark.parametrize("path", ["lines", "order.lines"])
def test_arrays_are_unfolded_in_the_frame(path: str, tmp_path: Path, session: Session) -> None:
    file = tmp_path / "pipeline.yaml"
    unfolding = f"{{ path: '{path}' }}"
    file.write_text(
        PIPELINE.replace("MODE", "drop").replace(
            "type: csv\n      path: orders.csv",
            f"type: json\n      path: o.json\n      array_paths: [{unfolding}]",
        )
    )
    plan = clinker.compile(file)
    lines = pa.array([[{"id": 1}, {"id": 2}]])
    frame = pa.table({"lines": lines, "order": pa.StructArray.from_arrays([lines], ["lines"])})
    with pytest.raises(ValueError, match=f"the source unfolds '{path}'"):
        plan.run(session.spark, sources={"orders": frame})
    unfolded = pa.table({"id": [1, 2]})
    table = plan.table("orders", session.spark, sources={"orders": unfolded})
    assert table["id"].to_pylist() == [1, 2]


def test_a_stream_of_single_rows_becomes_few_groups(plan: clinker.Plan, tmp_path: Path) -> None:
    frame = pa.table({"id": range(3000)})
    rows = pa.RecordBatchReader.from_batches(frame.schema, frame.to_batches(1))
    (source,) = (node.config for _, node in plan._plan.graph.of(SourceNode))
    path = spool_frame(rows, source, Spool(lambda: tmp_path))
    assert pq.ParquetFile(path).num_row_groups == 1


def test_a_frame_without_rows(plan: clinker.Plan, session: Session) -> None:
    table = plan.table("doubled", session.spark, sources={"orders": as_arrow().slice(0, 0)})
    assert (len(table), table.schema.field("double").type) == (0, pa.float64())


@pytest.mark.parametrize(
    ("sources", "kind", "message"),
    [
        ({"ordres": as_arrow()}, ValueError, "no source 'ordres'; did you mean 'orders'"),
        ({"orders": [1]}, TypeError, "source 'orders' was given a list, not a frame of pandas"),
        ({"orders": pd.DataFrame({"id": [1, "x"]})}, ValueError, "for source 'orders' cannot be"),
        (
            {"orders": pa.table([[1], [2]], names=["id", "id"])},
            ValueError,
            "it has 2 columns that are called 'id'",
        ),
        (
            {"orders": pa.table({"who": [{"name": "Ann"}], "who.name": ["Bo"]})},
            ValueError,
            "it has 2 columns that are called 'who.name'",
        ),
        ({"orders": pa.table({"id": [b"1"]})}, clinker.RunError, "'id' is of the type binary"),
    ],
)
def test_what_is_no_frame_for_a_source(
    plan: clinker.Plan, session: Session, sources: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        plan.run(session.spark, sources=sources)


def test_a_table_of_an_output_has_what_it_would_write(
    plan: clinker.Plan, tmp_path: Path, session: Session
) -> None:
    amounts = [Decimal("2.50"), Decimal("1")]
    table = plan.table("out", session.spark, sources={"orders": pa.table({"amount": amounts})})
    assert table.column("amount").to_pylist() == [2.5]
    assert [path.name for path in tmp_path.iterdir()] == ["pipeline.yaml"]


def test_records_leave_a_route_by_its_ports(plan: clinker.Plan) -> None:
    with pytest.raises(ValueError, match=r"by its ports: sizes[.]large"):
        plan.table("sizes")
