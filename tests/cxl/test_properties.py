"""What holds for every program: types, failures and null are what the checker promises.

The programs come from `typed_programs`; some laws are checked against a small model of their own.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from clinker.cxl.builtins import AGGREGATES, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import ClosureParam, Method
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.run import evaluate, grouping, windowing
from clinker.cxl.run.evaluate import Emitted, Frame, Outcome, RowProgram, Surroundings
from clinker.cxl.run.grouping import Grouped, GroupProgram
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.cxl.run.windowing import WindowProgram
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY, BOOL, FLOAT, INT, NUMERIC, STRING, Kind, Type
from clinker.cxl.values import MAX_INT, MIN_INT, Value, identity, kind_of, midnight
from clinker.diagnostics import Source
from tests.cxl import typed_programs as tp

_F = TypeVar("_F", bound=Callable[..., object])

NOON = dt.datetime(2024, 2, 29, 12, 30, 15, 250_000)
SYSTEM: Mapping[tuple[str, tuple[str, ...]], Value] = {
    ("vars", ("limit",)): 100,
    ("vars", ("label",)): "Gr\u00fc\u00dfe",
    ("vars", ("setting",)): [1, "x", None],
}


def examples(count: int) -> Callable[[_F], _F]:
    """The same examples in every run, so that a build never fails by chance."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# Running programs


def compiled(text: str, context: Context) -> typed.Program | None:
    return check(parse(Source("program.cxl", text)), context).program


def row_context(columns: Mapping[str, Type]) -> Context:
    return Context(row=Row(columns), vars=tp.VARS)


def program_of(text: str, **columns: Type) -> typed.Program:
    checked = check(parse(Source("program.cxl", text)), row_context(columns))
    assert checked.program, [d.message for d in checked.diagnostics]
    return checked.program


def surroundings(log: list[str] | None = None) -> Surroundings:
    def trace(level: TraceLevel, message: str) -> None:
        if log is not None:
            log.append(f"{level}: {message}")

    return Surroundings(SYSTEM, clock=lambda: NOON, trace=trace)


def calculator(expression: str, **columns: Type) -> Callable[..., Value]:
    """An expression as a function of its columns."""
    program = program_of(f"emit result = {expression}", **columns)

    def run(**record: Value) -> Value:
        (emitted,) = RowProgram(program, surroundings()).run(record).records
        return emitted.fields["result"]

    return run


# What the checker promises of every expression


def conforms(value: Value, type_: Type) -> bool:
    """Whether a value is one of the type's, its elements and its representation included."""
    kind = kind_of(value)
    if not kind & type_.kinds or not representable(value):
        return False
    if kind is Kind.ARRAY:
        assert isinstance(value, list)
        return all(conforms(item, type_.element_type) for item in value)
    return True


def representable(value: Value) -> bool:
    """Whether a value can be written to a file: 64-bit Ints, text without half characters."""
    match value:
        case bool():
            return True
        case int():
            return MIN_INT <= value <= MAX_INT
        case str():
            return not any("\ud800" <= char <= "\udfff" for char in value)
        case dict():
            return all(representable(key) and representable(v) for key, v in value.items())
        case list():
            return all(map(representable, value))
    return True


def shown(expr: typed.Expr) -> str:
    location = expr.location
    return location.source.text[location.span.start : location.span.end]


def watched(
    compile_expression: Callable[[typed.Expr], Any], anew: bool
) -> Callable[[typed.Expr], Any]:
    """The compiler of expressions, checking each value and each failure of each of them.

    With `anew`, lets are computed where they are used, and so may fail there.
    """

    def compile_watched(expr: typed.Expr) -> Callable[[Frame], Value]:
        run = compile_expression(expr)

        def evaluated(frame: Frame) -> Value:
            try:
                value: Value = run(frame)
            except Failure as failure:
                declared = expr.fails_anew if anew else expr.fails
                assert failure.kind in declared, f"`{shown(expr)}` fails with {failure.kind}"
                raise
            assert conforms(value, expr.type), f"`{shown(expr)}` is {value!r}, not {expr.type}"
            return value

        return evaluated

    return compile_watched


@contextmanager
def watching(anew: bool = False) -> Iterator[None]:
    """Makes every evaluation check what it does against what the checker promised."""
    checking = watched(evaluate.compile_expression, anew)
    with ExitStack() as patches:
        for module in (evaluate, grouping, windowing):
            patches.enter_context(mock.patch.object(module, "compile_expression", checking))
        yield


def assert_promised(failure: Failure, program: typed.Program) -> None:
    assert failure.kind in program.fails, failure
    assert failure.location is not None, failure
    assert failure.detail


def assert_written(record: Mapping[str, Value], promised: Mapping[str, Type]) -> None:
    for name, value in record.items():
        assert conforms(value, promised[name]), f"{name} is {value!r}, not {promised[name]}"
    for name, type_ in promised.items():
        assert name in record or type_.may_be_null, name


Result = Outcome | Failure


def run_rows(program: typed.Program, records: Sequence[tp.Record]) -> tuple[list[Result], str]:
    """What became of each record, and everything that was said on the way."""
    log: list[str] = []
    rows = RowProgram(program, surroundings(log))
    results: list[Result] = []
    for record in records:
        try:
            results.append(rows.run(record))
        except Failure as failure:
            results.append(failure)
    return results, repr([*map(fingerprint, results), log])


def fingerprint(result: object) -> str:
    """A text that is the same for results that are the same to the last bit, NaN included."""
    if isinstance(result, Failure):
        place = result.location and result.location.span
        return repr((result.kind, result.detail, result.value, result.field, place))
    return repr(result)


def assert_sound(program: typed.Program, records: Sequence[tp.Record]) -> list[Result]:
    """Run a program under watch, twice, and check every promise about it."""
    before = repr(records)
    with watching():
        results, said = run_rows(program, records)
    assert run_rows(program, records)[1] == said
    assert repr(records) == before
    for result in results:
        if isinstance(result, Failure):
            assert_promised(result, program)
        else:
            for emitted in result.records:
                assert_written(emitted.fields, program.fields_written)
                assert_written(emitted.meta, every_meta(program, emitted))
    return results


def every_meta(program: typed.Program, emitted: Emitted) -> Mapping[str, Type]:
    return {name: program.meta_written[name] for name in emitted.meta}


# Transforms


@examples(100)
@given(tp.cases())
def test_programs_keep_every_promise(case: tp.Case) -> None:
    program = compiled(case.text, row_context(case.columns))
    if program:
        assert_sound(program, case.records)


def test_most_generated_programs_are_well_typed() -> None:
    tally: Counter[bool] = Counter()

    @examples(100)
    @given(tp.cases())
    def count(case: tp.Case) -> None:
        tally[compiled(case.text, row_context(case.columns)) is not None] += 1

    count()
    assert tally[True] > 0.5 * tally.total()


def calls_of(program: typed.Program) -> Iterator[Method]:
    for expression in program.expressions():
        for part in expression.walk():
            if isinstance(part, typed.Call):
                yield part.method


def test_every_method_is_one_the_generator_knows_a_use_for() -> None:
    used = {id(method) for want in tp.WANTED for method in tp.methods_giving(want)}
    assert used == {id(method) for method in tp.ALL_METHODS}


def method_name(method: Method) -> str:
    return f"{method.family}-{method.name}"


@pytest.mark.parametrize("method", tp.ALL_METHODS, ids=method_name)
def test_every_method_keeps_every_promise(method: Method) -> None:
    tally: Counter[str] = Counter()

    @examples(12)
    @given(tp.method_cases(method))
    def count(case: tp.Case) -> None:
        program = compiled(case.text, row_context(case.columns))
        tally["accepted" if program else "refused"] += 1
        # `catch` is another way to write `??` and leaves no call.
        if program and (method.name == "catch" or method in calls_of(program)):
            tally["called"] += 1
            for result in assert_sound(program, case.records):
                tally["failed" if isinstance(result, Failure) else "worked"] += 1

    count()
    assert tally["called"] > 0.5 * (tally["accepted"] + tally["refused"])
    assert tally["worked"] > 0


# Aggregates and windows


def group_context(case: tp.GroupCase) -> Context:
    return Context(
        row=Row(case.columns), vars=tp.VARS, kind=ProgramKind.AGGREGATE, group_by=case.group_by
    )


def grouped(program: typed.Program, case: tp.GroupCase) -> Grouped:
    return GroupProgram(program, case.group_by, surroundings()).run(case.records)


def grouped_text(result: Grouped) -> str:
    rejected = [(r.position, fingerprint(r.failure)) for r in (*result.rejected, *result.failed)]
    return repr((result.records, rejected))


def assert_group_sound(case: tp.GroupCase) -> bool:
    """Check every promise about an aggregate program; whether it is one."""
    program = compiled(case.text, group_context(case))
    if not program:
        return False
    before = repr(case.records)
    with watching(anew=True):
        result = grouped(program, case)
    assert grouped_text(grouped(program, case)) == grouped_text(result)
    assert repr(case.records) == before
    for rejected in (*result.rejected, *result.failed):
        assert_promised(rejected.failure, program)
    keys = {name: case.columns[name] for name in case.group_by}
    for record in result.records:
        assert_written(record, {**keys, **program.fields_written})
    return True


def assert_window_sound(case: tp.Case, spec: WindowSpec) -> bool:
    """Check every promise about a program with a window; whether it is one."""
    context = Context(row=Row(case.columns), vars=tp.VARS, window=WindowContext())
    program = compiled(case.text, context)
    if not program:
        return False
    before = repr(case.records)
    with watching(anew=True):
        results = WindowProgram(program, spec, surroundings()).run(case.records)
    again = WindowProgram(program, spec, surroundings()).run(case.records)
    assert [*map(fingerprint, again)] == [*map(fingerprint, results)]
    assert repr(case.records) == before
    for result in results:
        if isinstance(result, Failure):
            assert_promised(result, program)
        else:
            for emitted in result.records:
                assert_written(emitted.fields, program.fields_written)
    return True


@examples(90)
@given(tp.group_cases())
def test_aggregate_programs_keep_every_promise(case: tp.GroupCase) -> None:
    assert_group_sound(case)


SPECS = st.builds(
    WindowSpec,
    group_by=st.sampled_from([(), ("n_string",)]),
    sort_by=st.sampled_from([(), (SortKey("c_date"),), (SortKey("n_int", descending=True),)]),
    frame=st.sampled_from([FrameSpec(), FrameSpec(FrameUnit.ROWS, -1, 1), FrameSpec(end=None)]),
)


@examples(90)
@given(tp.window_cases(), SPECS)
def test_window_programs_keep_every_promise(case: tp.Case, spec: WindowSpec) -> None:
    assert_window_sound(case, spec)


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_aggregate_keeps_every_promise(name: str) -> None:
    tally: Counter[bool] = Counter()

    @examples(16)
    @given(tp.aggregate_cases(name))
    def count(case: tp.GroupCase) -> None:
        tally[assert_group_sound(case)] += 1

    count()
    assert tally[True] > 0.5 * tally.total()


@pytest.mark.parametrize("name", WINDOW_FUNCTIONS)
def test_every_window_function_keeps_every_promise(name: str) -> None:
    tally: Counter[bool] = Counter()

    @examples(16)
    @given(tp.window_function_cases(name), SPECS)
    def count(case: tp.Case, spec: WindowSpec) -> None:
        tally[assert_window_sound(case, spec)] += 1

    count()
    assert tally[True] > 0.5 * tally.total()


SUMMABLE = {"c_int": INT, "c_float": FLOAT, "n_numeric": NUMERIC.nullable(), "c_string": STRING}
ORDERLESS = [
    *(f"{name}({column})" for name in ("sum", "avg") for column in list(SUMMABLE)[:3]),
    *(f"{name}({column})" for name in ("min", "max", "count") for column in SUMMABLE),
    "min(n_any)",
    "max(n_any)",
    "weighted_avg(c_float, c_int)",
    "weighted_avg(n_numeric, c_float)",
]
AGGREGATED = {**SUMMABLE, "n_any": ANY}


def aggregate_program(
    text: str, group_by: tuple[str, ...] = (), columns: Mapping[str, Type] = AGGREGATED
) -> GroupProgram:
    context = Context(row=Row(columns), kind=ProgramKind.AGGREGATE, group_by=group_by)
    program = compiled(text, context)
    assert program, text
    return GroupProgram(program, group_by, surroundings())


def records_with(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tp.Record]]:
    return st.lists(st.fixed_dictionaries(columns), max_size=6)


@st.composite
def shuffled_records(draw: st.DrawFn) -> tuple[list[tp.Record], list[tp.Record]]:
    columns = {name: tp.values(type_) for name, type_ in SUMMABLE.items()}
    moments = st.none() | tp.DATES | tp.DATETIMES.filter(lambda moment: moment == midnight(moment))
    kinds = st.sampled_from([tp.values(NUMERIC), moments, tp.TEXTS, st.booleans()])
    records = draw(records_with(**columns, n_any=draw(kinds)))
    return records, draw(st.permutations(records))


@pytest.mark.parametrize("call", ORDERLESS)
def test_aggregates_do_not_depend_on_the_order_of_records(call: str) -> None:
    program = aggregate_program(f"emit result = {call}")

    @examples(20)
    @given(shuffled_records())
    def holds(records: tuple[list[tp.Record], list[tp.Record]]) -> None:
        first, second = (grouped_text(program.run(order)) for order in records)
        assert first == second

    holds()


TIES: list[list[Value]] = [
    [1, 1.0],
    [0.0, -0.0],
    [2**53 + 1, 2.0**53],
    [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)],
]


@pytest.mark.parametrize("tie", TIES, ids=repr)
@pytest.mark.parametrize("call", ["min(x)", "max(x)"])
def test_extremes_that_tie_do_not_depend_on_order(call: str, tie: list[Value]) -> None:
    program = aggregate_program(f"emit result = {call}", columns={"x": ANY})
    first, second = (
        grouped_text(program.run([{"x": value} for value in order])) for order in (tie, tie[::-1])
    )
    assert first == second


@pytest.mark.parametrize("call", ["sum(x)", "avg(x)", "weighted_avg(1.0, x)"])
@pytest.mark.parametrize("values", [[1e308, 1e308, -math.inf], [1e308, 1e308], [-1e308, -1e308]])
def test_sums_beyond_the_floats_do_not_depend_on_order(call: str, values: list[float]) -> None:
    program = aggregate_program(f"emit result = {call}", columns={"x": FLOAT})
    found = {
        grouped_text(program.run([{"x": value} for value in order]))
        for order in itertools.permutations(values)
    }
    assert len(found) == 1


@examples(60)
@given(records_with(key=tp.values(Type(Kind.INT | Kind.FLOAT | Kind.NULL)), x=tp.INTS))
def test_groups_come_in_the_order_of_their_first_record(records: list[tp.Record]) -> None:
    program = aggregate_program(
        "emit rows = count(*)", ("key",), {"key": NUMERIC.nullable(), "x": INT}
    )
    expected = Counter(identity(record["key"]) for record in records)
    found = [(identity(r["key"]), r["rows"]) for r in program.run(records).records]
    assert found == list(expected.items())


RUNNING = {
    "sum": "sum",
    "cumulative_sum": "sum",
    "avg": "avg",
    "min": "min",
    "max": "max",
    "first_value": "first",
    "last_value": "last",
}


def only_value(result: Grouped) -> str:
    if result.failed or result.rejected:
        return repr((result.failed + result.rejected)[0].failure.kind)
    return repr(result.records[0]["result"])


@pytest.mark.parametrize("column", ["c_int", "c_float", "n_numeric"])
@pytest.mark.parametrize("function", RUNNING)
def test_running_functions_are_aggregates_of_the_records_so_far(function: str, column: str) -> None:
    text = f"emit result = $window.{function}({column})"
    context = Context(row=Row(SUMMABLE), window=WindowContext())
    program = compiled(text, context)
    assert program
    window = WindowProgram(program, WindowSpec(), surroundings())
    aggregate = aggregate_program(f"emit result = {RUNNING[function]}({column})")

    @examples(15)
    @given(records_with(**{name: tp.values(type_) for name, type_ in SUMMABLE.items()}))
    def holds(records: list[tp.Record]) -> None:
        for at, outcome in enumerate(window.run(records)):
            expected = only_value(aggregate.run(records[: at + 1]))
            if isinstance(outcome, Failure):
                assert repr(outcome.kind) == expected
            else:
                assert repr(outcome.records[0].fields["result"]) == expected

    holds()


# Distinct


@pytest.mark.parametrize("between", ["", "let y = 1", "let x = 1", "emit x = b emit x = a"])
def test_distinct_keeps_the_first_record_of_equal_emitted_fields(between: str) -> None:
    program = program_of(f"emit x = a {between} distinct", a=ANY, b=INT)

    @examples(40)
    @given(records_with(a=tp.values(ANY), b=st.integers(0, 2)))
    def holds(records: list[tp.Record]) -> None:
        rows = RowProgram(program, surroundings())
        kept = [identity(record["a"]) for record in records if rows.run(record).records]
        assert kept == list(dict.fromkeys(identity(record["a"]) for record in records))

    holds()


# Null


def null_calls(method: Method) -> st.SearchStrategy[str]:
    """Calls of a method on a null, with whatever arguments."""
    return tp.method_cases(method, 0).map(lambda case: on_null(case.text, method))


def on_null(text: str, method: Method) -> str:
    """The program with a null in place of the method's receiver."""
    _, _, arguments = text.rpartition(f".{method.name}(")
    return f"emit out = nothing.{method.name}({arguments}"


NULL_PASSING = [method for method in tp.ALL_METHODS if not method.takes_null]


@pytest.mark.parametrize("method", NULL_PASSING, ids=method_name)
def test_a_method_of_null_is_null(method: Method) -> None:
    receivers = [method.receiver.nullable(), ANY]

    @examples(8)
    @given(null_calls(method), st.sampled_from(receivers), st.data())
    def holds(text: str, receiver: Type, data: st.DataObject) -> None:
        columns = {**tp.COLUMNS, "nothing": receiver}
        program = compiled(text, row_context(columns))
        assume(program)
        assert program
        record = {**data.draw(tp.records_for(text)), "nothing": None}
        (emitted,) = RowProgram(program, surroundings()).run(record).records
        assert emitted.fields["out"] is None

    holds()


NULL_TAKING = {"type_of()": "Null", "is_null()": True, "is_empty()": True, "catch(5)": 5}


def test_methods_that_take_null_are_these() -> None:
    assert {m.name for m in tp.ALL_METHODS if m.takes_null} == {
        "debug", *(call.partition("(")[0] for call in NULL_TAKING)
    }  # fmt: skip
    for call, expected in NULL_TAKING.items():
        assert calculator(f"a.{call}", a=INT.nullable())(a=None) == expected
        assert calculator(f"null.{call}")() == expected
    assert calculator('a.debug("x")', a=INT.nullable())(a=None) is None


REQUIRED = [
    pytest.param(method, at, id=f"{method_name(method)}-{param.name}")
    for method in tp.ALL_METHODS
    for at, param in enumerate(method.params)
    if not (param.optional or param.takes_null or isinstance(param, ClosureParam))
]


@pytest.mark.parametrize(("method", "position"), REQUIRED)
def test_a_null_argument_makes_the_call_null(method: Method, position: int) -> None:
    names = [f"a{at}" for at in range(method.min_args)]
    types = {name: method.param(at).type.nullable() for at, name in enumerate(names)}
    columns = {"receiver": method.receiver.without_null(), **types}
    program = program_of(f"emit out = receiver.{method.name}({', '.join(names)})", **columns)

    @examples(10)
    @given(st.fixed_dictionaries({name: tp.values(type_) for name, type_ in columns.items()}))
    def holds(record: tp.Record) -> None:
        given_null = {**record, names[position]: None}
        (emitted,) = RowProgram(program, surroundings()).run(given_null).records
        assert emitted.fields["out"] is None or record["receiver"] is None

    holds()


TRUTH: list[bool | None] = [True, False, None]


def all_true(operands: Sequence[bool | None]) -> bool | None:
    if False in operands:
        return False
    return None if None in operands else True


def any_true(operands: Sequence[bool | None]) -> bool | None:
    if True in operands:
        return True
    return None if None in operands else False


@pytest.mark.parametrize("type_", [BOOL.nullable(), ANY])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("op", "model"), [("and", all_true), ("or", any_true)])
def test_three_valued_logic(
    op: str, model: Callable[[Sequence[bool | None]], bool | None], count: int, type_: Type
) -> None:
    names = "abc"[:count]
    run = calculator(f" {op} ".join(names), **dict.fromkeys(names, type_))
    for operands in itertools.product(TRUTH, repeat=count):
        assert run(**dict(zip(names, operands, strict=True))) is model(operands)


def test_not_null_is_null() -> None:
    run = calculator("not a", a=BOOL.nullable())
    assert [run(a=value) for value in TRUTH] == [False, True, None]


@examples(60)
@given(tp.values(ANY), tp.values(ANY))
def test_coalesce_is_its_right_side_only_for_null(a: Value, b: Value) -> None:
    run = calculator("a ?? b", a=ANY, b=ANY)
    assert repr(run(a=a, b=b)) == repr(b if a is None else a)


def test_coalesce_does_not_look_at_its_right_side_without_need() -> None:
    assert calculator("a ?? 1 / z", a=INT.nullable(), z=INT)(a=5, z=0) == 5


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"])
@pytest.mark.parametrize("type_", [NUMERIC.nullable(), ANY])
def test_operators_on_null_are_null(op: str, type_: Type) -> None:
    run = calculator(f"a {op} b", a=type_, b=type_)
    for a, b in ((None, None), (None, 1), (0, None), (2.5, None)):
        assert run(a=a, b=b) is None


# Arithmetic, against a model of its own

INT_MODEL: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: (abs(a) % abs(b)) * (-1 if a < 0 else 1),
}
FLOAT_MODEL: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": lambda a, b: math.nan if math.isinf(a) else math.fmod(a, b),
}
INT_CALCULATORS = {op: calculator(f"a {op} b", a=INT, b=INT) for op in INT_MODEL}
NUMBER_CALCULATORS = {op: calculator(f"a {op} b", a=NUMERIC, b=NUMERIC) for op in INT_MODEL}


def outcome(run: Callable[..., Value], **record: Value) -> Value | FailureKind:
    try:
        return run(**record)
    except Failure as failure:
        return failure.kind


@pytest.mark.parametrize("op", INT_MODEL)
@examples(100)
@example(MIN_INT, -1)
@example(-7, 2)
@example(7, -2)
@given(tp.INTS, tp.INTS)
def test_int_arithmetic_agrees_with_the_model(op: str, a: int, b: int) -> None:
    expected: int | FailureKind
    if op in "/%" and b == 0:
        expected = FailureKind.DIVISION_BY_ZERO
    else:
        expected = INT_MODEL[op](a, b)
        if not MIN_INT <= expected <= MAX_INT:
            expected = FailureKind.INTEGER_OVERFLOW
    for calculators in (INT_CALCULATORS, NUMBER_CALCULATORS):
        found = outcome(calculators[op], a=a, b=b)
        assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("op", FLOAT_MODEL)
@examples(100)
@given(tp.FLOATS, tp.FLOATS | tp.INTS, st.booleans())
def test_float_arithmetic_agrees_with_the_model(op: str, a: float, b: float, swapped: bool) -> None:
    x, y = (b, a) if swapped else (a, b)
    expected: float | FailureKind
    if op in "/%" and y == 0:
        expected = FailureKind.DIVISION_BY_ZERO
    else:
        expected = FLOAT_MODEL[op](float(x), float(y))
    assert repr(outcome(NUMBER_CALCULATORS[op], a=x, b=y)) == repr(expected)


@examples(100)
@example(MIN_INT)
@given(tp.INTS)
def test_negation_is_subtraction_from_zero(a: int) -> None:
    negated = outcome(calculator("-a", a=INT), a=a)
    assert negated == outcome(INT_CALCULATORS["-"], a=0, b=a)


@pytest.mark.parametrize("text", ["-(-9223372036854775808)", "- -9223372036854775808"])
def test_negating_the_smallest_int_is_a_declared_failure(text: str) -> None:
    assert_sound(program_of(f"emit x = {text}"), [{}])


@examples(100)
@given(tp.INTS, tp.INTS)
def test_quotient_and_remainder_make_up_the_dividend(a: int, b: int) -> None:
    quotient, rest = (outcome(INT_CALCULATORS[op], a=a, b=b) for op in "/%")
    if isinstance(quotient, int) and isinstance(rest, int):
        assert quotient * b + rest == a
        assert abs(rest) < abs(b)
        assert rest == 0 or (rest < 0) == (a < 0)


# Comparison

ORDER = {op: calculator(f"a {op} b", a=ANY, b=ANY) for op in ("==", "!=", "<", "<=", ">", ">=")}
ORDERED_KINDS = st.sampled_from(
    [tp.INTS, tp.FLOATS, tp.INTS | tp.FLOATS, tp.TEXTS, tp.DATES, tp.DATES | tp.DATETIMES]
)


def is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


@examples(120)
@given(st.data())
def test_exactly_one_of_less_equal_and_greater_holds(data: st.DataObject) -> None:
    kind = data.draw(ORDERED_KINDS)
    a, b = data.draw(kind), data.draw(kind)
    found = {op: run(a=a, b=b) for op, run in ORDER.items()}
    turned = {op: run(a=b, b=a) for op, run in ORDER.items()}
    comparable = not (is_nan(a) or is_nan(b))
    assert [found["<"], found["=="], found[">"]].count(True) == comparable
    assert found["!="] is not found["=="]
    assert found["<="] is (found["<"] or found["=="])
    assert found[">="] is (found[">"] or found["=="])
    assert [turned[op] for op in ("==", "!=", ">", ">=", "<", "<=")] == list(found.values())


@examples(120)
@given(st.data())
def test_order_is_transitive(data: st.DataObject) -> None:
    exact = st.integers(-(2**53), 2**53)  # beyond these, Ints meet Floats only approximately
    kind = data.draw(
        st.sampled_from([tp.INTS, tp.FLOATS | exact, tp.TEXTS, tp.DATES | tp.DATETIMES])
    )
    a, b, c = (data.draw(kind) for _ in range(3))
    for op in ("==", "<", "<="):
        if ORDER[op](a=a, b=b) and ORDER[op](a=b, b=c):
            assert ORDER[op](a=a, b=c)


@examples(100)
@given(tp.values(ANY), tp.values(ANY))
def test_equality_is_symmetric_and_what_match_goes_by(a: Value, b: Value) -> None:
    equal = ORDER["=="](a=a, b=b)
    assert ORDER["=="](a=b, b=a) is equal
    matched = calculator("match a { b => true, _ => false }", a=ANY, b=ANY)(a=a, b=b)
    assert matched is (a is b if equal is None else equal)


# Small programs that once broke a promise, or nearly

PROMISES: dict[str, list[tp.Record]] = {
    # Elements of arrays that meet as Floats.
    "emit x = if c_bool then [1] else [2.5]": [{"c_bool": True}, {"c_bool": False}],
    "emit x = n_ints ?? [0.5]": [{"n_ints": [1, 2]}, {}],
    # Three types, two of which would be promoted.
    'emit x = [1, 2.5, "a"]': [{}],
    'emit x = match c_int { 1 => 1, 2 => 2.5, _ => "a" }': [{"c_int": 1}],
    # `catch` is `??`.
    "emit x = c_int.catch(2.5)": [{"c_int": 1}],
    "emit x = n_date.catch(now)": [{"n_date": dt.date(2024, 1, 1)}],
    # Metadata written in a block is not there behind it.
    'emit each it in [1] { emit meta tag = "a" } emit each it in [1] { emit x = $meta.tag }': [{}],
    "emit meta tag = true emit each it in [1] { emit x = 1 }"
    " emit each it in [1] { emit meta tag = 1 }": [{}],
}


@pytest.mark.parametrize("text", PROMISES)
def test_promises_at_the_edges(text: str) -> None:
    assert_sound(program_of(text, **tp.COLUMNS), PROMISES[text])


def test_the_limit_of_an_expansion_names_its_place() -> None:
    program = program_of("emit each it in [1, 2, 3] { emit x = it }")
    rows = RowProgram(program, Surroundings(max_expansion=2))
    with pytest.raises(Failure) as caught:
        rows.run({})
    assert_promised(caught.value, program)


@pytest.mark.parametrize("column", ["c_array", "c_map", "n_ints"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_what_has_no_order_has_no_extremes(name: str, column: str) -> None:
    context = Context(row=Row(tp.COLUMNS), kind=ProgramKind.AGGREGATE)
    program = compiled(f"emit x = {name}({column})", context)
    if program:  # or else it is refused, which is as good
        records: list[tp.Record] = [{"c_array": [1], "c_map": {}, "n_ints": [1]}]
        for rejected in GroupProgram(program, (), surroundings()).run(records).failed:
            assert_promised(rejected.failure, program)


@pytest.mark.parametrize(
    "text", ["emit x = [1, 2].map(it => sum(it))", "emit x = [1].any(it => count(it) > 0)"]
)
def test_an_aggregate_inside_a_closure_does_not_see_the_closure(text: str) -> None:
    program = compiled(text, Context(row=Row(tp.COLUMNS), kind=ProgramKind.AGGREGATE))
    if program:
        GroupProgram(program, (), surroundings()).run([{}])


@pytest.mark.parametrize(
    "text",
    [
        "emit each t in c_ints { let y = t emit x = $window.sum(y) }",
        "emit each t in c_ints { emit y = t emit x = $window.lag(y, 1) }",
        "emit c_int = $window.min(c_numeric) emit x = $window.lag(1).c_int",
        "emit c_int = $window.min(c_numeric) emit prev_c_int = $window.lag(1)",
    ],
)
def test_a_window_sees_nothing_that_is_not_known_on_every_record(text: str) -> None:
    context = Context(row=Row(tp.COLUMNS), window=WindowContext())
    program = compiled(text, context)
    if program:
        WindowProgram(program, WindowSpec(), surroundings()).run([{"c_ints": [1, 2], "c_int": 1}])


def test_the_failures_of_a_let_are_those_of_a_window_over_it() -> None:
    context = Context(row=Row(tp.COLUMNS), window=WindowContext())
    program = compiled("let y = 10 / c_int emit x = $window.sum(y)", context)
    assert program
    *_, emit = program.expressions()
    assert FailureKind.DIVISION_BY_ZERO in emit.fails


def test_the_failures_of_a_let_are_those_of_an_aggregate_over_it() -> None:
    context = Context(row=Row(tp.COLUMNS), kind=ProgramKind.AGGREGATE)
    program = compiled("let y = 10 / c_int emit x = sum(y)", context)
    assert program
    *_, emit = program.expressions()
    assert FailureKind.DIVISION_BY_ZERO in emit.fails
