"""How records leave a flow: marked with the site that rejects them and what it had read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from clinker.cxl.check import typed
from clinker.cxl.failure import Category
from clinker.cxl.run import tagged
from clinker.cxl.run.evaluate import Surroundings
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions import Compiler, Representation, Scope, representation
from clinker.engine.expressions.representation import json_fragment
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import IS_REJECTED, POSITION, REJECT, SOURCE, Flow, order_column
from clinker.engine.flow.frame import Frame, quoted
from clinker.engine.flow.hidden import MARK, MEMBERSHIP_COLUMN, NO_REJECT, Hidden
from clinker.engine.rejects.explaining import Reads
from clinker.engine.rejects.payload import payload_sql
from clinker.engine.rejects.sites import Demand, Explain
from clinker.engine.run.system import is_per_record
from clinker.engine.settling.keys import with_membership
from clinker.formats.common.read_spec import REJECT_TYPE
from clinker.plan.graph.graph import Unit

NO_ORIGIN = "CAST(NULL AS STRING)"
_NUMBER = "$number"

Read = typed.Field | typed.System


def mark(flow: Flow, fails: str | None, reject: str) -> Flow:
    """The flow in which records that fail are rejected; a record is rejected only once."""
    return flow if fails is None else flow.rejecting(fails, reject)


def reject_sql(site: int, inputs: str, origin: str = NO_ORIGIN) -> str:
    """What stands in the mark of a rejected record."""
    values = zip(REJECT_TYPE, (f"{site:d}", inputs, origin), strict=True)
    parts = (f"'{field.name}', {text}" for field, text in values)
    return f"named_struct({', '.join(parts)})"


def rejection(
    building: Building,
    unit: Unit,
    flow: Flow,
    compiler: Compiler,
    read: Sequence[Read],
    explain: Callable[[Reads, Surroundings], Explain],
    *,
    more: Iterable[tuple[str, Type]] = (),
    expressions: Iterable[typed.Expr] = (),
) -> str:
    """The mark of records that a node rejects for reasons that the interpreter finds again.

    It finds them by what was `read` of the record, and perhaps `more`; `expressions` are those that
    it evaluates.
    """
    known = building.surroundings(unit, expressions)
    site = building.site(unit, explain(reads_of(read), known))
    return reject_sql(site, inputs_sql(compiler, read, more), origin_sql(flow))


def stated_rejection(
    building: Building, unit: Unit, flow: Flow, reason: str, *, is_fatal: bool = False
) -> str:
    """The mark of records that a node rejects for a reason that it states itself."""
    site = building.site(unit, None, is_fatal=is_fatal)
    return reject_sql(site, reason, origin_sql(flow))


def demand_sql(demand: Demand) -> str:
    """What marks a record that asks for another run."""
    return reject_sql(demand, "'[]'")


def stated_reason(category: Category, detail: str) -> str:
    """A reason that the engine gives itself."""
    text = tagged.encode({"category": category, "detail": detail})
    assert text is not None
    return text_literal(text)


# What was read


def read_expressions(expressions: Iterable[typed.Expr]) -> list[Read]:
    """What these expressions read of a record, each once."""
    reads: dict[object, Read] = {}
    for expression in expressions:
        for part in _parts(expression):
            if isinstance(part, typed.Field):
                reads.setdefault((part.qualifier, part.name), part)
            elif isinstance(part, typed.System):
                key = part.namespace, part.path
                if is_per_record(key):
                    reads.setdefault(key, part)
    return list(reads.values())


def _parts(expression: typed.Expr) -> Iterator[typed.Expr]:
    """The expression and what it is made of, definitions of its symbols included."""
    for part in expression.walk():
        yield part
        if isinstance(part, typed.Local) and part.symbol.definition:
            yield from _parts(part.symbol.definition)


def reads_of(read: Iterable[Read]) -> Reads:
    """What was read, as the explanation of a reject wants to know it: fields first."""
    read = list(read)
    return Reads(
        tuple((f.qualifier, f.name) for f in read if isinstance(f, typed.Field)),
        tuple((s.namespace, s.path) for s in read if isinstance(s, typed.System)),
    )


def inputs_sql(
    compiler: Compiler, read: Iterable[Read], more: Iterable[tuple[str, Type]] = ()
) -> str:
    """The values that were read, and perhaps more, for the driver to explain what happened."""
    values = [(compiler.expression(r).text, r.type) for r in _fields_first(read)]
    return payload_sql((str(place), *value) for place, value in enumerate((*values, *more)))


def inputs_array_sql(compiler: Compiler, read: Iterable[Read]) -> str:
    """The same as a tagged array, to be carried inside of another."""
    return array_sql(
        compiler.scope,
        [(compiler.expression(r).text, representation(r.type)) for r in _fields_first(read)],
    )


def _fields_first(read: Iterable[Read]) -> list[Read]:
    return sorted(read, key=lambda r: isinstance(r, typed.System))


def array_sql(scope: Scope, values: Iterable[tuple[str, Representation]]) -> str:
    """The tagged array of some values."""
    parts = [json_fragment(scope, text, form) for text, form in values]
    if not parts:
        return "'[]'"
    return "concat('[', " + ", ',', ".join(parts) + ", ']')"


def origin_sql(flow: Flow) -> str:
    """The fields of a group as they came into being; those of a record are in its file."""
    if not flow.has_groups:
        return NO_ORIGIN
    columns = [*flow.hidden_of(kinds.ORIGIN).items()]
    columns += [(each.name, each) for each in flow.hidden_of(kinds.FIRST).values()]
    fields = [(key, flow.value(each.name), each.type) for key, each in columns]
    return f"if({flow.value(SOURCE)} IS NULL, {payload_sql(fields)}, {NO_ORIGIN})"


def nan_sql(text: str, type_: Type) -> str | None:
    """Where an emitted value is NaN."""
    if not type_.maybe(Kind.FLOAT):
        return None
    if representation(type_).is_tagged:
        return f"{text} <=> 'NaN'"
    return f"isnan({text})"


# Rejected by another way


def with_rejected(building: Building, flow: Flow, others: Sequence[Flow]) -> Flow:
    """The flow with the rejected records of others, which reached a node by another way.

    They are numbered: a place in their own order says nothing about one in that of the flow.
    """
    if not others:
        return flow
    aside = order_column(f"aside{len(flow.aside)}")
    added = [(aside, "0L"), *([] if flow.has_rejects else [(MARK, NO_REJECT)])]
    if building.plan.correlation.sources and MEMBERSHIP_COLUMN.name not in flow.hidden:
        added.append((MEMBERSHIP_COLUMN, MEMBERSHIP_COLUMN.null))
    kept = flow.with_hidden(added).built()
    kept = replace(kept, order=(*kept.order, aside.name), aside=(*kept.aside, aside.name))
    membership = [MEMBERSHIP_COLUMN] if building.plan.correlation.sources else []
    first, *more = (_rejects(with_membership(building, other), membership) for other in others)
    values = {name: quoted(name) for name in first.names}
    values[aside.name] = f"{quoted(_NUMBER)} + 1"
    types = {name: representation(kept.held_type(name)).ddl for name in kept.columns}
    types |= {name: each.ddl for name, each in kept.hidden.items()}
    columns = [
        (name, f"CAST({values.get(name, 'NULL')} AS {type_})") for name, type_ in types.items()
    ]
    numbered = (first.union(more) if more else first).number(_NUMBER).select(columns)
    return kept.standing_on(kept.frame.keep(kept.names).union([numbered]))


def _rejects(flow: Flow, more: Sequence[Hidden]) -> Frame:
    built = flow.built()
    names = (SOURCE, POSITION, REJECT, *(each.name for each in more))
    return built.frame.where_in_place(IS_REJECTED).keep(names)
