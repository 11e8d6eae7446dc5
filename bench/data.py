"""The files that benchmarks read, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

SEED = 20260101
ROWS = 1_500_000
PRODUCTS = 50_000
CUSTOMERS = 500_000
REGIONS = ("north", "south", "east", "west", "central", "coast", "islands", "abroad")
STATUSES = ("active", "inactive", "pending")


def orders(rows: int = ROWS) -> pa.Table:
    """Orders: an id, a customer, a product, a region, a status, an amount, a quantity, a day."""
    draw = np.random.default_rng(SEED)
    cents = draw.integers(100, 1_000_000, rows)
    days = draw.integers(0, 730, rows)
    return pa.table(
        {
            "id": pa.array(np.arange(1, rows + 1)),
            "customer": _named("customer", draw.integers(0, CUSTOMERS, rows)),
            "product": _named("P", draw.integers(0, PRODUCTS, rows)),
            "region": pa.array(REGIONS).take(pa.array(draw.integers(0, len(REGIONS), rows))),
            "status": pa.array(STATUSES).take(pa.array(draw.integers(0, len(STATUSES), rows))),
            "amount": pa.array(cents / 100),
            "quantity": pa.array(draw.integers(1, 20, rows)),
            "day": pa.array(19723 + days, pa.int32()).cast(pa.date32()),
        }
    )


def _named(prefix: str, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "-")


def products() -> pa.Table:
    draw = np.random.default_rng(SEED + 1)
    numbers = np.arange(PRODUCTS)
    return pa.table(
        {
            "product": _named("P", numbers),
            "title": _named("Product", numbers),
            "price": pa.array(draw.integers(100, 100_000, PRODUCTS) / 100),
        }
    )


def write_csv(table: pa.Table, path: Path) -> None:
    options = pa.csv.WriteOptions(quoting_style="none")
    pa.csv.write_csv(table, path, options)


def write_dirty(table: pa.Table, path: Path) -> None:
    """The orders with an amount that is no number in one of a hundred."""
    draw = np.random.default_rng(SEED + 2)
    is_bad = pa.array(draw.random(len(table)) < 0.01)
    amounts = pc.if_else(is_bad, "n/a", table.column("amount").cast(pa.string()))
    at = table.schema.get_field_index("amount")
    write_csv(table.set_column(at, "amount", amounts), path)


def write_nested(path: Path, rows: int) -> None:
    """NDJSON: orders that hold an array of one to five lines each."""
    draw = np.random.default_rng(SEED + 3)
    sizes = draw.integers(1, 6, rows)
    with path.open("w") as file:
        for order, size in enumerate(sizes, 1):
            picked = draw.integers(0, PRODUCTS, size)
            lines = ",".join(
                f'{{"sku":"P-{sku}","qty":{sku % 9 + 1},"price":{sku % 1000 + 0.5}}}'
                for sku in picked
            )
            file.write(f'{{"id":{order},"customer":"customer-{order % 1000}","lines":[{lines}]}}\n')


def write_wide(path: Path, rows: int) -> None:
    """Fifty columns: ten numbers with a fraction, ten whole ones, thirty texts."""
    draw = np.random.default_rng(SEED + 4)
    columns: dict[str, pa.Array] = {}
    for number in range(10):
        columns[f"f{number}"] = pa.array(draw.integers(0, 10**6, rows) / 100)
        columns[f"i{number}"] = pa.array(draw.integers(0, 10**6, rows))
    for number in range(30):
        columns[f"t{number}"] = _named("text", draw.integers(0, 1000, rows))
    write_csv(pa.table(columns), path)


def make_all(folder: Path, rows: int = ROWS) -> None:
    """All files, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    table = orders(rows)
    makers: dict[str, Callable[[Path], None]] = {
        "tiny.csv": lambda path: write_csv(table.slice(0, 1000), path),
        "orders.csv": lambda path: write_csv(table, path),
        "dirty.csv": lambda path: write_dirty(table, path),
        "products.csv": lambda path: write_csv(products(), path),
        "nested.ndjson": lambda path: write_nested(path, rows // 3),
        "wide.csv": lambda path: write_wide(path, rows // 5),
    }
    for name, make in makers.items():
        path = folder / name
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            make(unfinished)
            unfinished.rename(path)
