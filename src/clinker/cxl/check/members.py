"""Members of maps: values of keys that a program names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clinker.cxl.check import typed

_RESERVED = "_corrupt_record"
"""A key that Spark uses for what it cannot read."""
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def members_read(expressions: Iterable[typed.Expr]) -> dict[object, list[str]]:
    """The keys that these expressions read of maps, by what holds the map."""
    by_holder: dict[object, dict[str, None]] = {}
    for expression in expressions:
        for part in expression.walk():
            if isinstance(part, typed.Index) and (member := member_of(part)):
                holder, key = member
                by_holder.setdefault(holder, {})[key] = None
    return {holder: list(keys) for holder, keys in by_holder.items()}


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
