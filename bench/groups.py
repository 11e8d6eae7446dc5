"""What it costs that records belong together: the same job without keys, with keys, with groups
that fall, and with counters that run from record to record."""

from __future__ import annotations

from collections.abc import Mapping
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
COUNTED = "with running counters"
RATIOS = ((CLEAN, PLAIN), (FAILED, CLEAN), (COUNTED, PLAIN))
"""Which of them are told beside each other."""

_PIPELINE = """
pipeline: {{ name: bench{variables} }}
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
        - {{ name: day, type: date }}{counters}
  - type: transform
    name: derived
    input: {upstream}
    config:
      cxl: |
        emit total = amount * quantity.to_float()
        emit share = 1000 / quantity
        emit band = if amount >= 5000.0 then "high" else "low"{emitted}
  - type: output
    name: out
    input: derived
    config: {{ type: csv, path: out.csv, if_exists: overwrite }}
"""
_COUNTERS = """
  - type: state
    name: counters
    input: orders
    config:
      scope: source
      set:
        - { var: n, cxl: $source.n + 1 }
        - { var: units, cxl: $source.units + quantity }"""
_EMITTED = """
        emit n = $source.n
        emit units = $source.units"""


def _pipeline(file: str = "lines.csv", *, has_key: bool = False, counts: bool = False) -> str:
    variables = "{ n: { type: int, default: 0 }, units: { type: int, default: 0 } }"
    return _PIPELINE.format(
        file=file,
        key="\n      correlation_key: order_id" if has_key else "",
        variables=f", vars: {{ source: {variables} }}" if counts else "",
        counters=_COUNTERS if counts else "",
        upstream="counters" if counts else "orders",
        emitted=_EMITTED if counts else "",
    )


PIPELINES = {
    PLAIN: _pipeline(),
    CLEAN: _pipeline(has_key=True),
    FAILED: _pipeline("failing.csv", has_key=True),
    COUNTED: _pipeline(counts=True),
}


def make_lines(folder: Path, rows: int) -> None:
    """Lines of orders, unless they are there; in one file, a line in one of a hundred orders has no
    quantity."""
    if (folder / "failing.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
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


def report(times: Mapping[str, float]) -> list[str]:
    """The times in Markdown, with the ratios that matter."""
    lines = ["", "## Records that belong together", "", "| Job | seconds |", "|---|---:|"]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in times.items()]
    ratios = (f"{name}: {times[name] / times[base]:.2f} of {base}" for name, base in RATIOS)
    return [*lines, "", "; ".join(ratios) + ". Medians of runs that take turns, in one session."]
