"""The SQL of window functions that are no aggregates."""

from __future__ import annotations

from clinker.cxl.sql.aggregates import AggregateSql
from clinker.cxl.sql.windows import WindowCall, WindowForm
from clinker.cxl.types import Kind

_FARTHEST = 10**9
"""No partition has as many records; Spark counts them in 32 bits."""


def row_number(call: WindowCall) -> AggregateSql:
    (place,) = call.order
    return AggregateSql(place)


def ranking(function: str) -> WindowForm:
    """The form of `rank` or `dense_rank`."""

    def form(call: WindowCall) -> AggregateSql:
        return AggregateSql(f"CAST({call.among_peers(f'{function}()')} AS BIGINT)")

    return form


def neighbour(function: str) -> WindowForm:
    """The form of `lag` or `lead`."""

    def form(call: WindowCall) -> AggregateSql:
        (value,) = call.args
        offset = min(call.offset, _FARTHEST)
        return AggregateSql(call.in_partition(f"{function}({value.text}, {offset})"))

    return form


def any_of(call: WindowCall) -> AggregateSql:
    return AggregateSql(_decided(call, on=True))


def every(call: WindowCall) -> AggregateSql:
    return AggregateSql(_decided(call, on=False))


def none_of(call: WindowCall) -> AggregateSql:
    return AggregateSql(f"NOT {_decided(call, on=True)}")


def _decided(call: WindowCall, *, on: bool) -> str:
    """Whether one record decides the matter; if none does, a null leaves it open."""
    (condition,) = call.args
    is_tagged = condition.type.kinds & ~Kind.NULL != Kind.BOOL
    truth = f"({condition.text} = 'true')" if is_tagged else condition.text
    decisive, other = ("TRUE", "FALSE") if on else ("FALSE", "TRUE")
    decided = call.over_group(f"bool_or({truth if on else f'NOT {truth}'})")
    has_null = call.over_group(f"bool_or({condition.text} IS NULL)")
    return f"CASE WHEN {decided} THEN {decisive} WHEN {has_null} THEN NULL ELSE {other} END"


def collect(call: WindowCall) -> AggregateSql:
    return AggregateSql(f"transform({_in_order(call)}, record -> record.value)")


def distinct(call: WindowCall) -> AggregateSql:
    (value,) = call.args
    records = call.bind(_in_order(call, call.identity(value)))
    # The first of those that are one stands for them.
    identities = f"transform({records}, record -> record.identity)"
    first = f"filter({records}, (record, at) -> array_position({identities}, record.identity) > at)"
    return AggregateSql(f"transform({first}, record -> record.value)")


def _in_order(call: WindowCall, identity: str | None = None) -> str:
    """The values that are not null, in their order, each in a struct."""
    (value,), (place,) = call.args, call.order
    known = f", 'identity', {identity}" if identity else ""
    record = f"named_struct('place', {place}{known}, 'value', {value.text})"
    # Spark does not collect what is null, other engines do.
    every = call.over_group(f"collect_list(if({value.text} IS NULL, NULL, {record}))")
    return f"sort_array(array_compact({every}))"
