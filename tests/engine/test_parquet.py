"""Parquet through whole runs: read and written, by the driver and by workers."""

from __future__ import annotations

import csv
import datetime as dt
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinker.plan.options import Preview

from .whole_runs import Workplace

ORDERS = pa.table(
    {
        "id": pa.array(range(1, 1001), pa.int32()),
        "customer": pa.array([None if n % 7 == 0 else f"c{n % 10}" for n in range(1000)]),
        "amount": pa.array([n / 8 for n in range(1000)], pa.float64()),
        "paid": pa.array([n % 3 == 0 for n in range(1000)]),
        "day": pa.array([dt.date(2024, 1, 1) + dt.timedelta(n % 366) for n in range(1000)]),
        "at": pa.array(
            [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=n) for n in range(1000)],
            pa.timestamp("us", "UTC"),
        ),
    }
)
PIPELINE = """
    pipeline: { name: p, concurrency: { chunk_size: 2000 } }
    nodes:
      - { type: source, name: orders, config: { type: parquet, path: in.parquet } }
      - type: transform
        name: doubled
        input: orders
        config: { cxl: 'emit amount = amount * 2' }
      - type: output
        name: out
        input: doubled
        config: { type: parquet, path: out.parquet, options: { row_group_size: 300 } }
"""

TO_JSON = """
    pipeline: { name: p }
    nodes:
      - { type: source, name: rows, config: { type: parquet, path: in.parquet } }
      - type: output
        name: out
        input: rows
        config:
          { type: json, path: out.json, options: { format: ndjson }, preserve_nulls: true }
"""


def test_a_file_becomes_another(workplace: Workplace, either_way: str) -> None:
    pq.write_table(ORDERS, workplace.folder / "in.parquet", row_group_size=70)
    ran = workplace.run(PIPELINE)
    assert ran.code == 0, ran.message
    found = pq.ParquetFile(workplace.folder / "out.parquet")
    groups = [found.metadata.row_group(at).num_rows for at in range(4)]
    assert groups == [300, 300, 300, 100]
    expected = ORDERS.set_column(0, "id", ORDERS["id"].cast(pa.int64()))
    expected = expected.set_column(2, "amount", pa.array([n / 4 for n in range(1000)]))
    assert found.read().to_pylist() == expected.to_pylist()
    assert found.schema_arrow.equals(expected.schema)


def test_what_spark_reads_of_it(workplace: Workplace) -> None:
    pq.write_table(ORDERS, workplace.folder / "in.parquet")
    assert workplace.run(PIPELINE).code == 0
    path = str(workplace.folder / "out.parquet")
    expected = pq.read_table(path).to_pylist()
    assert expected[8]["at"] == dt.datetime(2024, 1, 1, 0, 8, tzinfo=dt.UTC)
    frame = workplace.session.spark.read.parquet(path)
    assert dict(frame.dtypes) == {
        "id": "bigint",
        "customer": "string",
        "amount": "double",
        "paid": "boolean",
        "day": "date",
        "at": "timestamp",
    }
    assert frame.toArrow().sort_by("id").to_pylist() == expected


def test_what_duckdb_reads_of_it(workplace: Workplace) -> None:
    duckdb = pytest.importorskip("duckdb")
    pq.write_table(ORDERS, workplace.folder / "in.parquet")
    assert workplace.run(PIPELINE).code == 0
    path = str(workplace.folder / "out.parquet")
    expected = pq.read_table(path).to_pylist()
    counted = duckdb.sql(f"SELECT count(*), sum(amount), max(day), min(\"at\") FROM '{path}'")
    (found,) = counted.fetchall()
    assert found[:3] == (1000, sum(row["amount"] for row in expected), dt.date(2024, 12, 31))
    assert found[3].astimezone(dt.UTC) == expected[0]["at"]


@pytest.mark.parametrize("moments", ["INT96", "TIMESTAMP_MICROS"])
def test_what_spark_has_written_is_read(workplace: Workplace, moments: str) -> None:
    spark = workplace.session.spark
    key = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(key)
    spark.conf.set(key, moments)
    try:
        frame = spark.sql(
            "SELECT id, CAST(id / 4 AS DECIMAL(12,2)) AS price, array(id, NULL) AS ids,"
            " named_struct('z', id, 'a', map('k', 1.5D)) AS nested,"
            " timestamp'2024-01-01 12:00:00 UTC' AS at, timestamp'0500-01-01 00:00:00 UTC' AS old"
            " FROM range(3)"
        )
        frame.coalesce(1).write.option("compression", "gzip").parquet(
            str(workplace.folder / "written")
        )
    finally:
        spark.conf.set(key, before or "INT96")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - { type: source, name: rows, config: { type: parquet, glob: "written/*.parquet" } }
          - type: transform
            name: computed
            input: rows
            config: { cxl: "emit twice = price * 2\nemit first = ids[0]\nemit z = nested.z" }
          - { type: output, name: out, input: computed, config: { type: json, path: out.json } }
        """
    )
    assert ran.code == 0, ran.message
    assert workplace.read("out.json").splitlines()[2] == (
        '{"id":1,"price":0.25,"ids":[1,null],"nested":{"z":1,"a":{"k":1.5}},'
        '"at":"2024-01-01T12:00:00","old":"0500-01-01T00:00:00","twice":0.5,"first":1,"z":1},'
    )


def test_what_polars_has_written_is_read(workplace: Workplace) -> None:
    polars = pytest.importorskip("polars")
    table = {"s": ["x", None], "c": ["a", "b"], "t": [dt.time(1, 2), None], "l": [[1.5], []]}
    frame = polars.DataFrame(table).with_columns(polars.col("c").cast(polars.Categorical))
    frame.write_parquet(workplace.folder / "in.parquet")
    ran = workplace.run(TO_JSON)
    assert ran.code == 0, ran.message
    assert workplace.read("out.json") == (
        '{"s":"x","c":"a","t":"01:02:00","l":[1.5]}\n{"s":null,"c":"b","t":null,"l":[]}\n'
    )


def test_records_that_fail_are_shown_with_their_values(
    workplace: Workplace, either_way: str
) -> None:
    table = pa.table(
        {
            "id": pa.array([1, 2**63, 3], pa.uint64()),
            "n": [0, 1, 2],
            "more": [{"a": 1, "d": dt.date(2024, 1, 1)}, None, None],
        }
    )
    pq.write_table(table, workplace.folder / "in.parquet", row_group_size=1)
    ran = workplace.run(
        """
        pipeline: { name: p, concurrency: { chunk_size: 64 } }
        nodes:
          - type: source
            name: rows
            config:
              type: parquet
              path: in.parquet
              schema: { id: int, n: int }
          - type: transform
            name: shares
            input: rows
            config: { cxl: "emit share = 10 / n" }
          - { type: output, name: out, input: shares, config: { type: parquet, path: o.parquet } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """
    )
    assert ran.code == 2, ran.message
    entries = list(csv.DictReader(io.StringIO(workplace.read("rejected.csv"))))
    assert [
        (entry["_cxl_dlq_source_row"], entry["_cxl_dlq_error_detail"], entry["id"], entry["more"])
        for entry in entries
    ] == [
        ("1", "division by zero", "1", '{"a":1,"d":"2024-01-01"}'),
        (
            *("2", "cannot convert '9223372036854775808' in column 'id' to int"),
            *("9223372036854775808", ""),
        ),
    ]
    assert pq.read_table(workplace.folder / "o.parquet").to_pylist() == [
        {"id": 3, "n": 2, "share": 5, "more": None}
    ]


def test_split_outputs_by_limits_and_groups(workplace: Workplace, either_way: str) -> None:
    pq.write_table(ORDERS.select(["id", "customer"]), workplace.folder / "in.parquet")
    ran = workplace.run(
        """
        pipeline: { name: p, concurrency: { chunk_size: 2000 } }
        nodes:
          - { type: source, name: orders, config: { type: parquet, path: in.parquet } }
          - type: output
            name: by_count
            input: orders
            config: { type: parquet, path: n.parquet, split: { max_records: 400 } }
          - type: output
            name: by_size
            input: orders
            config: { type: parquet, path: s.parquet, split: { max_bytes: 5000 } }
          - type: output
            name: by_group
            input: orders
            config:
              type: parquet
              path: g.parquet
              sort_order: [customer, { field: id, order: desc }]
              split: { max_records: 50, group_key: customer }
        """
    )
    assert ran.code == 0, ran.message

    def ids(pattern: str) -> list[list[int]]:
        paths = sorted(workplace.folder.glob(pattern))
        return [pq.read_table(path)["id"].to_pylist() for path in paths]

    assert [len(each) for each in ids("n_*.parquet")] == [400, 400, 200]
    assert [n for each in ids("s_*.parquet") for n in each] == list(range(1, 1001))
    assert [len(each) for each in ids("s_*.parquet")][:-1] == [365, 365]
    customers = [
        set(pq.read_table(path)["customer"].to_pylist())
        for path in sorted(workplace.folder.glob("g_*.parquet"))
    ]
    assert customers == [{f"c{n}"} for n in range(10)] + [{None}]


def test_undeclared_columns_are_json(workplace: Workplace, either_way: str) -> None:
    lines = ['{"id":1,"tags":["x"],"n":1.10}', '{"id":2,"other":"a"}']
    workplace.write(in_ndjson="\n".join(lines), in_csv="id,other\n1,a\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: objects
            config: { type: json, path: in.ndjson, schema: { id: int } }
          - type: source
            name: cells
            config: { type: csv, path: in.csv, schema: { id: int } }
          - { type: output, name: o, input: objects, config: { type: parquet, path: o.parquet } }
          - { type: output, name: c, input: cells, config: { type: parquet, path: c.parquet } }
        """
    )
    assert ran.code == 0, ran.message
    assert pq.read_table(workplace.folder / "o.parquet").to_pylist() == [
        {"id": 1, "tags": '["x"]', "n": "1.10", "other": None},
        {"id": 2, "tags": None, "n": None, "other": '"a"'},
    ]
    assert pq.read_table(workplace.folder / "c.parquet").to_pylist() == [{"id": 1, "other": "a"}]


def test_files_with_other_columns(workplace: Workplace, either_way: str) -> None:
    pq.write_table(pa.table({"id": [1], "x": ["a"]}), workplace.folder / "in1.parquet")
    pq.write_table(pa.table({"new": [1.5], "id": ["2"]}), workplace.folder / "in2.parquet")
    ran = workplace.run(TO_JSON.replace("path: in.parquet", "glob: in*.parquet"))
    assert ran.code == 0, ran.message
    assert workplace.read("out.json") == '{"id":1,"x":"a"}\n{"id":2,"x":null,"new":1.5}\n'
    (warning,) = ran.warnings
    assert "declares column 'x', missing in" in warning


def test_a_preview_shows_lines_of_json(workplace: Workplace) -> None:
    pq.write_table(ORDERS.select(["id", "day"]), workplace.folder / "in.parquet")
    ran = workplace.run(PIPELINE.replace("amount = amount * 2", "n = id"), preview=Preview(1))
    assert ran.report
    assert ran.report.outputs[0].preview == b'{"id":1,"day":"2024-01-01","n":1}\n'


def test_columns_of_no_record_at_all(workplace: Workplace) -> None:
    pq.write_table(ORDERS.slice(0, 0), workplace.folder / "in.parquet")
    assert workplace.run(PIPELINE).code == 0
    found = pq.ParquetFile(workplace.folder / "out.parquet")
    assert found.metadata.num_row_groups == found.metadata.num_rows == 0
    assert found.schema_arrow.names == ORDERS.schema.names


def test_a_file_that_changes_or_breaks_ends_the_run(workplace: Workplace) -> None:
    pipeline = PIPELINE.replace(
        "path: in.parquet", "path: in.parquet, schema: { id: int, amount: float }"
    )
    workplace.write(in_parquet=b"PAR1 and no more")
    ran = workplace.run(pipeline)
    assert (ran.code, workplace.files()) == (4, ["in.parquet"])
    assert "in.parquet: is not whole" in ran.message
    content = io.BytesIO()
    pq.write_table(ORDERS, content)
    workplace.write(in_parquet=content.getvalue()[:4] + bytes(999) + content.getvalue()[1003:])
    ran = workplace.run(pipeline)
    assert (ran.code, workplace.files()) == (4, ["in.parquet"])
    assert "in.parquet: is damaged" in ran.message


def test_decimals_pass_and_are_written(workplace: Workplace, either_way: str) -> None:
    many = pa.array(["0.10", None, "12345678901234567.89"]).cast(pa.decimal128(20, 2))
    few = pa.array(["0.10", "-7.35", "1234567890.12"]).cast(pa.decimal128(12, 2))
    table = pa.table({"many": many, "few": few})
    pq.write_table(table, workplace.folder / "in.parquet", row_group_size=1)
    pipeline = """
        pipeline: { name: p, concurrency: { chunk_size: 8 } }
        nodes:
          - { type: source, name: rows, config: { type: parquet, path: in.parquet } }
          - type: transform
            name: computed
            input: rows
            config: { cxl: "emit twice = (few * FACTOR).round_to(2)" }
          - type: output
            name: out
            input: computed
            config:
              type: parquet
              path: out.parquet
              if_exists: overwrite
              mapping: { cost: many }
              options: { decimals: { cost: [20, 2], few: [12, 2], twice: [12, 1] } }
    """
    ran = workplace.run(pipeline.replace("FACTOR", "2"))
    assert ran.code == 4
    assert "'twice' is 12 digits in the file, 1 of them behind the point" in ran.message
    assert "(record 3)" in ran.message
    ran = workplace.run(pipeline.replace("FACTOR", "10"))
    assert ran.code == 0, ran.message
    found = pq.read_table(workplace.folder / "out.parquet").combine_chunks()
    assert found["cost"].to_pylist() == many.to_pylist()
    assert found["few"].to_pylist() == few.to_pylist()
    assert [str(each) for each in found["twice"].to_pylist()] == ["1.0", "-73.5", "12345678901.2"]
