"""Merges: several flows of the same columns, one after the other or by turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import pyarrow as pa
from pyspark.sql import SparkSession

from clinker.config.nodes import MergeNode
from clinker.cxl.types import Type
from clinker.engine.expressions import Scope, literal
from clinker.engine.flow.building import computed, recast
from clinker.engine.flow.flow import (
    META,
    POSITION,
    REJECT,
    SOURCE,
    WIDENED,
    Flow,
    origin_column,
    quoted,
    widened_column,
)
from clinker.engine.nodes.interleave import seeded_order
from clinker.engine.rejects.mark import NO_REJECT
from clinker.plan.nodes.planned import PlannedMerge

_INPUT, _TURN, _ASIDE = "$input", "$turn", "$aside"


def merge(spark: SparkSession, planned: PlannedMerge, inputs: Sequence[Flow]) -> Flow:
    """The records of all inputs, in the order that the node's mode asks for."""
    node = planned.unit.node
    assert isinstance(node, MergeNode)
    aligned = _aligned(planned, inputs)
    width = max(len(flow.order) for flow in inputs)
    if node.config.mode == "concat":
        parts = [_behind_each_other(flow, n, width) for n, flow in enumerate(aligned)]
    elif node.config.interleave_seed is None:
        parts = [_by_turns(flow, n) for n, flow in enumerate(aligned)]
    else:
        parts = _in_drawn_order(spark, aligned, node.config.interleave_seed)
    frame = reduce(lambda a, b: a.unionByName(b), (part.frame for part in parts))
    return replace(
        parts[0],
        frame=frame,
        is_ordered=node.config.mode == "concat" and all(part.is_ordered for part in parts),
        is_small=all(part.is_small for part in parts),
        sources=tuple(dict.fromkeys(name for part in parts for name in part.sources)),
        overwritten=frozenset.intersection(*(part.overwritten for part in parts)),
    )


def _behind_each_other(flow: Flow, number: int, width: int) -> Flow:
    """The flow with the number of its input before, and zeros behind, its own order."""
    order = [_INPUT, *(f"{_TURN}{n}" for n in range(width))]
    values = [str(number), *map(quoted, flow.order), *["0"] * (width - len(flow.order))]
    return _reordered(flow, dict(zip(order, values, strict=True)))


def _by_turns(flow: Flow, number: int) -> Flow:
    return _reordered(flow, {_TURN: _rank(flow), _INPUT: str(number), **_aside(flow)})


def _in_drawn_order(spark: SparkSession, flows: Sequence[Flow], seed: int) -> list[Flow]:
    """Every record gets the place at which its input is drawn for it."""
    counts = [flow.without_rejects().frame.count() for flow in flows]
    drawn = pa.array(list(seeded_order(seed, counts)), pa.int32())
    ranked = [_by_turns(flow, number) for number, flow in enumerate(flows)]
    places = _places(drawn, len(flows))
    found: list[Flow] = []
    for flow, place in zip(ranked, places, strict=True):
        table = pa.table({_TURN: pa.array(range(1, len(place) + 1), pa.int64()), "$place": place})
        joined = flow.frame.join(spark.createDataFrame(table), _TURN, "left").drop(_TURN)
        # A rejected record is drawn by nobody; any place will do.
        placed = joined.withColumnRenamed("$place", _TURN).na.fill(0, [_TURN])
        found.append(flow.with_frame(placed))
    return found


def _places(drawn: pa.Array, inputs: int) -> list[pa.Array]:
    """For each input, the places at which it is drawn, in order."""
    numbers = drawn.to_numpy()
    return [pa.array((numbers == number).nonzero()[0], pa.int64()) for number in range(inputs)]


def _rank(flow: Flow) -> str:
    """SQL for the number of a record among those still in the flow."""
    order = ", ".join(map(quoted, flow.order))
    if not flow.has_rejects:
        return f"row_number() over (order by {order})"
    kept = f"case when {quoted(REJECT)} is null then 1 end"
    return f"count({kept}) over (order by {order} rows unbounded preceding)"


def _aside(flow: Flow) -> dict[str, str]:
    """A rejected record, which has no turn of its own, is told apart by its place."""
    if not flow.has_rejects:
        return {}
    order = ", ".join(map(quoted, flow.order))
    place = f"row_number() over (order by {order})"
    return {_ASIDE: f"if({quoted(REJECT)} is null, 0, {place})"}


def _reordered(flow: Flow, order: dict[str, str]) -> Flow:
    """The flow under new order columns, given as SQL; the old ones go."""
    kept = [name for name in flow.names if name not in flow.order or name == POSITION]
    texts = [f"{text} as {quoted(name)}" for name, text in order.items()]
    frame = flow.frame.selectExpr(*(quoted(n) for n in kept if n not in order), *texts)
    return replace(flow, frame=frame, order=tuple(order), is_ordered=False, aside=(), borders=())


# Columns


def _aligned(planned: PlannedMerge, inputs: Sequence[Flow]) -> list[Flow]:
    """The inputs with the same columns in the same representation."""
    widened = tuple(dict.fromkeys(name for flow in inputs for name in flow.widened))
    has_map = any(flow.has_widened_map for flow in inputs)
    origin = _origin_types(inputs)
    has_rejects = any(flow.has_rejects for flow in inputs)
    columns = {
        name: type_
        for name, type_ in planned.row.columns.items()
        if any(name in flow.columns for flow in inputs)
    }
    aligned: list[Flow] = []
    for flow in inputs:
        scope = Scope()
        texts = {
            name: _recast(scope, name, flow.columns.get(name), type_)
            for name, type_ in columns.items()
        }
        texts |= {name: quoted(name) for name in (SOURCE, POSITION, *flow.order)}
        texts |= {
            widened_column(name): quoted(widened_column(name))
            if name in flow.widened
            else "cast(null as string)"
            for name in widened
        }
        if has_map:
            texts[WIDENED] = quoted(WIDENED) if flow.has_widened_map else "cast(null as string)"
        for key, type_ in planned.meta.items():
            texts[META + key] = _recast(scope, META + key, flow.meta.get(key), type_)
        for name, type_ in origin.items():
            column, own = flow.origin.get(name, (None, None))
            texts[origin_column(name)] = _recast(scope, column, own, type_)
        if has_rejects:
            texts[REJECT] = quoted(REJECT) if flow.has_rejects else NO_REJECT
        frame = computed(flow.frame, scope, list(texts.items()))
        aligned.append(
            replace(
                flow,
                frame=frame,
                columns=columns,
                widened=widened,
                has_widened_map=has_map,
                meta=planned.meta,
                origin={name: (origin_column(name), type_) for name, type_ in origin.items()},
                has_rejects=has_rejects,
            )
        )
    return aligned


def _origin_types(inputs: Sequence[Flow]) -> dict[str, Type]:
    types: dict[str, Type] = {}
    for flow in inputs:
        for name, (_, type_) in flow.origin.items():
            types[name] = types[name] | type_ if name in types else type_.nullable()
    return types


def _recast(scope: Scope, column: str | None, own: Type | None, wanted: Type) -> str:
    if column is None or own is None:
        return literal(None, wanted)
    return recast(scope, quoted(column), own, wanted)
