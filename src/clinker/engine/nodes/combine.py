"""Combines: joined records, and what their body makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import functions as f

from clinker.config.nodes import CombineNode
from clinker.cxl.run import tagged
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import ANY, Type
from clinker.engine.expressions import Compiler, Scope, representation
from clinker.engine.expressions.compiler import map_key
from clinker.engine.expressions.conditions import either
from clinker.engine.expressions.frames import with_layers
from clinker.engine.expressions.representation import json_fragment
from clinker.engine.expressions.rows import compile_row_program
from clinker.engine.flow.building import Building, computed, recast, undeclared_sql
from clinker.engine.flow.flow import META, REJECT, Flow, origin_column, quoted, selection
from clinker.engine.nodes.joins import Joined, JoinedInputs, column_of, join
from clinker.engine.rejects.explaining import program_explainer
from clinker.engine.rejects.mark import (
    inputs_sql,
    nan_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
    unless_rejected,
    with_rejected,
)
from clinker.plan.nodes.planned import PlannedCombine

MOST_COLLECTED = 10_000
_FOUND, _KEEPS = "$found", "$keeps"
NO_MATCH, TOO_MANY = "no_match", "expansion_limit_exceeded"


def combine(building: Building, planned: PlannedCombine, inputs: Mapping[str, Flow]) -> Flow:
    """The records that leave a combine."""
    node = planned.unit.node
    assert isinstance(node, CombineNode)
    plan = building.plan.joins[planned.unit.name]
    read = {label: _with_undeclared(flow, label, planned) for label, flow in inputs.items()}
    joined = join(building, planned, plan, read, only_first=node.config.match == "first")
    joined = _without_misses(building, planned, node, joined)
    if planned.program is None:
        flow = _collected(building, planned, joined, inputs)
    else:
        flow = _with_body(building, planned, joined, read)
    return with_rejected(flow, joined.rejected)


def _with_undeclared(flow: Flow, label: str, planned: PlannedCombine) -> Flow:
    """An input with the undeclared fields that the combine reads of it as columns."""
    read = set(planned.where.fields_read)
    if planned.program:
        read |= planned.program.fields_read
    declared = planned.inputs[label].columns
    names = sorted(n for input_, n in read if input_ == label and n not in declared)
    if not names:
        return flow
    columns = [f"{undeclared_sql(flow, name)} as {quoted(name)}" for name in names]
    return replace(
        flow,
        frame=flow.frame.selectExpr("*", *columns),
        columns={**flow.columns, **dict.fromkeys(names, ANY)},
    )


# Misses


def _without_misses(
    building: Building, planned: PlannedCombine, node: CombineNode, joined: Joined
) -> Joined:
    """What `on_miss` makes of driver records that found nothing."""
    flow = joined.flow
    match node.config.on_miss:
        case "null_fields":
            return joined
        case "skip":
            frame = flow.frame.where(unless_rejected(joined.is_match, flow.has_rejects))
            return replace(joined, flow=flow.with_frame(frame))
    builds = " and ".join(f"'{build}'" for build in joined.builds)
    stated = _stated(NO_MATCH, f"E319: no record of {builds} matches")
    site = building.site(planned.unit, None, is_fatal=True)
    mark = reject_sql(flow, site, stated)
    return _marked(joined, f"not ({joined.is_match})", mark)


def _stated(category: str, detail: str) -> str:
    """A reason that the engine gives itself."""
    text = tagged.encode({"category": category, "detail": detail})
    assert text is not None
    return text_literal(text)


def _marked(joined: Joined, fails: str, mark: str) -> Joined:
    flow = joined.flow
    frame = flow.frame.withColumn(REJECT, f.expr(rejecting(flow, fails, mark)))
    return replace(joined, flow=replace(flow, frame=frame, has_rejects=True))


# The body


def _with_body(
    building: Building, planned: PlannedCombine, joined: Joined, inputs: Mapping[str, Flow]
) -> Flow:
    program = planned.program
    assert program is not None
    flow = joined.flow
    plain = building.compiler(planned.unit, flow)
    compiler = Compiler(JoinedInputs(flow, inputs, plain), plain.scope)
    row = compile_row_program(program, compiler)
    (step,) = row.steps
    columns = {
        name: recast(compiler.scope, row.values[name], program.fields_written[name], type_)
        for name, type_ in planned.row.columns.items()
    }
    not_numbers = [nan_sql(columns[name], type_) for name, type_ in planned.row.columns.items()]
    fails = either(step.fails, *not_numbers)
    # A combine after this one has names of its own for the order of what it finds.
    finds = {f"$find{n}": name for n, name in enumerate(joined.order, len(flow.order))}
    order = flow.order if joined.is_unique else (*flow.order, *finds)
    hidden = {name: quoted(finds.get(name, name)) for name in (*flow.hidden, *order)}
    hidden.pop(REJECT, None)
    # The driver's fields stay for those who want to know what a rejected record was. Under the name
    # of their input they would meet those of a combine that calls its own driver so.
    hidden |= {origin_column(name): quoted(column) for name, (column, _) in flow.origin.items()}
    hidden |= {META + name: text for name, text in row.meta.items()}
    mark = quoted(REJECT) if flow.has_rejects else None
    if fails:
        read = read_expressions(program.expressions())
        known = building.surroundings(planned.unit, program.expressions())
        explain = program_explainer(program, reads_of(read), known, checks_nan=True)
        number = building.site(planned.unit, joined.matches.explaining(explain))
        reject = reject_sql(flow, number, inputs_sql(compiler, read, joined.matches.sql))
        mark = rejecting(flow, fails, reject)
    if mark:
        hidden[REJECT] = mark
    keeps = {_KEEPS: step.keeps} if step.keeps else {}
    frame = computed(flow.frame, compiler.scope, [*{**columns, **hidden, **keeps}.items()])
    if keeps:
        frame = frame.where(unless_rejected(quoted(_KEEPS), mark is not None)).drop(_KEEPS)
    return replace(
        flow,
        frame=frame,
        columns=planned.row.columns,
        order=order,
        is_ordered=flow.is_ordered and joined.is_unique,
        is_small=all(given.is_small for given in inputs.values()),
        meta={**flow.meta, **program.meta_written},
        origin={name: (origin_column(name), type_) for name, (_, type_) in flow.origin.items()},
        has_rejects=mark is not None,
    )


# Collected matches


def _collected(
    building: Building, planned: PlannedCombine, joined: Joined, inputs: Mapping[str, Flow]
) -> Flow:
    """Driver records, each with an array of the records it found in every build input."""
    flow = joined.flow
    scope = Scope()
    maps = {
        build: _map_sql(scope, build, list(inputs[build].columns.items()))
        for build in joined.builds
    }
    found = ", ".join(
        [*selection(joined.order), *(f"{text} as {quoted(b)}" for b, text in maps.items())]
    )
    frame = with_layers(flow.frame, scope.layers(*maps.values()))
    driver = [*flow.columns, *flow.hidden]
    grouped = frame.groupBy(*selection(flow.order)).agg(
        f.expr(f"any_value(struct({', '.join(selection(driver))})) as `$driver`"),
        f.expr(
            f"array_sort(collect_list(if({joined.is_match}, struct({found}), null))) "
            f"as {quoted(_FOUND)}"
        ),
    )
    names = {column_of(planned.driver, name): name for name in inputs[planned.driver].columns}
    columns = {
        name: recast(scope, f"`$driver`.{quoted(column)}", flow.columns[column], wanted)
        for column, name in names.items()
        if (wanted := planned.row.columns.get(name)) is not None
    }
    columns |= {
        build: f"transform({quoted(_FOUND)}, x -> x.{quoted(build)})" for build in joined.builds
    }
    origin = {n: (names.get(column, column), t) for n, (column, t) in flow.origin.items()}
    hidden = {name: f"`$driver`.{quoted(name)}" for name in flow.hidden if name not in flow.columns}
    result = grouped.selectExpr(
        *(f"{text} as {quoted(name)}" for name, text in {**columns, **hidden}.items()),
        f"size({quoted(_FOUND)}) as {quoted(_FOUND)}",
    )
    collected = replace(
        flow,
        frame=result,
        columns={name: planned.row.columns[name] for name in columns},
        origin=origin,
        is_ordered=False,
        is_small=all(given.is_small for given in inputs.values()),
    )
    return _limited(building, planned, collected)


def _limited(building: Building, planned: PlannedCombine, flow: Flow) -> Flow:
    site = building.site(planned.unit, None)
    stated = _stated(TOO_MANY, f"more than {MOST_COLLECTED} records match")
    mark = rejecting(flow, f"{quoted(_FOUND)} > {MOST_COLLECTED}", reject_sql(flow, site, stated))
    frame = flow.frame.withColumn(REJECT, f.expr(mark)).drop(_FOUND)
    return replace(flow, frame=frame, has_rejects=True)


def _map_sql(scope: Scope, label: str, columns: Sequence[tuple[str, Type]]) -> str:
    """A build record as a tagged map."""
    parts = ["'{'"]
    for position, (name, type_) in enumerate(columns):
        parts.append(text_literal(("," if position else "") + map_key(name)))
        column = quoted(column_of(label, name))
        parts.append(json_fragment(scope, column, representation(type_)))
    return f"concat({', '.join(parts)}, '}}')"
