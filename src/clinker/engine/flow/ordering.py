"""Order: how records are sorted by the values of their fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinker.config.names import SortKey
from clinker.cxl.types import ANY
from clinker.engine.flow.building import field_sql
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import SortBy
from clinker.engine.flow.identity import order_sql


def sort_keys(flow: Flow, keys: Sequence[SortKey]) -> Iterator[SortBy]:
    """What to sort by; records equal in all of these keys stay in the order of the flow."""
    for key in keys:
        text = field_sql(flow, key.field)
        for part in order_sql(text, flow.columns.get(key.field, ANY)):
            yield SortBy(part, key.order == "desc", key.null_order == "first")
    yield from (SortBy(flow.value(name)) for name in flow.order)
