"""How records leave a flow: marked with the site that rejects them and what it had read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame

from clinker.cxl.check import typed
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions import Compiler, Representation, Scope, representation
from clinker.engine.expressions.representation import json_fragment
from clinker.engine.flow.flow import POSITION, REJECT, SOURCE, Flow, quoted, selection
from clinker.engine.rejects.explaining import Reads
from clinker.engine.rejects.payload import carried_sql
from clinker.engine.rejects.sites import Demand
from clinker.engine.run.system import is_per_record

NO_ORIGIN = "cast(null as string)"
NO_REJECT = "cast(null as struct<site: int, inputs: string, origin: string>)"


def read_expressions(expressions: Iterable[typed.Expr]) -> list[typed.Field | typed.System]:
    """What these expressions read of a record, each once."""
    found: dict[object, typed.Field | typed.System] = {}
    for expression in expressions:
        for part in _walked(expression):
            if isinstance(part, typed.Field):
                found.setdefault((part.qualifier, part.name), part)
            elif isinstance(part, typed.System):
                key = part.namespace, part.path
                if is_per_record(key):
                    found.setdefault(key, part)
    return list(found.values())


def _walked(expression: typed.Expr) -> Iterator[typed.Expr]:
    """The expression and what it is made of, definitions of its symbols included."""
    for part in expression.walk():
        yield part
        if isinstance(part, typed.Local) and part.symbol.definition:
            yield from _walked(part.symbol.definition)


def reads_of(read: Iterable[typed.Field | typed.System]) -> Reads:
    """What was read, as the explanation of a reject wants to know it: fields first."""
    read = list(read)
    return Reads(
        tuple((f.qualifier, f.name) for f in read if isinstance(f, typed.Field)),
        tuple((s.namespace, s.path) for s in read if isinstance(s, typed.System)),
    )


def inputs_sql(
    compiler: Compiler,
    read: Iterable[typed.Field | typed.System],
    more: Iterable[tuple[str, Type]] = (),
) -> str:
    """The values that were read, and perhaps more, for the driver to explain what happened."""
    values = [(compiler.expression(r).text, r.type) for r in _fields_first(read)]
    return carried_sql((str(place), *value) for place, value in enumerate((*values, *more)))


def inputs_array_sql(compiler: Compiler, read: Iterable[typed.Field | typed.System]) -> str:
    """The same as a tagged array, to be carried inside of another."""
    return array_sql(
        compiler.scope,
        [(compiler.expression(r).text, representation(r.type)) for r in _fields_first(read)],
    )


def _fields_first(
    read: Iterable[typed.Field | typed.System],
) -> list[typed.Field | typed.System]:
    return sorted(read, key=lambda r: isinstance(r, typed.System))


def array_sql(scope: Scope, values: Iterable[tuple[str, Representation]]) -> str:
    """The tagged array of some values."""
    parts = [json_fragment(scope, text, form) for text, form in values]
    if not parts:
        return "'[]'"
    return "concat('[', " + ", ',', ".join(parts) + ", ']')"


def reject_sql(flow: Flow, site: int, inputs: str) -> str:
    """What marks a record of the flow as rejected."""
    return mark_sql(site, inputs, origin_sql(flow))


def mark_sql(site: int, inputs: str, origin: str) -> str:
    return f"named_struct('site', {site:d}, 'inputs', {inputs}, 'origin', {origin})"


def origin_sql(flow: Flow) -> str:
    """The fields of a group as they came into being; those of a record are in its file."""
    if not flow.has_groups:
        return NO_ORIGIN
    fields = [(name, quoted(column), type_) for name, (column, type_) in flow.origin.items()]
    return f"if({quoted(SOURCE)} is null, {carried_sql(fields)}, {NO_ORIGIN})"


def demand_sql(demand: Demand) -> str:
    """What marks a record that asks for another run."""
    return mark_sql(demand, "'[]'", NO_ORIGIN)


def is_kept(flow: Flow) -> str:
    """Whether a record is still in the flow."""
    return f"{quoted(REJECT)} is null" if flow.has_rejects else "true"


def rejecting(flow: Flow, fails: str | None, reject: str) -> str:
    """The mark of a record after a site: the one it had, or that of this site if it fails."""
    if fails is None:
        return quoted(REJECT) if flow.has_rejects else NO_REJECT
    new = f"if(({fails}) <=> true, {reject}, {NO_REJECT})"
    return f"coalesce({quoted(REJECT)}, {new})" if flow.has_rejects else new


def unless_rejected(test: str, has_rejects: bool) -> str:
    """A condition that rejected records are not asked."""
    return f"({quoted(REJECT)} is not null or {test})" if has_rejects else test


def nan_sql(text: str, type_: Type) -> str | None:
    """Where an emitted value is NaN."""
    if not type_.maybe(Kind.FLOAT):
        return None
    if representation(type_).is_tagged:
        return f"{text} <=> 'NaN'"
    return f"isnan({text})"


def with_rejected(flow: Flow, others: Sequence[Flow]) -> Flow:
    """The flow with the rejected records of others, which reached a node by another way.

    They are numbered: a place in their own order says nothing about one in that of the flow.
    """
    if not others:
        return flow
    aside = f"$aside{len(flow.aside)}"
    mark = [] if flow.has_rejects else [f"{NO_REJECT} as {quoted(REJECT)}"]
    kept = flow.frame.selectExpr("*", *mark, f"0L as {quoted(aside)}")
    values = {name: quoted(name) for name in (SOURCE, POSITION, REJECT)}
    values[aside] = "monotonically_increasing_id() + 1"
    columns = [
        f"cast({values.get(name, 'null')} as {type_}) as {quoted(name)}"
        for name, type_ in kept.dtypes
    ]
    marks = selection((SOURCE, POSITION, REJECT))
    rejected = (o.frame.where(f"{quoted(REJECT)} is not null").selectExpr(*marks) for o in others)
    numbered = reduce(DataFrame.unionByName, rejected).selectExpr(*columns)
    return replace(
        flow,
        frame=kept.unionByName(numbered),
        order=(*flow.order, aside),
        aside=(*flow.aside, aside),
        has_rejects=True,
    )
