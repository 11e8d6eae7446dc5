"""Parquet through whole runs: read and written, by the driver and by workers."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq

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
