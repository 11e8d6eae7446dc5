"""The SQL of operators on operands of one kind each."""

from __future__ import annotations

from collections.abc import Sequence

from clinker.cxl.check.operators import comparable
from clinker.cxl.sql.operand import NotNative, Operand, Sql
from clinker.cxl.sql.text import int_literal
from clinker.cxl.syntax.ast import EQUALITY_OPS, ORDERING_OPS, BinaryOp
from clinker.cxl.types import BOOL, FLOAT, INT, STRING, Kind, Type
from clinker.cxl.values import MIN_INT
from clinker.engine.expressions.conditions import both, either, present
from clinker.engine.expressions.dispatch import kind_of, write_by_kind
from clinker.engine.expressions.scope import Scope
from clinker.formats.common.column_types import representation

NUMBERS = Kind.INT | Kind.FLOAT
INSTANTS = Kind.DATE | Kind.DATETIME
ORDERED = NUMBERS | Kind.STRING | INSTANTS

_SQL_OPS = {
    BinaryOp.EQUAL: "=",
    BinaryOp.NOT_EQUAL: "<>",
    BinaryOp.LESS: "<",
    BinaryOp.LESS_EQUAL: "<=",
    BinaryOp.GREATER: ">",
    BinaryOp.GREATER_EQUAL: ">=",
}
_CHECKED = {
    BinaryOp.ADD: "try_add",
    BinaryOp.SUBTRACT: "try_subtract",
    BinaryOp.MULTIPLY: "try_multiply",
}
_SMALLEST = int_literal(MIN_INT)
_ZERO = Operand("0L", INT, is_literal=True, value=0)


def write_binary(scope: Scope, op: BinaryOp, a: Operand, b: Operand) -> tuple[Sql, Type] | None:
    """An ordering or arithmetic and its type; None where it fails for operands of these kinds."""
    if op in ORDERING_OPS:
        text = compare(scope, op, a, b)
        return (Sql(text), BOOL) if text else None
    return _arithmetic(scope, op, a, b)


# Arithmetic


def as_float(operand: Operand) -> Operand:
    if kind_of(operand.type) is Kind.FLOAT:
        return operand
    type_ = Type(Kind.FLOAT | operand.type.kinds & Kind.NULL)
    if operand.is_literal and isinstance(operand.value, int):
        value = float(operand.value)
        return Operand(f"{value!r}D", type_, is_literal=True, value=value)
    return Operand(f"CAST({operand.text} AS DOUBLE)", type_)


def _arithmetic(scope: Scope, op: BinaryOp, a: Operand, b: Operand) -> tuple[Sql, Type] | None:
    kinds = kind_of(a.type) | kind_of(b.type)
    if kinds == Kind.STRING and op is BinaryOp.ADD:
        return Sql(f"concat({a.text}, {b.text})"), STRING
    if kinds == Kind.INT:
        return _of_ints(scope, op, a, b), INT
    if kinds in NUMBERS:
        return _of_floats(op, as_float(a), as_float(b)), FLOAT
    return None


def _of_ints(scope: Scope, op: BinaryOp, a: Operand, b: Operand) -> Sql:
    if op in _CHECKED:
        value = scope.bind(f"{_CHECKED[op]}({a.text}, {b.text})")
        return Sql(value, both(f"{value} IS NULL", present(a), present(b)))
    by_zero = _is_zero(b)
    if op is BinaryOp.MODULO:
        # What is divided by -1 leaves nothing, not even where the quotient would be too large.
        divisor = b.text if b.is_literal and b.value != -1 else f"if({b.text} = -1L, 1L, {b.text})"
        return Sql(f"try_mod({a.text}, {divisor})", _failing(a, by_zero))
    overflows: str | None = None
    if not b.is_literal or b.value == -1:
        overflows = f"({a.text} = {_SMALLEST} AND {b.text} = -1L)"
    impossible = either(by_zero, overflows)
    # The divisor is what is guarded: an engine may compute a quotient before it looks at a test.
    divisor = f"if({impossible}, CAST(NULL AS BIGINT), {b.text})" if impossible else b.text
    if b.is_literal and not b.value:
        divisor = "CAST(NULL AS BIGINT)"
    return Sql(f"({a.text} DIV {divisor})", either(_failing(a, by_zero), overflows))


def _of_floats(op: BinaryOp, a: Operand, b: Operand) -> Sql:
    if op in _CHECKED:
        return Sql(f"({a.text} {op} {b.text})")
    by_zero = _is_zero(b)
    divisor = f"if({by_zero}, CAST(NULL AS DOUBLE), {b.text})" if by_zero else b.text
    if b.is_literal and not b.value:
        divisor = "CAST(NULL AS DOUBLE)"
    sign = "/" if op is BinaryOp.DIVIDE else "%"
    return Sql(f"({a.text} {sign} {divisor})", _failing(a, by_zero))


def _is_zero(divisor: Operand) -> str | None:
    if divisor.is_literal and divisor.value:
        return None
    zero = "0L" if kind_of(divisor.type) is Kind.INT else "0D"
    return f"({divisor.text} = {zero})"


def _failing(dividend: Operand, by_zero: str | None) -> str | None:
    return both(present(dividend), by_zero) if by_zero else None


def negate(scope: Scope, a: Operand) -> tuple[Sql, Type] | None:
    match kind_of(a.type):
        case Kind.INT:
            # Subtraction from zero fails as negation does.
            return _of_ints(scope, BinaryOp.SUBTRACT, _ZERO, a), INT
        case Kind.FLOAT:
            return Sql(f"(-{a.text})"), FLOAT
    return None


# Comparison


def compare(scope: Scope, op: BinaryOp, a: Operand, b: Operand) -> str | None:
    """A comparison that is null if an operand is; None where there is no order."""
    first, second = kind_of(a.type), kind_of(b.type)
    if not comparable(first, second) or (op in ORDERING_OPS and first not in ORDERED):
        return None
    if first in Kind.ARRAY | Kind.MAP:
        equal = _equal_containers(scope, a, b)
        return f"(NOT {equal})" if op is BinaryOp.NOT_EQUAL else equal
    if Kind.FLOAT in first | second:
        return _of_doubles(op, as_float(a), as_float(b))
    if first != second:
        a, b = as_instant(a), as_instant(b)
    return f"({a.text} {_SQL_OPS[op]} {b.text})"


def as_instant(operand: Operand) -> Operand:
    if kind_of(operand.type) is Kind.DATETIME:
        return operand
    return Operand(f"CAST({operand.text} AS TIMESTAMP_NTZ)", operand.type)


def _of_doubles(op: BinaryOp, a: Operand, b: Operand) -> str:
    """For Spark NaN equals itself and is above every number; here it compares with nothing."""
    plain = f"{a.text} {_SQL_OPS[op]} {b.text}"
    if op in (BinaryOp.LESS, BinaryOp.LESS_EQUAL):
        a, b = b, a
    elif op in EQUALITY_OPS and b.is_literal:
        return f"({plain})"
    if a.is_literal:
        return f"({plain})"
    is_nan = both(f"isnan({a.text})", present(b))
    return f"({plain} OR {is_nan})" if op is BinaryOp.NOT_EQUAL else f"({plain} AND NOT {is_nan})"


def _equal_containers(scope: Scope, a: Operand, b: Operand) -> str:
    if kind_of(a.type) is Kind.MAP:
        raise NotNative
    x, y = a.type.element_type, b.type.element_type
    same = scope.over(
        f"zip_with({a.text}, {b.text}, (x, y) -> struct(x AS x, y AS y))",
        "forall",
        lambda pair: same_value(scope, Operand(f"{pair}.x", x), Operand(f"{pair}.y", y)),
    )
    return f"(size({a.text}) = size({b.text}) AND {same})"


def same_value(scope: Scope, a: Operand, b: Operand) -> str:
    """Equality in which null is a value like any other; never null itself."""
    a, b = (Operand(scope.bind(x.text), x.type) for x in (a, b))
    if a.type.is_null or b.type.is_null:
        return f"({a.text} IS NULL AND {b.text} IS NULL)"
    equal = equate(scope, BinaryOp.EQUAL, a, b)
    return f"coalesce({equal}, {a.text} IS NULL AND {b.text} IS NULL)"


def equate(scope: Scope, op: BinaryOp, a: Operand, b: Operand) -> str:
    """`==` or `!=` of values of any kinds: those of kinds that do not compare differ."""
    containers = a.type.kinds & b.type.kinds & (Kind.ARRAY | Kind.MAP)
    if containers and (a.type.maybe(Kind.MAP) or not _is_shallow(a.type, b.type)):
        raise NotNative

    def equal(operands: Sequence[Operand]) -> tuple[Sql, Type] | None:
        first, second = operands
        if not comparable(kind_of(first.type), kind_of(second.type)):
            return None
        text = compare(scope, op, first, second)
        return (Sql(text), BOOL) if text else None

    result = write_by_kind(scope, (a, b), equal, representation(BOOL))
    if not result.fails:
        return result.text
    differs = "TRUE" if op is BinaryOp.NOT_EQUAL else "FALSE"
    return f"if({result.fails}, {differs}, {result.text})"


def _is_shallow(a: Type, b: Type) -> bool:
    """Whether elements of arrays of these types can be compared without looking into any number
    of levels of unknown elements."""
    x, y = a.element_type, b.element_type
    common = x.kinds & y.kinds & (Kind.ARRAY | Kind.MAP)
    return not common or (common == Kind.ARRAY and x.only(Kind.ARRAY) and _is_shallow(x, y))
