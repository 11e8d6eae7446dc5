"""Transforms: a program applied to every record, and the checks of what leaves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from clinker.cxl.check import typed
from clinker.cxl.sql.operand import Sql
from clinker.cxl.types import Type
from clinker.engine.expressions import TAGGED, Compiler, recast
from clinker.engine.expressions.members import Struct
from clinker.engine.expressions.rows import Block, Distinct, RowSql, compile_row_program
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import META, Flow, order_column
from clinker.engine.flow.frame import quoted, unquoted
from clinker.engine.flow.hidden import Hidden
from clinker.engine.flow.identity import identity_sql
from clinker.engine.flow.layers import with_layers
from clinker.engine.nodes.analytic_windows import Windowed, windowed
from clinker.engine.nodes.checking import checked
from clinker.engine.rejects.explaining import program_explainer
from clinker.engine.rejects.mark import (
    array_sql,
    demand_sql,
    inputs_array_sql,
    mark,
    origin_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejection,
)
from clinker.engine.rejects.sites import Demand
from clinker.engine.rejects.window_reasons import windowed_explainer
from clinker.engine.run.logs import messages_of
from clinker.plan.nodes import PlannedTransform

_RANK, _RECORD, _FAILED = "$rank", "$record", "$failed"
"""A frame may have several of the last two: they are numbered."""


def transform(
    building: Building, planned: PlannedTransform, flow: Flow, looked_up: Flow | None = None
) -> Flow:
    """The records that leave a transform; its window may cover records that are `looked_up`."""
    windows = None
    if planned.name in building.plan.windows:
        windows = windowed(building, planned, flow, looked_up)
        flow = windows.flow
    compiler = building.compiler(planned.unit, flow)
    if windows:
        compiler.results = windows.results
    limit = planned.node.config.max_expansion
    apart = {name: Struct(quoted(name), types) for name, types in flow.apart.items()}
    row = compile_row_program(planned.program, compiler, limit, takes_apart=True, apart=apart)
    outgoing = _apply(building, planned, flow, compiler, row, windows)
    leaving = checked(building, planned, outgoing)
    reaching = partial(_reaching, building, planned, flow, compiler.results)
    messages = messages_of(building, planned, flow, leaving, compiler.results, reaching)
    building.messages.extend(messages)
    return leaving


def _apply(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    compiler: Compiler,
    row: RowSql,
    windows: Windowed | None,
) -> Flow:
    """The records that a program makes of a flow's: overlaid, filtered, fanned out."""
    reject = _rejection(building, planned, flow, compiler, row, windows)
    for step in row.steps:
        if step.fails:
            flow = mark(flow, step.fails, reject)
        if step.keeps:
            flow = flow.where(step.keeps)
        if step.distinct:
            flow = _first_of_each(flow, step.distinct)
    if row.block:
        flow = _take_apart(building, flow, row, row.block, reject)
    return _outgoing(planned, flow, row)


def _rejection(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    compiler: Compiler,
    row: RowSql,
    windows: Windowed | None,
) -> str:
    """What marks a record that the program rejects, if it rejects any."""
    if not (any(step.fails for step in row.steps) or (row.block and row.block.fails)):
        return ""
    if flow.apart:
        return demand_sql(Demand.WHOLE_RECORDS)
    program = planned.program
    expressions = list(program.expressions())
    read = read_expressions(expressions)
    fields = building.compiler(planned.unit, flow)
    if windows is None:
        return rejection(
            building,
            planned.unit,
            flow,
            fields,
            read,
            lambda reads, known: program_explainer(program, reads, known),
            expressions=expressions,
        )
    known = building.surroundings(planned.unit, expressions)
    site = building.site(
        planned.unit, windowed_explainer(program, reads_of(read), known, windows.restored)
    )
    results = array_sql(compiler.scope, windows.read)
    record = inputs_array_sql(fields, read)
    inputs = array_sql(compiler.scope, [(record, TAGGED), (results, TAGGED)])
    return reject_sql(site, inputs, origin_sql(flow))


def _reaching(
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
    for step in row.steps:
        if step.fails:
            flow = flow.where(f"NOT coalesce({step.fails}, FALSE)")
        if step.keeps:
            flow = flow.where(step.keeps)
        if step.distinct:
            flow = _first_of_each(flow, step.distinct)
    return replace(flow, is_ordered=False)


# Distinct


def _first_of_each(flow: Flow, distinct: Distinct) -> Flow:
    """Of records equal in all keys the first in order; rejected ones are not compared."""
    scope = flow.scope
    keys = [scope.bind(identity_sql(scope, text, type_)) for text, type_ in _keys(flow, distinct)]
    order = [flow.value(name) for name in flow.order]
    if flow.has_rejects:
        keys.append(flow.is_kept)
    flow = flow.prepared(*keys, *order)
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    rank = f"row_number() OVER ({by}ORDER BY {', '.join(order)})"
    ranked = flow.frame.extend([(_RANK, rank)])
    first = ranked.where(flow.unless_rejected(f"{quoted(_RANK)} = 1")).drop(_RANK)
    return replace(flow, frame=first, is_ordered=False)


def _keys(flow: Flow, distinct: Distinct) -> Iterator[tuple[str, Type]]:
    if distinct.keys is not None:
        yield from distinct.keys
        return
    for name, type_ in flow.columns.items():
        yield flow.value(name), type_
    for column in flow.hidden_of(kinds.UNDECLARED).values():
        yield flow.value(column.name), column.type


# emit each


def _take_apart(building: Building, flow: Flow, row: RowSql, block: Block, reject: str) -> Flow:
    """A row for each element of a block's array, with the columns that the block computes."""
    place = order_column(f"each{len(flow.order)}")
    records = flow.prepared(*row.texts(), reject, *map(flow.text, flow.values))
    rows = _fan_out(records, block.elements, place, unquoted(block.element))
    rows = replace(rows, frame=with_layers(rows.frame, block.layers(*block.texts())))
    if block.fails is None:
        return rows
    if Demand.WHOLE_RECORDS in building.demands:
        return _without_failing_records(rows, records, block.fails, reject)
    return mark(rows, block.fails, demand_sql(Demand.WHOLE_RECORDS))


def _without_failing_records(rows: Flow, records: Flow, fails: str, reject: str) -> Flow:
    """The rows, and one in place of those of a record of which any fails."""
    by = ", ".join(rows.value(name) for name in records.order)
    failed = f"max(coalesce({fails}, FALSE)) OVER (PARTITION BY {by})"
    name = f"{_FAILED}{len(rows.order)}"
    rows = rows.prepared(failed)
    rows = replace(rows, frame=rows.frame.extend([(name, failed)]))
    rows = rows.where(f"(NOT {quoted(name)} OR {rows.value(rows.order[-1])} = 0)")
    return replace(mark(rows, quoted(name), reject), is_ordered=False)


def _fan_out(flow: Flow, items: str, place: Hidden, item: str) -> Flow:
    """A row for each item of an array, and one for a rejected record."""
    if flow.has_rejects:
        nothing = f"array(get({items}, -1))"
        items = f"if({flow.is_kept}, {items}, {nothing})"
    flow = flow.prepared(items)
    return replace(
        flow,
        frame=flow.frame.explode(items, place.name, item),
        hidden={**flow.hidden, place.name: place},
        order=(*flow.order, place.name),
    )


# Outgoing records


def _outgoing(planned: PlannedTransform, flow: Flow, row: RowSql) -> Flow:
    program = planned.program
    emitted, meta = dict(row.values), dict(row.meta)
    if row.records is not None:
        place = order_column(f"each{len(flow.order)}")
        flow = flow.prepared(*row.texts(), *map(flow.text, flow.values))
        record = f"{_RECORD}{len(flow.order)}"
        flow = _fan_out(flow, row.records, place, record)
        emitted = {name: _member(record, name) for name in program.fields_written}
        meta = {name: _member(record, META + name) for name in program.meta_written}
    elif row.block:
        emitted, meta = dict(row.block.values), dict(row.block.meta)
    columns: dict[str, str] = {}
    types: dict[str, Type] = {}
    narrowed = row.block.narrowed if row.block else {}
    for name, wanted in planned.row.columns.items():
        own = program.fields_written.get(name) or flow.columns.get(name)
        if own is not None:
            types[name] = wanted
            text = emitted.get(name) or flow.text(name)
            held = text if name in narrowed else recast(flow.scope, text, own, wanted)
            if held != flow.text(name):
                columns[name] = held
    written = [
        (Hidden(kinds.META, key, program.meta_written[key]), text) for key, text in meta.items()
    ]
    return replace(
        flow.with_values(columns).with_hidden(written),
        columns=types,
        apart={},
        narrowed=narrowed,
        overwritten=flow.overwritten.union(program.fields_written),
    )


def _member(record: str, name: str) -> str:
    return f"{quoted(record)}.{quoted(name)}"
