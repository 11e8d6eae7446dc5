"""Random well-typed programs, as text, with a schema and records that conform to it.

Text is written from the type that is wanted: a `Writer` knows the names in scope and, for a type,
every way the language has to give a value of it. What it writes is nearly always accepted by the
checker; the few programs that are not are for the tests to discard.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import ClosureParam, Method, Param
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NUMERIC,
    STRING,
    Kind,
    Type,
    array_of,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value, WrittenFloat

_T = TypeVar("_T")
Strategy: TypeAlias = st.SearchStrategy
Record: TypeAlias = dict[str, Value]

_NUMBERS = Kind.INT | Kind.FLOAT
_INSTANTS = Kind.DATE | Kind.DATETIME

# Values

# Medium sizes are left out: two of them are enough to `repeat` a text beyond all memory.
INTS = st.one_of(
    st.sampled_from([0, 1, -1, 2, 3, 10, MIN_INT, MAX_INT, MIN_INT + 1, 2**53, 2**53 + 1]),
    st.integers(-20, 20),
    st.integers(2**40, MAX_INT),
    st.integers(MIN_INT, -(2**40)),
)
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 2.5, -2.5, 0.5, 2.0**53, 2.0**63, -(2.0**63)]),
    st.sampled_from([float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308]),
    st.floats(),
)
_TEXTS = (
    "",
    " ",
    "a",
    "A",
    "ab,c,,d",
    "é",
    "e\u0301",  # the same letter as two code points
    "ß\u0130ŉ",
    "\U0001f600\U0001d54f",
    "\u00a0x\u2003",
    "\x1c\x85",
    "a\nb\tc\r\n",
    "\\ \" '",
    "0",
    "12",
    "-7",
    "+5",
    "1e5",
    "nan",
    "-inf",
    "9223372036854775808",
    "true",
    "No",
    "2024-02-29",
    "0001-01-01",
    "9999-12-31",
    "2023-02-29",
    "15/03/2024",
    "2024-02-29T23:59:59.999999",
    "9999-12-31T23:59:59-14:00",
    "a/b.tar.gz",
    "/",
    "..",
    ".x",
    "a.b[0].c",
    "k",
    "%Y-%m-%d",
    "%H",
    "[0-9]+",
    "(",
    ",.2f",
)
TEXTS = st.one_of(
    st.sampled_from(_TEXTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
)
DATES = st.one_of(
    st.sampled_from([dt.date.min, dt.date.max, dt.date(2024, 2, 29), dt.date(1900, 2, 28)]),
    st.dates(),
)
DATETIMES = st.one_of(
    st.sampled_from([dt.datetime.min, dt.datetime.max, dt.datetime(2024, 2, 29, 23, 59, 59, 5)]),
    st.dates().map(lambda day: dt.datetime(day.year, day.month, day.day)),
    st.datetimes().map(lambda moment: moment.replace(fold=0)),
)
_SCALARS: dict[Kind, Strategy[Any]] = {
    Kind.NULL: st.none(),
    Kind.BOOL: st.booleans(),
    Kind.INT: INTS,
    Kind.FLOAT: FLOATS,
    Kind.STRING: TEXTS,
    Kind.DATE: DATES,
    Kind.DATETIME: DATETIMES,
}
KEYS = st.sampled_from(["k", "a", "b", "", "a.b", "keys", "é"])


def _nested(items: Strategy[Any]) -> Strategy[Any]:
    return st.lists(items, max_size=3) | st.dictionaries(KEYS, items, max_size=3)


_WRITTEN = ["1.10", "2.0", "1e5", "-0", "1.0E+2", "0.000001", "12345678901234567890123", "1e400"]
_ANY_SCALAR = st.one_of(*_SCALARS.values(), st.sampled_from(_WRITTEN).map(WrittenFloat))
ANY_VALUES: Strategy[Any] = st.one_of(
    _ANY_SCALAR, _ANY_SCALAR, _nested(_ANY_SCALAR), _nested(_nested(_ANY_SCALAR))
)


@cache
def values(type_: Type) -> Strategy[Any]:
    """The values of a type, elements of arrays included."""
    if type_.is_any:
        return ANY_VALUES
    return st.one_of(*(_of_kind(kind, type_) for kind in type_.kinds))


def _of_kind(kind: Kind, type_: Type) -> Strategy[Any]:
    if kind is Kind.ARRAY:
        return st.lists(values(type_.element_type), max_size=4)
    if kind is Kind.MAP:
        return st.dictionaries(KEYS, ANY_VALUES, max_size=3)
    return _SCALARS[kind]


# Schema

_COLUMN_TYPES: dict[str, Type] = {
    "bool": BOOL,
    "int": INT,
    "float": FLOAT,
    "string": STRING,
    "date": DATE,
    "datetime": DATETIME,
    "numeric": NUMERIC,
    "any": ANY,
    "map": MAP,
    "array": ARRAY,
    "ints": array_of(INT),
    "floats": array_of(FLOAT.nullable()),
    "strings": array_of(STRING),
    "dates": array_of(DATE),
    "maps": array_of(MAP),
    "grid": array_of(array_of(INT.nullable())),
}
COLUMNS: Mapping[str, Type] = {
    **{f"c_{name}": type_ for name, type_ in _COLUMN_TYPES.items()},
    **{f"n_{name}": type_.nullable() for name, type_ in _COLUMN_TYPES.items()},
}
VARS: Mapping[str, Type] = {"limit": INT, "label": STRING.nullable(), "setting": ANY}

_NAME = re.compile(r"[A-Za-z_]\w*")


@st.composite
def records_for(draw: st.DrawFn, text: str, columns: Mapping[str, Type] = COLUMNS) -> Record:
    """A record with the columns a program mentions; one that is null may be left out."""
    mentioned = set(_NAME.findall(text))
    record: Record = {}
    for name, type_ in columns.items():
        if name in mentioned:
            value = draw(values(type_))
            if value is not None or draw(st.booleans()):
                record[name] = value
    return record


# Literals


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _float_literal(value: float) -> str:
    if value - value != 0:
        return f"{quoted(repr(value))}.to_float()"
    digits = format(Decimal(repr(value)), "f")
    digits = digits if "." in digits else digits + ".0"
    return f"({digits})" if digits.startswith("-") else digits


def literal(value: Value) -> str:
    """A value as an expression that gives it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return f"({value})" if value < 0 else str(value)
        case float():
            return _float_literal(value)
        case str():
            return quoted(value)
        case dt.datetime():
            return f"{quoted(value.isoformat())}.to_datetime()"
        case dt.date():
            return f"#{value.year:04}-{value.month:02}-{value.day:02}#"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{quoted(k)}: {literal(v)}" for k, v in value.items()) + "}"
    raise AssertionError(value)


PATTERNS = ("[0-9]+", "^a.*$", "(a)|(b)", "", "(?i)é", r"\\d{2,3}", "[^,]*", "a+?")
DATE_FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%j %Y", "%G-%V-%u", "%B %-d, %Y")
DATETIME_FORMATS = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %I:%M %p")
NUMBER_FORMATS = (",.2f", "", "+_", ".1%", "08.3f", "*^12,", ".3e")
TEXT_FORMATS = ("", ">5", "*^7")


def _checked_literals(method: Method, receiver: Type) -> tuple[str, ...]:
    """Texts that pass the compile-time check of a method's pattern or format."""
    match method.name:
        case "matches" | "find" | "capture":
            return PATTERNS
        case "to_datetime" | "try_datetime":
            return DATETIME_FORMATS
        case "format" if receiver.only(_NUMBERS):
            return NUMBER_FORMATS
        case "format" if receiver.only(Kind.STRING | Kind.BOOL):
            return TEXT_FORMATS
        case "format" if not receiver.only(_INSTANTS):
            return ("",)
    return DATE_FORMATS


# Expressions

SCALARS = (BOOL, INT, FLOAT, STRING, DATE, DATETIME)
WANTED = (*SCALARS, MAP, ARRAY, NUMERIC, *(array_of(t) for t in SCALARS), array_of(ARRAY))
ALL_METHODS = tuple(method for overloads in METHODS.values() for method in overloads)

_SAME_KIND = frozenset(
    "abs round round_to clamp min max add_days add_months add_years debug catch".split()
)
_TIME_OF_DAY = frozenset("hour minute second".split())


@dataclass(frozen=True)
class Plan:
    """A call that gives what is wanted: its receiver and its arguments, closures as their body."""

    method: Method
    receiver: Type
    args: tuple[Type, ...]


def _result(method: Method) -> Type:
    """What a method gives, as far as it does not depend on its receiver."""
    if isinstance(method.returns, Type):
        return method.returns
    return INT if method.name in _TIME_OF_DAY else ANY


def can_give(method: Method, want: Type) -> bool:
    if method.takes_closure and method.name == "find":
        return True
    if method.name in ("filter", "map", "flat_map", "remove"):
        return want.maybe(Kind.ARRAY)
    if method.name in _SAME_KIND:
        return want.maybe(method.receiver.kinds)
    return _result(method).maybe(want.kinds)


@cache
def methods_giving(want: Type) -> tuple[Method, ...]:
    return tuple(method for method in ALL_METHODS if can_give(method, want))


@cache
def matching(type_: Type, want: Type) -> bool:
    """Whether a value of `type_` may serve where `want` is expected."""
    common = type_.kinds & want.kinds & ~Kind.NULL
    if common == Kind.ARRAY and type_.element and want.element:
        return matching(type_.element, want.element)
    return bool(common)


Extra: TypeAlias = "Callable[[Writer, Type], str]"


@dataclass
class Writer:
    """Writes expressions of wanted types, using the names in scope."""

    draw: st.DrawFn
    names: dict[str, Type]
    extra: Extra | None = None
    """Another way to write an expression: a call of an aggregate or window function."""

    def pick(self, options: Sequence[_T]) -> _T:
        return options[self.draw(st.integers(0, len(options) - 1))]

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(0, of - 1)) == of - 1

    @contextmanager
    def binding(self, name: str, type_: Type) -> Iterator[None]:
        before = self.names
        self.names = {**before, name: type_}
        yield
        self.names = before

    # Leaves

    def expr(self, want: Type, depth: int) -> str:
        """An expression of a type that has something in common with `want`."""
        if want.is_any:
            want = self.pick(WANTED)
        if depth <= 0:
            return self.leaf(want)
        return self.pick(self.ways(want))(want, depth - 1)

    def leaf(self, want: Type) -> str:
        if self.extra and self.chance(2):
            return self.extra(self, want)
        named = [name for name, type_ in self.names.items() if matching(type_, want)]
        if named and not self.chance(3):
            return self.pick(named)
        return self.constant(want)

    def constant(self, want: Type) -> str:
        if self.chance(12):
            return "null"
        if want.maybe(Kind.DATETIME) and self.chance(4):
            return "now"
        for name, type_ in VARS.items():
            if matching(type_, want) and self.chance(8):
                return f"$vars.{name}"
        return literal(self.draw(values(want.without_null())))

    # Composites

    def ways(self, want: Type) -> list[Callable[[Type, int], str]]:
        ways: list[Callable[[Type, int], str]] = [
            lambda want, _: self.leaf(want),
            self.call,
            self.call,
            self.conditional,
            self.match,
            self.coalesce,
            self.index,
        ]
        if want.maybe(Kind.BOOL):
            ways += [self.comparison, self.comparison, self.logic, self.negated]
        if want.maybe(_NUMBERS):
            ways += [self.arithmetic, self.arithmetic, self.minus]
        if want.maybe(Kind.STRING):
            ways.append(self.joined)
        if want.maybe(Kind.ARRAY):
            ways += [self.array, self.array]
        if want.maybe(Kind.MAP):
            ways += [self.map, self.map]
        return ways

    def arithmetic(self, want: Type, depth: int) -> str:
        op = self.pick("+-*/%")
        other = NUMERIC if want.maybe(Kind.FLOAT) else INT
        sides = [self.expr(Type(want.kinds & _NUMBERS), depth), self.expr(other, depth)]
        left, right = reversed(sides) if self.chance(2) else sides
        return f"({left} {op} {right})"

    def minus(self, want: Type, depth: int) -> str:
        return f"(-{self.expr(Type(want.kinds & _NUMBERS), depth)})"

    def joined(self, _: Type, depth: int) -> str:
        return f"({self.expr(STRING, depth)} + {self.expr(STRING, depth)})"

    def comparison(self, _: Type, depth: int) -> str:
        op = self.pick(["==", "!=", "<", "<=", ">", ">="])
        ordered = (NUMERIC, STRING, DATE, DATETIME)
        of = self.pick(WANTED if op in ("==", "!=") else ordered)
        return f"({self.expr(of, depth)} {op} {self.expr(of, depth)})"

    def logic(self, _: Type, depth: int) -> str:
        op = self.pick([" and ", " or "])
        count = self.pick([2, 2, 3])
        return "(" + op.join(self.expr(BOOL, depth) for _ in range(count)) + ")"

    def negated(self, _: Type, depth: int) -> str:
        return f"(not {self.expr(BOOL, depth)})"

    def conditional(self, want: Type, depth: int) -> str:
        text = f"if {self.expr(BOOL, depth)} then {self.expr(want, depth)}"
        if not self.chance(3):
            text += f" else {self.expr(self.akin(want), depth)}"
        return f"({text})"

    def akin(self, want: Type) -> Type:
        """The type of an alternative: the same, one that is promoted, or rarely any other."""
        if self.chance(8):
            return self.pick(WANTED)
        if want.only(_NUMBERS) or want.only(_INSTANTS):
            return self.pick([INT, FLOAT] if want.only(_NUMBERS) else [DATE, DATETIME])
        return want

    def match(self, want: Type, depth: int) -> str:
        of = self.pick(SCALARS) if self.chance(2) else None
        subject = f"({self.expr(of, depth)}) " if of else ""  # a brace would start the arms
        arms = [
            f"{self.expr(of or BOOL, depth)} => {self.expr(self.akin(want), depth)}"
            for _ in range(self.pick([1, 2, 3]))
        ]
        if not self.chance(4):
            arms.append(f"_ => {self.expr(want, depth)}")
        return f"(match {subject}{{ {', '.join(arms)} }})"

    def coalesce(self, want: Type, depth: int) -> str:
        return f"({self.expr(want, depth)} ?? {self.expr(self.akin(want), depth)})"

    def index(self, want: Type, depth: int) -> str:
        if self.chance(2):
            return f"{self.expr(array_of(want), depth)}[{self.expr(INT, depth)}]"
        holder = self.expr(MAP, depth)
        if holder.startswith("c_") and self.chance(2):
            return f"{holder}.{self.pick(['a', 'b', 'k'])}"
        return f"{holder}[{self.expr(STRING, depth)}]"

    def array(self, want: Type, depth: int) -> str:
        element = want.element_type
        count = self.pick([0, 1, 2, 3])
        return "[" + ", ".join(self.expr(self.akin(element), depth) for _ in range(count)) + "]"

    def map(self, _: Type, depth: int) -> str:
        keys = self.draw(st.lists(KEYS, unique=True, max_size=2))
        return "{" + ", ".join(f"{quoted(k)}: {self.expr(ANY, depth)}" for k in keys) + "}"

    # Method calls

    def call(self, want: Type, depth: int) -> str:
        return self.call_of(self.pick(methods_giving(want)), want, depth)

    def call_of(self, method: Method, want: Type, depth: int) -> str:
        plan = self.plan(method, want)
        receiver = self.expr(plan.receiver, depth)
        args = [self.argument(plan, at, depth) for at in range(len(plan.args))]
        return f"{receiver}.{method.name}({', '.join(args)})"

    def plan(self, method: Method, want: Type) -> Plan:
        """Types of receiver and arguments for which the method gives what is wanted."""
        return Plan(method, self.receiver(method, want), self.arg_types(method, want))

    def receiver(self, method: Method, want: Type) -> Type:
        if method.takes_closure and method.name == "find":
            return array_of(want)
        if method.name in ("filter", "remove"):
            return array_of(want.element_type)
        if method.name in _SAME_KIND:
            narrowed = want.kinds & method.receiver.kinds
            return Type(narrowed, want.element) if narrowed else method.receiver
        if method.receiver == ARRAY:
            return array_of(self.pick(WANTED))
        if method.receiver.is_any:
            return self.pick(WANTED)
        if method.iso_text and self.chance(3):
            return STRING
        return method.receiver

    def arg_types(self, method: Method, want: Type) -> tuple[Type, ...]:
        if method.name == "catch":
            return (self.akin(want),)
        if method.name in ("map", "flat_map"):
            body = want.element_type
            nested = method.name == "flat_map" and self.chance(2)
            return (array_of(body) if nested else body,)
        params = method.params
        if params and params[-1].variadic:
            return tuple(self.pick(WANTED) for _ in range(self.pick([0, 1, 2, 3])))
        most = len(params)
        given = most if method.min_args == most else self.pick(range(method.min_args, most + 1))
        return tuple(param.type for param in params[:given])

    def argument(self, plan: Plan, position: int, depth: int) -> str:
        param = plan.method.param(position)
        wanted = plan.args[position]
        if isinstance(param, ClosureParam):
            with self.binding("it", plan.receiver.element_type):
                return f"it => {self.expr(wanted, depth)}"
        if param.check and not self.chance(4):
            return quoted(self.pick(_checked_literals(plan.method, plan.receiver)))
        if param.iso_text and self.chance(3):
            wanted = STRING
        return self.plain_argument(param, wanted, depth)

    def plain_argument(self, param: Param, wanted: Type, depth: int) -> str:
        if param.type == INT and self.chance(2):
            return literal(self.draw(st.integers(-2, 9)))
        return self.expr(wanted, depth)


# Programs of a transform

DEPTH = 2


@dataclass(frozen=True)
class Case:
    """A program and records to run it on."""

    text: str
    records: tuple[Record, ...]
    columns: Mapping[str, Type] = field(default_factory=lambda: COLUMNS, repr=False)


@dataclass
class _Statements:
    """Writes the statements of a program, each seeing the names of those before it."""

    writer: Writer
    lines: list[str] = field(default_factory=list)

    def assign(self, keyword: str, names: Sequence[str], depth: int = DEPTH) -> None:
        name, want = self.writer.pick(names), self.writer.pick(WANTED)
        self.lines.append(f"{keyword} {name} = {self.writer.expr(want, depth)}")
        # What was asked for is not always what was written: a null may have come in.
        self.writer.names = {**self.writer.names, name: want.nullable()}

    def let(self) -> None:
        self.assign("let", ["v", "w", "c_int", "out"])

    def emit(self) -> None:
        self.assign("emit", ["out", "res", "c_int", "n_string", "v"])

    def meta(self) -> None:
        name, want = self.writer.pick(["tag", "note"]), self.writer.pick(SCALARS)
        self.lines.append(f"emit meta {name} = {self.writer.expr(want, 1)}")
        self.writer.names = {**self.writer.names, f"$meta.{name}": want.nullable()}

    def filter(self) -> None:
        self.lines.append(f"filter {self.writer.expr(BOOL, 2)}")

    def distinct(self) -> None:
        by = self.writer.pick(["", " by c_string", " by n_any", " by n_float"])
        self.lines.append(f"distinct{by}")

    def trace(self) -> None:
        level = self.writer.pick(["", "info ", "error "])
        guard = f"if {self.writer.expr(BOOL, 1)} then " if self.writer.chance(2) else ""
        self.lines.append(f"trace {level}{guard}{self.writer.expr(STRING, 2)}")

    def each(self, nesting: int = 0) -> None:
        """An `emit each` block; what its body binds is forgotten behind it."""
        element = self.writer.pick(WANTED)
        binding = self.writer.pick(["item", "it"])
        source = self.writer.expr(array_of(element), 2)
        outer = self.writer.pick(["", " outer"])
        self.lines.append(f"emit each {binding} in {source}{outer} {{")
        with self.writer.binding(binding, element.nullable()):
            for _ in range(self.writer.pick([1, 2])):
                self.writer.pick([self.emit, self.emit, self.let, self.meta, self.trace])()
            if nesting < 2 and self.writer.chance(4):
                self.each(nesting + 1)
        self.lines.append("}")


@st.composite
def program_texts(draw: st.DrawFn) -> str:
    """A program for single records, of every kind of statement."""
    statements = _Statements(Writer(draw, dict(COLUMNS)))
    writer = statements.writer
    for _ in range(writer.pick([0, 1, 1, 2])):
        writer.pick([statements.let, statements.emit, statements.trace, statements.meta])()
    if writer.chance(3):
        writer.pick([statements.filter, statements.distinct])()
    statements.emit()
    for _ in range(writer.pick([0, 0, 1, 2]) if writer.chance(2) else 0):
        statements.each()
    return "\n".join(statements.lines)


def _case(draw: st.DrawFn, text: str, most: int = 3) -> Case:
    records = draw(st.lists(records_for(text), min_size=1, max_size=most))
    return Case(text, tuple(records))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return _case(draw, draw(program_texts()))


@st.composite
def method_cases(draw: st.DrawFn, method: Method, depth: int = 1) -> Case:
    """A program that calls one method."""
    writer = Writer(draw, dict(COLUMNS))
    wants = [want for want in WANTED if can_give(method, want)]
    return _case(draw, f"emit out = {writer.call_of(method, writer.pick(wants), depth)}")


# Programs of an aggregate or of a transform with a window


def _aggregate_call(rows: Writer) -> Extra:
    """Writes calls of aggregates whose arguments are written by `rows`, on single records."""

    def write(group: Writer, want: Type) -> str:
        names = [name for name in AGGREGATES if may_give(name, want)]
        return _aggregate(rows, group.pick(names), want)

    return write


def _aggregate(rows: Writer, name: str, want: Type) -> str:
    if name == "count" and rows.chance(2):
        return "count(*)"
    args = [rows.expr(_argument_type(name, want, p.type), 1) for p in AGGREGATES[name].params]
    return f"{name}({', '.join(args)})"


_TOTALS = frozenset("sum cumulative_sum".split())
_MEANS = frozenset("avg weighted_avg".split())
_COUNTS = frozenset("count row_number rank dense_rank".split())
_TESTS = frozenset("any every exists not_exists".split())
_LISTS = frozenset("collect distinct".split())


def may_give(name: str, want: Type) -> bool:
    """Whether an aggregate or window function may give what is wanted."""
    if name in ("min", "max"):
        return not want.maybe(Kind.ARRAY | Kind.MAP)
    for names, kinds in (
        (_TOTALS, _NUMBERS),
        (_MEANS, Kind.FLOAT),
        (_COUNTS, Kind.INT),
        (_TESTS, Kind.BOOL),
        (_LISTS, Kind.ARRAY),
    ):
        if name in names:
            return want.maybe(kinds)
    return True


def _argument_type(name: str, want: Type, declared: Type) -> Type:
    if name in _LISTS:
        return want.element_type
    if name in _MEANS or name in _COUNTS or name in _TESTS:
        return declared
    if name in _TOTALS:
        return Type(want.kinds & _NUMBERS)
    return want


GROUP_KEYS = ("c_string", "n_int", "n_bool", "n_numeric")


@dataclass(frozen=True)
class GroupCase(Case):
    """The case of an aggregate."""

    group_by: tuple[str, ...] = ()


@st.composite
def group_cases(draw: st.DrawFn) -> GroupCase:
    """An aggregate program with lets, a filter and emits around aggregates."""
    rows = Writer(draw, dict(COLUMNS))
    statements = _Statements(rows)
    for _ in range(rows.pick([0, 0, 1])):
        statements.assign("let", ["v", "w"], 2)
    if rows.chance(4):
        statements.filter()
    group_by = tuple(draw(st.lists(st.sampled_from(GROUP_KEYS), unique=True, max_size=2)))
    keys = {name: COLUMNS[name] for name in group_by}
    group = _Statements(Writer(draw, keys, _aggregate_call(rows)), statements.lines)
    for _ in range(rows.pick([1, 2])):
        group.assign("emit", ["out", "res"], 2)
    text = "\n".join(statements.lines)
    return GroupCase(text, draw(_several(" ".join((text, *group_by)))), group_by=group_by)


def _several(text: str) -> Strategy[tuple[Record, ...]]:
    return st.lists(records_for(text), max_size=4).map(tuple)


@st.composite
def aggregate_cases(draw: st.DrawFn, name: str) -> GroupCase:
    """A program that calls one aggregate."""
    rows = Writer(draw, dict(COLUMNS))
    want = rows.pick([want for want in WANTED if may_give(name, want)])
    text = f"emit out = {_aggregate(rows, name, want)}"
    return GroupCase(text, draw(_several(text)))


def _window_call(rows: Writer) -> Extra:
    def write(around: Writer, want: Type) -> str:
        names = [name for name in WINDOW_FUNCTIONS if may_give(name, want)]
        return _window_function(rows, around.pick(names), want)

    return write


def _window_function(rows: Writer, name: str, want: Type) -> str:
    if name in _COUNTS:
        return f"$window.{name}()"
    argument = rows.expr(_argument_type(name, want, BOOL if name in _TESTS else NUMERIC), 1)
    if name not in ("first", "last", "lag", "lead"):
        return f"$window.{name}({argument})"
    return _positional(rows, name, argument, want)


def _positional(rows: Writer, name: str, argument: str, want: Type) -> str:
    offset = str(rows.pick([0, 1, 2])) if name in ("lag", "lead") else ""
    columns = [column for column, type_ in COLUMNS.items() if matching(type_, want)]
    if columns and rows.chance(2):
        return f"$window.{name}({offset}).{rows.pick(columns)}"
    if argument.isdigit():  # a lone number would be the offset
        argument = "c_int"
    return f"$window.{name}({argument}{', ' if offset else ''}{offset})"


@st.composite
def window_cases(draw: st.DrawFn) -> Case:
    """A program with window functions, over several records."""
    rows = Writer(draw, dict(COLUMNS))
    statements = _Statements(rows)
    for _ in range(rows.pick([0, 0, 1])):
        statements.assign("let", ["v", "w"], 2)
    around = _Statements(Writer(draw, dict(rows.names), _window_call(rows)), statements.lines)
    for _ in range(rows.pick([1, 2])):
        around.assign("emit", ["out", "res", "c_int"], 2)
    if rows.chance(5):
        around.each()
    text = "\n".join(statements.lines)
    return Case(text, draw(_several(f"{text} {_WINDOW_KEYS}")))


_WINDOW_KEYS = "n_string n_int c_date"


@st.composite
def window_function_cases(draw: st.DrawFn, name: str) -> Case:
    """A program that calls one window function."""
    rows = Writer(draw, dict(COLUMNS))
    want = rows.pick([want for want in WANTED if may_give(name, want)])
    text = f"emit out = {_window_function(rows, name, want)}"
    return Case(text, draw(_several(f"{text} {_WINDOW_KEYS}")))
