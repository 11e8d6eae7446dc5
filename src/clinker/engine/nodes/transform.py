"""Transforms: a program applied to every record, and the checks of what leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from clinker.config.nodes import TransformNode
from clinker.cxl.check import typed
from clinker.cxl.sql.operand import Sql
from clinker.cxl.types import MAP, STRING, Type
from clinker.engine.expressions import TAGGED, Compiler
from clinker.engine.expressions.frames import with_layers
from clinker.engine.expressions.members import Struct
from clinker.engine.expressions.rows import Block, Distinct, RowSql, compile_row_program
from clinker.engine.flow.building import Building, computed, recast
from clinker.engine.flow.flow import (
    META,
    REJECT,
    WIDENED,
    Flow,
    origin_column,
    quoted,
    selection,
    widened_column,
)
from clinker.engine.flow.identity import identity_sql
from clinker.engine.nodes.analytic_windows import Windowed, windowed
from clinker.engine.nodes.checking import checked
from clinker.engine.rejects.explaining import program_explainer
from clinker.engine.rejects.mark import (
    array_sql,
    demand_sql,
    inputs_array_sql,
    inputs_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
    unless_rejected,
)
from clinker.engine.rejects.sites import Demand
from clinker.engine.rejects.window_reasons import windowed_explainer
from clinker.engine.run.logs import messages_of
from clinker.plan.nodes.planned import PlannedTransform

_RANK, _RECORD, _FAILED = "$rank", "$record", "$failed"


def transform(
    building: Building, planned: PlannedTransform, flow: Flow, looked_up: Flow | None = None
) -> Flow:
    """The records that leave a transform; its window may cover records that are `looked_up`."""
    node = planned.unit.node
    assert isinstance(node, TransformNode)
    windows = None
    if planned.unit.name in building.plan.windows:
        windows = windowed(building, planned, flow, looked_up)
        flow = windows.flow
    compiler = building.compiler(planned.unit, flow)
    if windows:
        compiler.results = windows.results
    limit = node.config.max_expansion
    apart = {name: Struct(quoted(name), types) for name, types in flow.apart.items()}
    row = compile_row_program(planned.program, compiler, limit, takes_apart=True, apart=apart)
    outgoing = _applied(building, planned, flow, compiler, row, windows)
    leaving = checked(building, planned, outgoing)
    reaching = partial(_getting_past, building, planned, flow, compiler.results)
    said = messages_of(building, planned, flow, leaving, compiler.results, reaching)
    building.messages.extend(said)
    return leaving


def _applied(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    compiler: Compiler,
    row: RowSql,
    windows: Windowed | None,
) -> Flow:
    """The records that a program makes of a flow's: overlaid, filtered, fanned out."""
    mark = _mark(building, planned, flow, compiler, row, windows)
    identities = dict(_identities(flow, compiler, row))
    texts = [*row.texts(), *([mark] if mark else []), *identities.values()]
    frame = with_layers(flow.frame, compiler.scope.layers(*texts))
    has_rejects, is_ordered = flow.has_rejects, flow.is_ordered
    for number, step in enumerate(row.steps):
        if step.fails and mark:
            now = replace(flow, has_rejects=has_rejects)
            frame = frame.withColumn(REJECT, f.expr(rejecting(now, step.fails, mark)))
            has_rejects = True
        if step.keeps:
            frame = frame.where(unless_rejected(step.keeps, has_rejects))
        if step.distinct:
            keys = [text for (at, _), text in identities.items() if at == number]
            frame = _first_of_each(frame, flow, keys, has_rejects)
            is_ordered = False
    kept = replace(flow, frame=frame, has_rejects=has_rejects, is_ordered=is_ordered)
    if row.block:
        kept = _taken_apart(building, kept, row.block, mark)
    return _outgoing(planned, kept, compiler, row)


def _mark(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    compiler: Compiler,
    row: RowSql,
    windows: Windowed | None,
) -> str | None:
    """What marks a record that the program rejects; None if it rejects none."""
    if not (any(step.fails for step in row.steps) or (row.block and row.block.fails)):
        return None
    if flow.apart:
        return demand_sql(Demand.WHOLE_RECORDS)
    program = planned.program
    read = read_expressions(program.expressions())
    known = building.surroundings(planned.unit, program.expressions())
    fields = building.compiler(planned.unit, flow, compiler.scope)
    if windows:
        explain = windowed_explainer(program, reads_of(read), known, windows.restored)
        results = array_sql(compiler.scope, windows.read)
        record = inputs_array_sql(fields, read)
        inputs = array_sql(compiler.scope, [(record, TAGGED), (results, TAGGED)])
    else:
        explain = program_explainer(program, reads_of(read), known)
        inputs = inputs_sql(fields, read)
    site = building.site(planned.unit, explain)
    return reject_sql(flow, site, inputs)


def _getting_past(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    results: Mapping[typed.Expr, Sql],
    statements: Sequence[typed.Statement],
) -> Flow:
    """The records as they came, without those that the first statements drop or fail for."""
    flow = flow.without_rejects()
    compiler = building.compiler(planned.unit, flow)
    compiler.results = results
    # What a block makes of a record is not seen outside of it.
    outside = (s for s in statements if not isinstance(s, typed.EmitEach))
    row = compile_row_program(typed.Program(tuple(outside)), compiler)
    identities = dict(_identities(flow, compiler, row))
    used = [*row.texts(), *identities.values()]
    frame = with_layers(flow.frame, compiler.scope.layers(*used))
    for number, step in enumerate(row.steps):
        if step.fails:
            frame = frame.where(f"not coalesce({step.fails}, false)")
        if step.keeps:
            frame = frame.where(step.keeps)
        if step.distinct:
            keys = [text for (at, _), text in identities.items() if at == number]
            frame = _first_of_each(frame, flow, keys, has_rejects=False)
    kept = frame.selectExpr(*selection(flow.names))
    return replace(flow, frame=kept, is_ordered=False)


# Distinct


def _identities(
    flow: Flow, compiler: Compiler, row: RowSql
) -> Iterator[tuple[tuple[int, int], str]]:
    """The keys of every `distinct`, by the step and their place in it."""
    for number, step in enumerate(row.steps):
        if step.distinct:
            for place, (text, type_) in enumerate(_keys(flow, step.distinct)):
                yield (number, place), identity_sql(compiler.scope, text, type_)


def _keys(flow: Flow, distinct: Distinct) -> list[tuple[str, Type]]:
    if distinct.keys is not None:
        return list(distinct.keys)
    keys = [(quoted(name), type_) for name, type_ in flow.columns.items()]
    keys += [(quoted(widened_column(name)), STRING.nullable()) for name in flow.widened]
    return [*keys, (quoted(WIDENED), MAP.nullable())] if flow.has_widened_map else keys


def _first_of_each(frame: DataFrame, flow: Flow, keys: list[str], has_rejects: bool) -> DataFrame:
    """Of records equal in all keys the first in order; rejected ones are not compared."""
    partition = [*keys, f"{quoted(REJECT)} is null"] if has_rejects else keys
    order = ", ".join(selection(flow.order))
    by = f"partition by {', '.join(partition)} " if partition else ""
    ranked = frame.selectExpr("*", f"row_number() over ({by}order by {order}) as {quoted(_RANK)}")
    return ranked.where(unless_rejected(f"{quoted(_RANK)} = 1", has_rejects)).drop(_RANK)


# emit each


def _taken_apart(building: Building, flow: Flow, block: Block, mark: str | None) -> Flow:
    """A row for each element of a block's array, with the columns that the block computes."""
    place = f"$each{len(flow.order)}"
    frame = _fanned_out(flow, block.elements, place, block.element)
    frame = with_layers(frame, block.layers(*block.texts()))
    rows = replace(flow, frame=frame, order=(*flow.order, place))
    if block.fails is None:
        return rows
    assert mark
    if Demand.WHOLE_RECORDS in building.demands:
        return _without_failing_records(rows, flow, block.fails, mark)
    demand = demand_sql(Demand.WHOLE_RECORDS)
    frame = frame.withColumn(REJECT, f.expr(rejecting(rows, block.fails, demand)))
    return replace(rows, frame=frame, has_rejects=True)


def _without_failing_records(rows: Flow, records: Flow, fails: str, mark: str) -> Flow:
    """The rows, and one in place of those of a record of which any fails."""
    by = ", ".join(selection(records.order))
    failed = f"max(coalesce({fails}, false)) over (partition by {by})"
    frame = rows.frame.selectExpr("*", f"{failed} as {quoted(_FAILED)}")
    stays = f"not {quoted(_FAILED)} or {quoted(rows.order[-1])} = 0"
    frame = frame.where(unless_rejected(f"({stays})", rows.has_rejects))
    frame = frame.withColumn(REJECT, f.expr(rejecting(rows, quoted(_FAILED), mark)))
    return replace(rows, frame=frame.drop(_FAILED), has_rejects=True, is_ordered=False)


def _fanned_out(flow: Flow, items: str, place: str, item: str) -> DataFrame:
    """A row for each item of an array, and one for a rejected record."""
    if flow.has_rejects:
        nothing = f"array(get({items}, -1))"
        items = f"if({quoted(REJECT)} is null, {items}, {nothing})"
    return flow.frame.selectExpr("*", f"posexplode({items}) as ({quoted(place)}, {item})")


# Outgoing records


def _outgoing(
    planned: PlannedTransform,
    flow: Flow,
    compiler: Compiler,
    row: RowSql,
) -> Flow:
    program = planned.program
    order = flow.order
    frame = flow.frame
    emitted, meta = dict(row.values), dict(row.meta)
    if row.records is not None:
        place = f"$each{len(order)}"
        frame = _fanned_out(flow, row.records, place, quoted(_RECORD))
        order = (*order, place)
        emitted = {name: _of_record(name) for name in program.fields_written}
        meta = {name: _of_record(META + name) for name in program.meta_written}
    elif row.block:
        emitted, meta = dict(row.block.values), dict(row.block.meta)
    origin = {
        name: (origin_column(name) if column in emitted else column, type_)
        for name, (column, type_) in flow.origin.items()
    }
    columns: dict[str, str] = {}
    types: dict[str, Type] = {}
    narrowed = row.block.narrowed if row.block else {}
    for name, wanted in planned.row.columns.items():
        own = program.fields_written.get(name) or flow.columns.get(name)
        if own is not None:
            text = emitted.get(name) or quoted(name)
            columns[name] = text if name in narrowed else recast(compiler.scope, text, own, wanted)
            types[name] = wanted
    hidden = {name: quoted(name) for name in flow.hidden if name not in columns}
    hidden |= {name: quoted(name) for name in order if name not in hidden}
    hidden |= {META + name: text for name, text in meta.items()}
    hidden |= {
        column: quoted(flow.origin[name][0])
        for name, (column, _) in origin.items()
        if column not in columns
    }
    return replace(
        flow,
        frame=computed(frame, compiler.scope, [*columns.items(), *hidden.items()]),
        columns=types,
        order=order,
        meta={**flow.meta, **program.meta_written},
        origin=origin,
        apart={},
        narrowed=narrowed,
        overwritten=flow.overwritten.union(program.fields_written),
    )


def _of_record(name: str) -> str:
    return f"{quoted(_RECORD)}.{quoted(name)}"
