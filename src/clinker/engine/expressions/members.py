"""Members of maps: values of keys that a program names.

A map is a tagged text. All members that are read of one are found in one go, as a struct.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clinker.cxl import typed
from clinker.engine.expressions.representation import text_literal
from clinker.engine.expressions.scope import Scope

_RESERVED = "_corrupt_record"
"""A field in which Spark puts what it cannot read."""
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def members_read(expressions: Iterable[typed.Expr]) -> dict[object, list[str]]:
    """The keys that these expressions read of maps, by what holds the map."""
    found: dict[object, dict[str, None]] = {}
    for expression in expressions:
        for part in expression.walk():
            if isinstance(part, typed.Index) and (member := member_of(part)):
                holder, key = member
                found.setdefault(holder, {})[key] = None
    return {holder: list(keys) for holder, keys in found.items()}


def struct_of(tagged: str, keys: Iterable[str], is_map: str | None) -> str:
    """The members of a tagged value; null where it is not, says `is_map`, a map."""
    return _parsed(tagged, _ddl(keys), is_map)


def structs_of(scope: Scope, elements: str, keys: Sequence[str]) -> str:
    """The members of every element of an array; null for those that are no maps.

    If all are maps they are read in one go, since to begin takes as long as to read some.
    """
    ddl = _ddl(keys)
    all_maps = scope.over(elements, "forall", _is_map)
    every = _parsed(f"concat('[', array_join({elements}, ','), ']')", f"ARRAY<{ddl}>", all_maps)
    each = scope.over(elements, "transform", lambda x: _parsed(x, ddl, _is_map(x)))
    return f"coalesce({every}, {each})"


def _ddl(keys: Iterable[str]) -> str:
    return f"STRUCT<{', '.join(f'`{key}` STRING' for key in keys)}>"


def _parsed(tagged: str, ddl: str, is_map: str | None) -> str:
    text = f"if({is_map}, {tagged}, NULL)" if is_map else tagged
    return f"from_json({text}, {text_literal(ddl)})"


def _is_map(tagged: str) -> str:
    return f"startswith({tagged}, '{{')"


def is_read_by_member(symbol: typed.Symbol, expressions: Iterable[typed.Expr]) -> bool:
    """Whether nothing is read of a symbol but values of keys that have names."""
    parts = [part for expression in expressions for part in expression.walk()]
    uses = [p for p in parts if isinstance(p, typed.Local) and p.symbol is symbol]
    members = [p for p in parts if isinstance(p, typed.Index) and member_of(p)]
    by_member = [p for p in members if isinstance(p.object, typed.Local) and p.object in uses]
    return bool(uses) and len(by_member) == len(uses)


def member_of(expr: typed.Index) -> tuple[object, str] | None:
    """What holds a map and the key that is read of it, if both have names."""
    index = expr.index
    if not (isinstance(index, typed.Literal) and isinstance(index.value, str)):
        return None
    if not PLAIN_KEY.fullmatch(index.value) or index.value == _RESERVED:
        return None
    match expr.object:
        case typed.Local(symbol=symbol):
            return symbol, index.value
        case typed.Field(qualifier=qualifier, name=name):
            return (qualifier, name), index.value
    return None
