"""The rules of operators: for which types each can work, what it gives and how it can fail."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax.ast import EQUALITY_OPS, ORDERING_OPS, BinaryOp, UnaryOp
from clinker.cxl.types import BOOL, NO_KIND, Kind, Type
from clinker.frozen import frozen

_NUMBERS = Kind.INT | Kind.FLOAT
_INSTANTS = Kind.DATE | Kind.DATETIME
_ORDERED = _NUMBERS | Kind.STRING | _INSTANTS


@frozen
class Ruling:
    """What an operation on operands of certain types amounts to."""

    type: Type
    fails: frozenset[FailureKind] = frozenset()


def rule_on_binary(op: BinaryOp, left: Type, right: Type) -> Ruling | None:
    """The ruling on a comparison or an arithmetic operation; None when it can never work."""
    if op in EQUALITY_OPS:
        return _equality(left, right)
    if op in ORDERING_OPS:
        return _ordering(left, right)
    return _arithmetic(op, left, right)


def rule_on_unary(op: UnaryOp, operand: Type) -> Ruling | None:
    if op is UnaryOp.NOT:
        return rule_on_logic(operand)
    kinds = operand.kinds & _NUMBERS
    if not kinds and not operand.is_null:
        return None
    fails = set(_mismatch(operand, _NUMBERS))
    if operand.maybe(Kind.INT):
        fails.add(FailureKind.INTEGER_OVERFLOW)
    return Ruling(Type(kinds | operand.kinds & Kind.NULL), frozenset(fails))


def rule_on_logic(*operands: Type) -> Ruling | None:
    """The ruling on `and`, `or` and `not`."""
    if not all(operand.maybe(Kind.BOOL | Kind.NULL) for operand in operands):
        return None
    if any(operand.kinds & ~Kind.NULL and not operand.maybe(Kind.BOOL) for operand in operands):
        return None
    fails = frozenset(kind for operand in operands for kind in _mismatch(operand, Kind.BOOL))
    null = any(operand.may_be_null for operand in operands)
    return Ruling(BOOL.nullable() if null else BOOL, fails)


def _mismatch(operand: Type, accepted: Kind) -> Iterator[FailureKind]:
    if not operand.only(accepted):
        yield FailureKind.TYPE_MISMATCH


def _pairs(left: Type, right: Type) -> Iterator[tuple[Kind, Kind]]:
    for a in left.kinds & ~Kind.NULL:
        for b in right.kinds & ~Kind.NULL:
            yield a, b


def _null_part(left: Type, right: Type) -> Kind:
    return (left.kinds | right.kinds) & Kind.NULL


def comparable(a: Kind, b: Kind) -> bool:
    """Whether values of these two kinds can be equal at all."""
    return a == b or (a | b) in _NUMBERS or (a | b) in _INSTANTS


def _equality(left: Type, right: Type) -> Ruling | None:
    possible = any(comparable(a, b) for a, b in _pairs(left, right))
    if not (possible or left.is_null or right.is_null):
        return None
    return Ruling(Type(Kind.BOOL | _null_part(left, right)))


def _ordering(left: Type, right: Type) -> Ruling | None:
    pairs = list(_pairs(left, right))
    if left.is_null or right.is_null:
        known = left if right.is_null else right
        works = known.is_null or known.maybe(_ORDERED)
        fails = not known.only(_ORDERED)
    else:
        verdicts = [comparable(a, b) and a in _ORDERED for a, b in pairs]
        works, fails = any(verdicts), not all(verdicts)
    if not works:
        return None
    kinds = frozenset({FailureKind.TYPE_MISMATCH}) if fails else frozenset()
    return Ruling(Type(Kind.BOOL | _null_part(left, right)), kinds)


def _arithmetic(op: BinaryOp, left: Type, right: Type) -> Ruling | None:
    accepted = _NUMBERS | Kind.STRING if op is BinaryOp.ADD else _NUMBERS
    if left.is_null or right.is_null:
        known = left if right.is_null else right
        kinds = known.kinds & accepted
        if not kinds and not known.is_null:
            return None
        return Ruling(Type(kinds | Kind.NULL), frozenset(_mismatch(known, accepted)))
    result = NO_KIND
    fails: set[FailureKind] = set()
    for a, b in _pairs(left, right):
        kind = _sum_kind(a, b, op)
        if kind is None:
            fails.add(FailureKind.TYPE_MISMATCH)
        else:
            result |= kind
    if not result:
        return None
    if result & Kind.INT:
        fails.add(FailureKind.INTEGER_OVERFLOW)
    if op in (BinaryOp.DIVIDE, BinaryOp.MODULO):
        fails.add(FailureKind.DIVISION_BY_ZERO)
    return Ruling(Type(result | _null_part(left, right)), frozenset(fails))


def _sum_kind(a: Kind, b: Kind, op: BinaryOp) -> Kind | None:
    if (a | b) in _NUMBERS:
        return Kind.FLOAT if Kind.FLOAT in a | b else Kind.INT
    if a == b == Kind.STRING and op is BinaryOp.ADD:
        return Kind.STRING
    return None
