"""Merges: several flows of the same columns, one after the other or by turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from clinker.cxl.types import Type
from clinker.engine.expressions import literal, recast, representation
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.flow import Flow, order_column
from clinker.engine.flow.frame import Frame, Input, quoted
from clinker.engine.flow.hidden import Hidden
from clinker.engine.nodes.interleave import seeded_order
from clinker.plan.nodes import PlannedMerge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from clinker.engine.session.session import Session

_INPUT, _TURN, _ASIDE = order_column("input"), order_column("turn"), order_column("aside")
_DRAWN, _PLACE = "$drawn", "$place"


def merge(planned: PlannedMerge, inputs: Sequence[Flow]) -> Flow:
    """The records of all inputs, in the order that the node's mode asks for."""
    config = planned.node.config
    aligned = _aligned(planned, inputs)
    width = max(len(flow.order) for flow in inputs)
    if config.mode == "concat":
        parts = [_behind_each_other(flow, n, width) for n, flow in enumerate(aligned)]
    elif config.interleave_seed is None:
        parts = [_by_turns(flow, n) for n, flow in enumerate(aligned)]
    else:
        parts = _in_drawn_order(aligned, config.interleave_seed)
    first, *others = parts
    merged = replace(
        first,
        is_ordered=False,
        is_small=all(part.is_small for part in parts),
        sources=tuple(dict.fromkeys(name for part in parts for name in part.sources)),
        overwritten=frozenset.intersection(*(part.overwritten for part in parts)),
        borders=(),
    )
    return merged.standing_on(
        _with_own_columns(first).union(_with_own_columns(part) for part in others)
    )


def _with_own_columns(flow: Flow) -> Frame:
    return flow.built().frame.keep(flow.names)


# Order


def _behind_each_other(flow: Flow, number: int, width: int) -> Flow:
    """The flow with the number of its input before, and zeros behind, its own order."""
    turns = [order_column(f"turn{n}") for n in range(width)]
    own = [*map(flow.text, flow.order), *["0L"] * (width - len(flow.order))]
    return _reordered(flow, {_INPUT: f"{number}L", **dict(zip(turns, own, strict=True))})


def _by_turns(flow: Flow, number: int) -> Flow:
    flow = flow.built()
    ranks = {each.name: text for each, text in {_TURN: _rank(flow), **_aside(flow)}.items()}
    # Of an input that is such a merge itself, the old turns go.
    others = [(name, quoted(name)) for name in flow.frame.names if name not in ranks]
    ranked = replace(flow, frame=flow.frame.select([*others, *ranks.items()]))
    order = {_TURN: quoted(_TURN.name), _INPUT: f"{number}L"}
    return _reordered(ranked, order | {each: quoted(each.name) for each in _aside(flow)})


def _in_drawn_order(flows: Sequence[Flow], seed: int) -> list[Flow]:
    """Every record gets the place at which its input is drawn for it."""
    flows = [flow.built() for flow in flows]
    counted = [flow.without_rejects().frame for flow in flows]
    drawn: list[Flow] = []
    for number, flow in enumerate(flows):
        ranked = _by_turns(flow, number).built()
        places = Input((_DRAWN, _PLACE), "a drawing of lots", _Drawing(seed, number, counted).open)
        joined = ranked.frame.join(places, f"{quoted(_TURN.name)} = {quoted(_DRAWN)}")
        # A rejected record is drawn by nobody; any place will do.
        place = f"ifnull({quoted(_PLACE)}, 0L)"
        drawn.append(replace(ranked, frame=joined).with_values({_TURN.name: place}))
    return drawn


class _Drawing:
    """The lots of one input: the places at which its records are drawn, in their order."""

    def __init__(self, seed: int, number: int, inputs: Sequence[Frame]) -> None:
        self._seed = seed
        self._number = number
        self._inputs = inputs

    def open(self, session: Session) -> DataFrame:
        counts = [session.count(frame) for frame in self._inputs]
        drawn = pa.array(list(seeded_order(self._seed, counts)), pa.int32()).to_numpy()
        places = pa.array((drawn == self._number).nonzero()[0], pa.int64())
        turns = pa.array(range(1, len(places) + 1), pa.int64())
        return session.rows(pa.table({_DRAWN: turns, _PLACE: places}))


def _rank(flow: Flow) -> str:
    """SQL for the number of a record among those still in the flow."""
    order = ", ".join(map(flow.value, flow.order))
    if not flow.has_rejects:
        return f"CAST(row_number() OVER (ORDER BY {order}) AS BIGINT)"
    kept = f"CASE WHEN {flow.is_kept} THEN 1 END"
    return f"count({kept}) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"


def _aside(flow: Flow) -> dict[Hidden, str]:
    """A rejected record, which has no turn of its own, is told apart by its place."""
    if not flow.has_rejects:
        return {}
    order = ", ".join(map(flow.value, flow.order))
    place = f"CAST(row_number() OVER (ORDER BY {order}) AS BIGINT)"
    return {_ASIDE: f"if({flow.is_kept}, 0L, {place})"}


def _reordered(flow: Flow, order: dict[Hidden, str]) -> Flow:
    """The flow under new order columns, given as SQL; the old ones go."""
    kept = {name: each for name, each in flow.hidden.items() if each.kind is not kinds.ORDER}
    reordered = replace(flow, hidden=kept).with_hidden(order.items())
    return replace(reordered, order=tuple(each.name for each in order), aside=())


# Columns


def _aligned(planned: PlannedMerge, inputs: Sequence[Flow]) -> list[Flow]:
    """The inputs with the same columns in the same representation."""
    columns = {
        name: type_
        for name, type_ in planned.row.columns.items()
        if any(name in flow.columns for flow in inputs)
    }
    hidden = _common_hidden(planned, inputs)
    return [_aligned_flow(flow, columns, hidden) for flow in inputs]


def _aligned_flow(flow: Flow, columns: dict[str, Type], hidden: dict[str, Hidden]) -> Flow:
    texts = {
        name: _recast(flow, name, flow.columns.get(name), type_) for name, type_ in columns.items()
    }
    for name, common in hidden.items():
        own = flow.hidden.get(name)
        if own is None:
            texts[name] = common.null
        elif own.kind.ddl is None and representation(own.type) != representation(common.type):
            texts[name] = _recast(flow, name, own.type, common.type)
    order = {name: each for name, each in flow.hidden.items() if not each.kind.is_aligned}
    return replace(flow.with_values(texts), columns=columns, hidden={**hidden, **order})


def _common_hidden(planned: PlannedMerge, inputs: Sequence[Flow]) -> dict[str, Hidden]:
    """The hidden columns that any input has, of types that all of them fit in."""
    common: dict[str, Hidden] = {}
    for flow in inputs:
        for name, own in flow.hidden.items():
            if own.kind.is_aligned:
                known = common.get(name)
                type_ = known.type | own.type if known else own.type
                common[name] = replace(own, type=type_.nullable())
    for key, type_ in planned.meta.items():
        column = Hidden(kinds.META, key, type_)
        common[column.name] = column
    return common


def _recast(flow: Flow, column: str, own: Type | None, wanted: Type) -> str:
    if own is None:
        return literal(None, wanted)
    return recast(flow.scope, flow.text(column), own, wanted)
