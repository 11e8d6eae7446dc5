"""Identity: what `distinct`, grouping and partitions take for the same value."""

from __future__ import annotations

from clinker.cxl.types import Kind, Type
from clinker.engine.expressions import Scope, representation
from clinker.engine.expressions.representation import is_of_kind


def identity_sql(scope: Scope, text: str, type_: Type) -> str:
    """A value that is equal for values that count as one; the engine compares the rest alike.

    Of numbers whose kind is known only at run time, 1 and 1.0 are one.
    """
    form = representation(type_)
    if form.element:
        element = type_.element_type
        if identity_sql(scope, "x", element) == "x":
            return text
        return scope.over(text, "transform", lambda x: identity_sql(scope, x, element))
    if not form.is_tagged or not type_.maybe(Kind.FLOAT):
        return text
    value = scope.bind(text)
    is_whole = f"{is_of_kind(value, Kind.FLOAT, type_)} and endswith({value}, '.0')"
    whole = f"if({value} = '-0.0', '0', left({value}, length({value}) - 2))"
    return f"if({is_whole}, {whole}, {value})"
