"""Combines: joined records, and what their body makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clinker.config.nodes import CombineNode
from clinker.cxl.failure import Category
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import ANY, Type
from clinker.engine.expressions import Compiler, Scope, recast, representation
from clinker.engine.expressions.compiler import map_key
from clinker.engine.expressions.conditions import either
from clinker.engine.expressions.representation import json_fragment
from clinker.engine.expressions.rows import compile_row_program
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building, undeclared_sql
from clinker.engine.flow.flow import Flow, order_column
from clinker.engine.flow.frame import quoted, selection
from clinker.engine.flow.hidden import Hidden
from clinker.engine.flow.layers import with_layers
from clinker.engine.nodes.joins import Joined, JoinedInputs, column_of, join
from clinker.engine.rejects.explaining import program_explainer
from clinker.engine.rejects.mark import (
    mark,
    nan_sql,
    read_expressions,
    rejection,
    stated_reason,
    stated_rejection,
    with_rejected,
)
from clinker.plan.nodes import PlannedCombine

MOST_COLLECTED = 10_000
_MATCHES, _DRIVER = "$matches", "$driver"


def combine(building: Building, planned: PlannedCombine, inputs: Mapping[str, Flow]) -> Flow:
    """The records that leave a combine."""
    node = planned.node
    plan = building.plan.joins[planned.name]
    read = {label: _with_undeclared(flow, label, planned) for label, flow in inputs.items()}
    propagated = _propagated_keys(building, planned, inputs)
    for name, label in propagated.items():
        read[label] = _with_key(read[label], name)
    joined = join(building, planned, plan, read, only_first=node.config.match == "first")
    joined = _without_misses(building, planned, node, joined)
    if planned.program is None:
        flow = _collected(building, planned, joined, inputs, propagated)
    else:
        flow = _with_body(building, planned, joined, read)
        keys = {inputs[label].hidden[n]: column_of(label, n) for n, label in propagated.items()}
        flow = flow.with_hidden((each, quoted(column)) for each, column in keys.items())
    return with_rejected(building, flow, joined.rejected)


def _with_undeclared(flow: Flow, label: str, planned: PlannedCombine) -> Flow:
    """An input with the undeclared fields that the combine reads of it as columns."""
    read = set(planned.where.fields_read)
    if planned.program:
        read |= planned.program.fields_read
    declared = planned.inputs[label].columns
    names = sorted(n for input_, n in read if input_ == label and n not in declared)
    if not names:
        return flow
    return replace(
        flow.with_values({name: undeclared_sql(flow, name) for name in names}),
        columns={**flow.columns, **dict.fromkeys(names, ANY)},
    )


# Keys of records that fall together


def _propagated_keys(
    building: Building, planned: PlannedCombine, inputs: Mapping[str, Flow]
) -> dict[str, str]:
    """The hidden columns that records get from build inputs, and which of these they are from."""
    found: dict[str, str] = {}
    for name in building.plan.correlation.visible[planned.name].columns:
        labels = [label for label, flow in inputs.items() if name in flow.hidden]
        if labels and planned.driver not in labels:
            found[name] = labels[0]
    return found


def _with_key(flow: Flow, name: str) -> Flow:
    """An input whose hidden column is joined like its others."""
    return replace(flow, columns={**flow.columns, name: flow.hidden[name].type})


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
            return replace(joined, flow=flow.where(f"({joined.is_match})"))
        case "error":
            builds = " and ".join(f"'{build}'" for build in joined.builds)
            reason = stated_reason(Category.NO_MATCH, f"E319: no record of {builds} matches")
            reject = stated_rejection(building, planned.unit, flow, reason, is_fatal=True)
            return replace(joined, flow=mark(flow, f"NOT ({joined.is_match})", reject))


# The body


def _with_body(
    building: Building, planned: PlannedCombine, joined: Joined, inputs: Mapping[str, Flow]
) -> Flow:
    program = planned.program
    assert program is not None
    flow = joined.flow
    plain = building.compiler(planned.unit, flow)
    compiler = Compiler(JoinedInputs(flow, inputs, plain), plain.scope, plain.overrides)
    row = compile_row_program(program, compiler)
    (step,) = row.steps
    columns = {
        name: recast(compiler.scope, row.values[name], program.fields_written[name], type_)
        for name, type_ in planned.row.columns.items()
    }
    not_numbers = [
        nan_sql(compiler.scope.bind(columns[name]), type_)
        for name, type_ in planned.row.columns.items()
        if nan_sql("", type_)
    ]
    fails = either(step.fails, *not_numbers)
    # A combine after this one has names of its own for the order of what it finds.
    finds = {
        order_column(f"find{n}"): quoted(name)
        for n, name in enumerate(() if joined.is_unique else joined.order, len(flow.order))
    }
    meta = {Hidden(kinds.META, k, program.meta_written[k]): text for k, text in row.meta.items()}
    if fails:
        expressions = list(program.expressions())
        reject = rejection(
            building,
            planned.unit,
            flow,
            compiler,
            read_expressions(expressions),
            lambda reads, known: joined.matches.explaining(
                program_explainer(program, reads, known, checks_nan=True)
            ),
            more=joined.matches.sql,
            expressions=expressions,
        )
        flow = mark(flow, fails, reject)
    if step.keeps:
        flow = flow.where(step.keeps)
    return replace(
        flow.with_values(columns).with_hidden((finds | meta).items()),
        columns=planned.row.columns,
        order=(*flow.order, *(each.name for each in finds)),
        is_ordered=flow.is_ordered and joined.is_unique,
        is_small=all(each.is_small for each in inputs.values()),
    )


# Collected matches


def _collected(
    building: Building,
    planned: PlannedCombine,
    joined: Joined,
    inputs: Mapping[str, Flow],
    propagated: Mapping[str, str],
) -> Flow:
    """Driver records, each with an array of the records it found in every build input."""
    flow = joined.flow.on_whole_frame()
    scope = Scope(flow.frame.names)
    maps = {
        build: _map_sql(scope, build, list(inputs[build].columns.items()))
        for build in joined.builds
    }
    frame = with_layers(flow.frame, scope.layers(*maps.values()))
    driver = [*flow.columns, *flow.hidden]
    matched = [*selection(joined.order), *(f"{text} AS {quoted(b)}" for b, text in maps.items())]
    keys = {name: column_of(label, name) for name, label in propagated.items()}
    matched += [f"{quoted(column)} AS {quoted(name)}" for name, column in keys.items()]
    matches = f"collect_list(if({joined.is_match}, struct({', '.join(matched)}), NULL))"
    grouped = frame.group(
        flow.order,
        [
            (_DRIVER, f"any_value(struct({', '.join(selection(driver))}))"),
            (_MATCHES, f"array_sort({matches})"),
        ],
    )
    own = {column_of(planned.driver, name): name for name in inputs[planned.driver].columns}
    columns = {
        name: recast(scope, _of_driver(column), flow.columns[column], wanted)
        for column, name in own.items()
        if (wanted := planned.row.columns.get(name)) is not None
    }
    columns |= {
        build: f"transform({quoted(_MATCHES)}, x -> x.{quoted(build)})" for build in joined.builds
    }
    hidden = {name: _of_driver(name) for name in flow.hidden}
    own_keys = [
        (inputs[label].hidden[name], f"get({quoted(_MATCHES)}, 0).{quoted(name)}")
        for name, label in propagated.items()
    ]
    collected = replace(
        flow.standing_on(grouped).with_values({**columns, **hidden}).with_hidden(own_keys),
        columns={name: planned.row.columns[name] for name in columns},
        is_ordered=False,
        is_small=all(each.is_small for each in inputs.values()),
        scope=scope,
    )
    reason = stated_reason(Category.EXPANSION_LIMIT, f"more than {MOST_COLLECTED} records match")
    reject = stated_rejection(building, planned.unit, collected, reason)
    return mark(collected, f"size({quoted(_MATCHES)}) > {MOST_COLLECTED}", reject)


def _of_driver(name: str) -> str:
    return f"{quoted(_DRIVER)}.{quoted(name)}"


def _map_sql(scope: Scope, label: str, columns: Sequence[tuple[str, Type]]) -> str:
    """A build record as a tagged map."""
    parts = ["'{'"]
    for position, (name, type_) in enumerate(columns):
        parts.append(text_literal(("," if position else "") + map_key(name)))
        column = quoted(column_of(label, name))
        parts.append(json_fragment(scope, column, representation(type_)))
    return f"concat({', '.join(parts)}, '}}')"
