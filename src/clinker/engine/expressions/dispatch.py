"""Operations on values whose kind is known only at run time: written once for each kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from clinker.cxl.sql import NotNative, Operand, Sql
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions.representation import (
    Representation,
    convert,
    is_of_kind,
    null,
    representation,
)
from clinker.engine.expressions.scope import Scope
from clinker.frozen import frozen

_MAX_COMBINATIONS = 40

Write: TypeAlias = Callable[[Sequence[Operand]], "tuple[Sql, Type] | None"]
"""The operation for operands of one kind each, with its type; None where it fails."""


def kind_of(type_: Type) -> Kind:
    """The kind of a type that has one, apart from null."""
    return type_.kinds & ~Kind.NULL


@frozen
class Alternative:
    """An operand as it is where `test` holds; None stands for always."""

    operand: Operand
    test: str | None = None


def alternatives(scope: Scope, operand: Operand) -> list[Alternative]:
    """The operand in the native form of each kind it can have."""
    kinds = kind_of(operand.type)
    if len(kinds) <= 1:
        return [Alternative(operand)]
    return [of_kind(scope, operand, kind) for kind in kinds]


def of_kind(scope: Scope, operand: Operand, kind: Kind) -> Alternative:
    type_ = Type(kind, operand.type.element if kind is Kind.ARRAY else None)
    if kind == kind_of(operand.type):
        return Alternative(operand)
    null_part = operand.type.kinds & Kind.NULL
    native = scope.bind(
        convert(scope, operand.text, representation(operand.type), representation(type_))
    )
    test = is_of_kind(operand.text, kind, operand.type)
    return Alternative(Operand(native, Type(kind | null_part, type_.element)), test)


def by_kind(scope: Scope, operands: Sequence[Operand], write: Write, target: Representation) -> Sql:
    """An operation that is null if an operand is, in the form `target`.

    Operands are names or literals.
    """
    present = " AND ".join(f"{operand.text} IS NOT NULL" for operand in operands)
    found = [alternatives(scope, operand) for operand in operands]
    return chosen(scope, found, write, target, present)


def chosen(
    scope: Scope,
    operands: Sequence[Sequence[Alternative]],
    write: Write,
    target: Representation,
    otherwise: str,
) -> Sql:
    """The operation for the alternatives that hold.

    Where it has no meaning for those, it fails if `otherwise`.
    """
    combinations = list(itertools.product(*operands))
    if len(combinations) > _MAX_COMBINATIONS:
        raise NotNative
    branches: list[tuple[str, Sql]] = []
    is_complete = True
    for combination in combinations:
        written = write([alternative.operand for alternative in combination])
        if written is None:
            is_complete = False
            continue
        sql, type_ = written
        found = Sql(convert(scope, sql.text, representation(type_), target), sql.fails)
        tests = [alternative.test for alternative in combination if alternative.test]
        if not tests:
            return found
        branches.append((" AND ".join(tests), found))
    return _case(branches, target, None if is_complete else f"({otherwise})")


def _case(
    branches: Sequence[tuple[str, Sql]], target: Representation, otherwise: str | None
) -> Sql:
    if not branches:
        return Sql(null(target), otherwise)
    values = " ".join(f"WHEN {condition} THEN {sql.text}" for condition, sql in branches)
    value = f"CASE {values} END"
    if not otherwise and not any(sql.fails for _, sql in branches):
        return Sql(value)
    fails = " ".join(f"WHEN {test} THEN {sql.fails or 'false'}" for test, sql in branches)
    return Sql(value, f"CASE {fails} ELSE {otherwise or 'false'} END")
