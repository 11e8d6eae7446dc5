"""Operations on values whose kind is known only at run time: written once for each kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from clinker.cxl.sql.operand import NotNative, Operand, Sql
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions.conditions import both, present, stepwise
from clinker.engine.expressions.representation import CODES, convert, is_of_kind, kind_code, null
from clinker.engine.expressions.scope import Scope
from clinker.formats.common.column_types import Representation, representation
from clinker.frozen import frozen

_MAX_BRANCHES = 40

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


def list_alternatives(scope: Scope, operand: Operand) -> list[Alternative]:
    """The operand in the native form of each kind it can have."""
    kinds = kind_of(operand.type)
    if len(kinds) <= 1:
        return [Alternative(operand)]
    return [take_kind(scope, operand, kind, one_of_several=True) for kind in kinds]


def take_kind(
    scope: Scope, operand: Operand, kind: Kind, *, one_of_several: bool = False
) -> Alternative:
    """The operand where it is of this kind, in its native form."""
    if kind == kind_of(operand.type):
        return Alternative(operand)
    type_ = Type(
        kind | operand.type.kinds & Kind.NULL,
        operand.type.element if kind is Kind.ARRAY else None,
    )
    if one_of_several:
        test = f"{scope.bind(kind_code(operand.text, operand.type))} = {CODES[kind]}"
    else:
        test = is_of_kind(operand.text, kind, operand.type)
    forms = representation(operand.type), representation(type_)
    native = convert(scope, operand.text, *forms, test)
    return Alternative(Operand(scope.bind(native), type_), test)


def write_by_kind(
    scope: Scope, operands: Sequence[Operand], write: Write, target: Representation
) -> Sql:
    """An operation that is null if an operand is, in the form `target`.

    Operands are names or literals.
    """
    choices = [list_alternatives(scope, operand) for operand in operands]
    return choose(scope, choices, write, target, both(*map(present, operands)) or "TRUE")


def choose(
    scope: Scope,
    operands: Sequence[Sequence[Alternative]],
    write: Write,
    target: Representation,
    otherwise: str,
) -> Sql:
    """The operation for the alternatives that hold.

    Where it has no meaning for those, it fails if `otherwise`.
    """
    values: dict[Representation, list[tuple[str, str]]] = {}
    failures: list[tuple[str, str | None]] = []
    is_complete = True
    for combination in itertools.product(*operands):
        written = write([alternative.operand for alternative in combination])
        if written is None:
            is_complete = False
            continue
        sql, type_ = written
        form = representation(type_)
        tests = [alternative.test for alternative in combination if alternative.test]
        if not tests:
            return Sql(convert(scope, sql.text, form, target), sql.fails)
        condition = " AND ".join(tests)
        values.setdefault(form, []).append((condition, sql.text))
        failures.append((condition, sql.fails))
        if len(failures) > _MAX_BRANCHES:
            raise NotNative
    fails = stepwise(failures, None if is_complete or otherwise == "FALSE" else otherwise)
    return Sql(_choose_value(scope, values, target), fails)


def _choose_value(
    scope: Scope,
    values: dict[Representation, list[tuple[str, str]]],
    target: Representation,
) -> str:
    """The value of the branch that holds, if any: the branches of every other form give null."""
    cases = [
        convert(scope, f"CASE {_branches(branches)} END", form, target)
        for form, branches in values.items()
    ]
    if len(cases) <= 1:
        return cases[0] if cases else null(target)
    return f"coalesce({', '.join(cases)})"


def _branches(branches: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"WHEN {condition} THEN {text}" for condition, text in branches)
