"""What expressions read: fields and variables, each in the way in which it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from clinker.cxl.check import typed
from clinker.frozen import frozen
from clinker.plan.analyses.lineage.influence import Influence

Elements: TypeAlias = Mapping[typed.Symbol, typed.Expr]
"""The arrays that the elements of `emit each` blocks are taken from."""


@frozen
class Read:
    """A field, or a variable such as `$meta.a`, that an expression reads."""

    name: str
    qualifier: str | None
    influence: Influence
    of_window: bool = False
    """Whether it is read of the records that a window covers."""


def reads(
    expression: typed.Expr,
    elements: Elements,
    how: Influence = Influence.IDENTITY,
    *,
    of_window: bool = False,
) -> Iterator[Read]:
    """What the value of an expression depends on."""
    match expression:
        case typed.Field(name=name, qualifier=qualifier):
            yield Read(name, qualifier, how, of_window)
        case typed.System(namespace=namespace, path=path):
            yield Read(f"${namespace}.{'.'.join(path)}", None, how, of_window)
        case typed.Local(symbol=symbol):
            definition = symbol.definition or elements.get(symbol)
            if definition:
                is_element = symbol.definition is None
                then = _computed(how) if is_element else how
                yield from reads(definition, elements, then, of_window=of_window)
        case typed.If(condition=condition):
            values = [expression.then, *([expression.otherwise] if expression.otherwise else [])]
            yield from _chosen([condition], values, elements, how, of_window)
        case typed.Match(subject=subject, arms=arms):
            conditions = [*([subject] if subject else []), *(p for p, _ in arms if p)]
            values = [value for _, value in arms]
            yield from _chosen(conditions, values, elements, how, of_window)
        case typed.Inline(bindings=bindings, body=body):
            inner = {**elements, **dict(bindings)}
            yield from reads(body, inner, _computed(how), of_window=of_window)
        case typed.Aggregate(args=args):
            then = Influence.AGGREGATION if how.is_direct else how
            for arg in args:
                yield from reads(arg, elements, then, of_window=of_window)
        case typed.Window(argument=argument):
            if argument:
                yield from reads(argument, elements, _computed(how), of_window=True)
        case _:
            for child in expression.children():
                yield from reads(child, elements, _computed(how), of_window=of_window)


def _chosen(
    conditions: list[typed.Expr],
    values: list[typed.Expr],
    elements: Elements,
    how: Influence,
    of_window: bool,
) -> Iterator[Read]:
    deciding = Influence.CONDITIONAL if how.is_direct else how
    for condition in conditions:
        yield from reads(condition, elements, deciding, of_window=of_window)
    for value in values:
        yield from reads(value, elements, _computed(how), of_window=of_window)


def _computed(how: Influence) -> Influence:
    return Influence.TRANSFORMATION if how is Influence.IDENTITY else how


def elements_of(program: typed.Program) -> Elements:
    """Where the elements of all blocks of a program come from."""
    blocks = (s for s in program.every_statement() if isinstance(s, typed.EmitEach))
    return {block.element: block.source for block in blocks}
