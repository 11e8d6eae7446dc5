"""What programs do with records."""

from __future__ import annotations

import datetime as dt

import pytest

from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.run.evaluate import Dropped, RowProgram, Surroundings
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.types import ANY, FLOAT, INT, Type
from clinker.cxl.values import Value
from tests.cxl.running import compiled, evaluate, open_columns, outcome, run


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("7 / 2.0", "3.5"),
        ("-7 % 3", "-1"),
        ("-7.5 % 2", "-1.5"),
        ("1 / 0", "error: division by zero"),
        ("1.0 / 0.0", "error: division by zero"),
        ("1 % 0", "error: division by zero"),
        ("1.5 % 0.0", "error: division by zero"),
        ("9223372036854775807 + 1", "error: integer overflow in addition"),
        ("-9223372036854775808 - 1", "error: integer overflow in subtraction"),
        ("4611686018427387904 * 2", "error: integer overflow in multiplication"),
        ("-9223372036854775808 / -1", "error: integer overflow in division"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1 == 1.0", "true"),
        ("9007199254740993 == 9007199254740992.0", "true"),
        ('"a" < "b"', "true"),
        ("#2024-01-01# < #2024-01-02#", "true"),
        ('#2024-01-01# == "2024-01-01T00:00:00".to_datetime()', "true"),
        ("[1, 2] == [1, 2]", "true"),
        ('{"a": 1, "b": 2} == {"b": 2, "a": 1}', "true"),
        ("null == null", "null"),
        ("null != 1", "null"),
        ("1 < null", "null"),
        ("true and null", "null"),
        ("false and null", "false"),
        ("null and false", "false"),
        ("null or true", "true"),
        ("false or null", "null"),
        ("not null", "null"),
        ("false and 1 / 0 == 1", "false"),
        ("true or 1 / 0 == 1", "true"),
        ("1 ?? 1 / 0", "1"),
        ("if null then 1 else 2", "2"),
        ("if false then 1 / 0 else 2", "2"),
        ("match null { null => 1, _ => 2 }", "1"),
        ("match 1 { 1.0 => 1, _ => 2 }", "1"),
        ("match { null => 1, false => 2 }", "null"),
        ("[1, 2, 3][1]", "2"),
        ("[1][5]", "null"),
        ("[1][-1]", "null"),
        ('{"a": {"b": 7}}.a.b', "7"),
        ('{"a": 1}["z"]', "null"),
        ('{"a": 1}.a.b', "null"),
        ("[[1, 2], [3]].flat_map(it => it.map(it => it * 10))", "[10, 20, 30]"),
        ("if true then 1 else 2.5", "1.0"),
        ("[1, 2.5]", "[1.0, 2.5]"),
        ("null ?? null", "null"),
        ('"x".debug("l")', '"x"'),
    ],
)
def test_expressions(expression: str, result: str) -> None:
    assert outcome(expression) == result


@pytest.mark.parametrize(
    ("expression", "record", "result"),
    [
        ("a + 1", {"a": "x"}, "error: cannot apply '+' to String and Int"),
        ("a + 1", {"a": None}, "null"),
        ("a == 1", {"a": "1"}, "false"),
        ("a != 1", {"a": "1"}, "true"),
        ("a > 1", {"a": "1"}, "error: cannot compare String with Int"),
        ("a and true", {"a": 1}, "error: 'and' expects Bool, got Int"),
        ("not a", {"a": 1}, "error: 'not' expects Bool, got Int"),
        ("if a then 1 else 2", {"a": 1}, "2"),
        ("a.upper()", {"a": 1}, "error: 'upper' expects String, got Int"),
        ('"abc".left(a)', {"a": 1.5}, "error: 'n' of 'left' expects Int, got Float"),
        ('"abc".left(a)', {"a": None}, "null"),
        ("a.b.c", {"a": {"b": {"c": 1}}}, "1"),
        ("a.b.c", {"a": {"b": 1}}, "null"),
        ("a.b.c", {"a": None}, "null"),
        ("a[i]", {"a": [1, 2], "i": "0"}, "null"),
        ("a.year()", {"a": "2024-03-15"}, "2024"),
        ("a.hour()", {"a": "2024-03-15T10:00:00"}, "10"),
        ("a.year()", {"a": "soon"}, "error: cannot convert 'soon' to Date"),
        ("this.a + 1", {"a": 1}, "2"),
        ('this["odd name"]', {"odd name": 7}, "7"),
        ("a == b", {"a": float("nan"), "b": float("nan")}, "false"),
        ("a < b", {"a": float("nan"), "b": 1.0}, "false"),
    ],
)
def test_expressions_over_fields(expression: str, record: dict[str, Value], result: str) -> None:
    assert outcome(expression, record) == result


def test_typed_columns_promote_where_types_meet() -> None:
    schema: dict[str, Type] = {"price": FLOAT.nullable(), "qty": INT}
    assert run("emit p = price ?? 0", {"price": None, "qty": 1}, schema) == [{"p": 0.0}]
    (record,) = run("emit p = price ?? 0", {"price": None, "qty": 1}, schema)
    assert isinstance(record["p"], float)


def test_statements_see_what_came_before() -> None:
    text = """
    let rate = 0.5
    emit amount = amount * 2
    emit fee = amount * rate
    emit amount = amount + 1
    """
    assert run(text, {"amount": 10}) == [{"amount": 21, "fee": 10.0}]
    assert list(run(text, {"amount": 10})[0]) == ["amount", "fee"]


def test_emit_each_gives_one_record_per_element() -> None:
    record: dict[str, Value] = {"id": 1, "items": [{"sku": "a"}, {"sku": "b"}]}
    text = "emit id = id emit each it in items { let up = it.sku.upper() emit sku = up }"
    assert run(text, record) == [{"id": 1, "sku": "A"}, {"id": 1, "sku": "B"}]


@pytest.mark.parametrize("items", [None, []])
def test_emit_each_over_nothing(items: Value) -> None:
    plain = "emit id = id emit each it in items { emit x = it }"
    outer = "emit id = id emit each it in items outer { emit x = it }"
    assert run(plain, {"id": 1, "items": items}) == []
    assert run(outer, {"id": 1, "items": items}) == [{"id": 1, "x": None}]


def test_nested_emit_each_shadows_and_restores() -> None:
    record: dict[str, Value] = {
        "sections": [{"n": "A", "tags": ["x", "y"]}, {"n": "B", "tags": []}]
    }
    text = """
    emit each s in sections {
      emit section = s.n
      emit each s in s.tags outer { emit tag = s }
    }
    """
    assert run(text, record) == [
        {"section": "A", "tag": "x"},
        {"section": "A", "tag": "y"},
        {"section": "B", "tag": None},
    ]


def test_emits_between_blocks_reach_later_blocks_only() -> None:
    text = "emit each x in [1] { emit x = x } emit k = 9 emit each y in [2] { emit y = y }"
    assert run(text, {}) == [{"x": 1}, {"k": 9, "y": 2}]


def test_emit_each_needs_an_array() -> None:
    with pytest.raises(Failure, match="emit each expects Array, got Int") as raised:
        run("emit each x in a { emit b = x }", {"a": 5})
    assert raised.value.kind is FailureKind.TYPE_MISMATCH


def test_expansion_is_limited_over_all_levels() -> None:
    text = "emit each x in a { emit each y in a { emit z = 1 } }"
    program = compiled(text, Context(row=Row({"a": ANY})))
    limited = RowProgram(program, Surroundings(max_expansion=8))
    with pytest.raises(Failure) as raised:
        limited.run({"a": [1, 2, 3]})
    assert raised.value.category == "expansion_limit_exceeded"
    assert (
        len(RowProgram(program, Surroundings(max_expansion=9)).run({"a": [1, 2, 3]}).records) == 9
    )


def test_filter_stops_the_program() -> None:
    program = compiled("filter a > 0 emit b = 1 / a", Context(row=Row({"a": INT})))
    found = RowProgram(program, Surroundings()).run({"a": 0})
    assert (found.records, found.dropped) == ([], Dropped.FILTERED)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("distinct by a emit b = b", [1, 2]),
        ("distinct by m.k.a emit b = b", [1, 2]),
        ("distinct by m.none emit b = b", [1]),
        ('emit m = {"a": b} distinct by m.a emit b = b', [1, 2, 3]),
        ("emit a = a distinct emit b = b", [1, 2]),
        ("distinct emit b = b", [1, 2, 3]),
    ],
)
def test_distinct_keeps_the_first(text: str, kept: list[int]) -> None:
    records: list[dict[str, Value]] = [
        {"a": a, "b": b, "m": {"k": {"a": a}}} for a, b in ((1, 1), (2, 2), (1.0, 3), (1, 1))
    ]
    program = RowProgram(compiled(text, Context(row=open_columns(records[0]))), Surroundings())
    emitted = [r.fields["b"] for record in records for r in program.run(record).records]
    assert emitted == kept


def test_metadata_travels_and_is_read_back() -> None:
    program = compiled(
        'emit meta grade = if a > 1 then "hi" else "lo" emit g = $meta.grade + $meta.origin',
        Context(row=Row({"a": INT})),
    )
    (emitted,) = RowProgram(program, Surroundings()).run({"a": 2}, {"origin": "!"}).records
    assert emitted.fields == {"g": "hi!"}
    assert emitted.meta == {"origin": "!", "grade": "hi"}


def test_failures_say_where_and_what() -> None:
    with pytest.raises(Failure) as raised:
        run("emit ok = 1\nemit bad = raw.to_int() + 1", {"raw": "12x"})
    failure = raised.value
    assert failure.kind is FailureKind.CONVERSION_FAILED
    assert failure.category == "type_coercion_failure"
    assert failure.detail == "cannot convert '12x' to Int"
    assert failure.field == "bad"
    assert failure.value == "12x"
    assert failure.location
    assert failure.location.start == (2, 12)


def test_traces_and_debug_reach_the_log() -> None:
    seen: list[tuple[TraceLevel, str]] = []
    program = compiled(
        'trace warn if a > 1 then "big " + a.to_string() trace "all" emit b = a.debug("a")',
        Context(row=Row({"a": INT})),
    )
    RowProgram(program, Surroundings(trace=lambda *message: seen.append(message))).run({"a": 5})
    assert seen == [
        (TraceLevel.WARN, "big 5"),
        (TraceLevel.TRACE, "all"),
        (TraceLevel.TRACE, "a: 5"),
    ]


def test_now_is_the_clock() -> None:
    moment = dt.datetime(2024, 2, 29, 12, 30)
    program = compiled("emit t = now", Context())
    (emitted,) = RowProgram(program, Surroundings(clock=lambda: moment)).run({}).records
    assert emitted.fields == {"t": moment}


def test_records_are_never_changed() -> None:
    record: dict[str, Value] = {"m": {"a": [1]}}
    assert evaluate('m.set("a[0]", 2)', record) == {"a": [2]}
    assert record == {"m": {"a": [1]}}
