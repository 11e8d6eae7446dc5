"""Order: how records are sorted by the values of their fields."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as f

from clinker.config.names import SortKey
from clinker.cxl.types import Kind, Type
from clinker.engine.building import field_sql
from clinker.engine.expressions import representation
from clinker.engine.flow import Flow, quoted


def sort_sql(flow: Flow, keys: Sequence[SortKey]) -> list[Column]:
    """Sort by these keys; records equal in all of them stay in the order of the flow."""
    columns: list[Column] = []
    for key in keys:
        text = field_sql(flow, key.field)
        for part in comparable(text, flow.columns.get(key.field, _ANYTHING)):
            columns.append(_directed(f.expr(part), key))
    return [*columns, *(f.expr(quoted(name)) for name in flow.order)]


def comparable(text: str, type_: Type) -> list[str]:
    """SQL whose order, taken one after the other, is that of the values.

    Values whose kind is known only at run time are told apart by kind, numbers compared as such.
    """
    if not representation(type_).is_tagged:
        return [text]
    number = f"try_cast(if({text} rlike '^[-0-9NI]', {text}, null) as double)"
    rank = f"case when {text} is null then null when {number} is not null then 1 else 0 end"
    return [rank, number, text]


_ANYTHING = Type(Kind.NULL)


def _directed(column: Column, key: SortKey) -> Column:
    if key.null_order == "first":
        return column.asc_nulls_first() if key.order == "asc" else column.desc_nulls_first()
    return column.asc_nulls_last() if key.order == "asc" else column.desc_nulls_last()
