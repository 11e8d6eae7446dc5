"""What operators do with values. Null operands never get here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.syntax.ast import BinaryOp
from clinker.cxl.values import Value, checked_int, compare, equal, kind_name, text_of, type_mismatch

Number: TypeAlias = int | float


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(op: str, a: Value, b: Value) -> tuple[Number, Number]:
    """Both operands as numbers of one kind."""
    if not (_is_number(a) and _is_number(b)):
        raise Failure(
            FailureKind.TYPE_MISMATCH,
            f"cannot apply '{op}' to {kind_name(a)} and {kind_name(b)}",
            text_of(b if _is_number(a) else a),
        )
    assert isinstance(a, int | float)
    assert isinstance(b, int | float)
    return (a, b) if type(a) is type(b) else (float(a), float(b))


def add(a: Value, b: Value) -> Value:
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    x, y = _numbers("+", a, b)
    return _fit(x + y, "addition")


def subtract(a: Value, b: Value) -> Value:
    x, y = _numbers("-", a, b)
    return _fit(x - y, "subtraction")


def multiply(a: Value, b: Value) -> Value:
    x, y = _numbers("*", a, b)
    return _fit(x * y, "multiplication")


def divide(a: Value, b: Value) -> Value:
    """Ints divide to an Int, truncated toward zero."""
    x, y = _numbers("/", a, b)
    if y == 0:
        raise Failure(FailureKind.DIVISION_BY_ZERO, "division by zero")
    if isinstance(x, int) and isinstance(y, int):
        quotient = abs(x) // abs(y)
        return _fit(quotient if (x < 0) == (y < 0) else -quotient, "division")
    return x / y


def modulo(a: Value, b: Value) -> Value:
    """The remainder has the sign of the dividend."""
    x, y = _numbers("%", a, b)
    if y == 0:
        raise Failure(FailureKind.DIVISION_BY_ZERO, "division by zero")
    if isinstance(x, int) and isinstance(y, int):
        rest = abs(x) % abs(y)
        return -rest if x < 0 else rest
    return math.nan if math.isinf(x) else math.fmod(x, y)


def negate(a: Value) -> Value:
    if not _is_number(a):
        raise type_mismatch("'-'", "a number", a)
    assert isinstance(a, int | float)
    return _fit(-a, "negation")


def _fit(result: Number, operation: str) -> Number:
    return checked_int(result, operation) if isinstance(result, int) else result


def _ordering(test: Callable[[int], bool]) -> Callable[[Value, Value], Value]:
    def ordered(a: Value, b: Value) -> Value:
        order = compare(a, b)
        return order is not None and test(order)

    return ordered


BINARY: dict[BinaryOp, Callable[[Value, Value], Value]] = {
    BinaryOp.ADD: add,
    BinaryOp.SUBTRACT: subtract,
    BinaryOp.MULTIPLY: multiply,
    BinaryOp.DIVIDE: divide,
    BinaryOp.MODULO: modulo,
    BinaryOp.EQUAL: equal,
    BinaryOp.NOT_EQUAL: lambda a, b: not equal(a, b),
    BinaryOp.LESS: _ordering(lambda order: order < 0),
    BinaryOp.LESS_EQUAL: _ordering(lambda order: order <= 0),
    BinaryOp.GREATER: _ordering(lambda order: order > 0),
    BinaryOp.GREATER_EQUAL: _ordering(lambda order: order >= 0),
}
