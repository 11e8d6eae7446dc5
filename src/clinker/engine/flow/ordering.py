"""Order: how records are sorted by the values of their fields."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as f

from clinker.config.names import SortKey
from clinker.cxl.types import ANY
from clinker.engine.flow.building import field_sql
from clinker.engine.flow.flow import Flow, quoted
from clinker.engine.flow.identity import order_sql


def sort_sql(flow: Flow, keys: Sequence[SortKey]) -> list[Column]:
    """Sort by these keys; records equal in all of them stay in the order of the flow."""
    columns: list[Column] = []
    for key in keys:
        text = field_sql(flow, key.field)
        for part in order_sql(text, flow.columns.get(key.field, ANY)):
            columns.append(_directed(f.expr(part), key))
    return [*columns, *(f.expr(quoted(name)) for name in flow.order)]


def _directed(column: Column, key: SortKey) -> Column:
    if key.null_order == "first":
        return column.asc_nulls_first() if key.order == "asc" else column.desc_nulls_first()
    return column.asc_nulls_last() if key.order == "asc" else column.desc_nulls_last()
