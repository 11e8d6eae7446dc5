"""What records that fall together cost: the same job without keys, with keys, and with failures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.data import SEED, orders, write_csv

ORDER_LINES = 5
"""How many lines an order has on average."""
FAILING = 0.01
"""The share of orders with a line that fails."""

PLAIN, CLEAN, FAILED = "without keys", "clean data, with keys", "1 % of groups failing"

_PIPELINE = """
pipeline: {{ name: bench }}
error_handling:
  strategy: continue
  dlq: {{ path: rejected.csv, if_exists: overwrite }}
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: {file}{key}
      schema:
        - {{ name: id, type: int }}
        - {{ name: order_id, type: string }}
        - {{ name: region, type: string }}
        - {{ name: status, type: string }}
        - {{ name: amount, type: float }}
        - {{ name: quantity, type: int }}
        - {{ name: day, type: date }}
  - type: transform
    name: derived
    input: orders
    config:
      cxl: |
        emit total = amount * quantity.to_float()
        emit share = 1000 / quantity
        emit band = if amount >= 5000.0 then "high" else "low"
  - type: output
    name: out
    input: derived
    config: {{ type: csv, path: out.csv, if_exists: overwrite }}
"""
PIPELINES = {
    PLAIN: _PIPELINE.format(file="lines.csv", key=""),
    CLEAN: _PIPELINE.format(file="lines.csv", key="\n      correlation_key: order_id"),
    FAILED: _PIPELINE.format(file="failing.csv", key="\n      correlation_key: order_id"),
}


def make_lines(folder: Path, rows: int) -> None:
    """Lines of orders; in one file, a line in one of a hundred orders has no quantity."""
    groups = max(1, rows // ORDER_LINES)
    draw = np.random.default_rng(SEED + 4)
    of_order = draw.integers(0, groups, rows)
    names = pc.binary_join_element_wise("order", pa.array(of_order).cast(pa.string()), "-")
    lines = orders(rows).drop_columns(["customer", "product"]).add_column(1, "order_id", names)
    write_csv(lines, folder / "lines.csv")
    _, firsts = np.unique(of_order, return_index=True)
    failing = draw.choice(firsts, max(1, int(len(firsts) * FAILING)), replace=False)
    quantities = lines["quantity"].to_numpy().copy()
    quantities[failing] = 0
    at = lines.schema.get_field_index("quantity")
    write_csv(lines.set_column(at, "quantity", pa.array(quantities)), folder / "failing.csv")
