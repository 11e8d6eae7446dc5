"""Every form of expression means in Spark what it means in the interpreter."""

from __future__ import annotations

import datetime as dt

import pytest
from pyspark.sql import SparkSession

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
    array_of,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from clinker.engine.expressions import Compiler, ForeignColumns
from tests.engine.expressions.running import (
    FAILED,
    NamedColumns,
    agree,
    checked,
    evaluate_on_spark,
)

NAN, INF = float("nan"), float("inf")

ARITHMETIC = ["a + b", "a - b", "a * b", "a / b", "a % b", "-a"]
COMPARISONS = ["a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b"]


def pairs(*values: Value) -> list[dict[str, Value]]:
    return [{"a": a, "b": b} for a in values for b in values]


def test_ints(spark: SparkSession) -> None:
    records = pairs(0, 1, -1, 7, -2, MIN_INT, MAX_INT, 2**53 + 1, None)
    agree(spark, [*ARITHMETIC, *COMPARISONS], records, {"a": INT.nullable(), "b": INT.nullable()})


def test_floats(spark: SparkSession) -> None:
    records = pairs(0.0, -0.0, 1.5, -7.25, NAN, INF, -INF, 5e-324, 1.7976931348623157e308, None)
    schema = {"a": FLOAT.nullable(), "b": FLOAT.nullable()}
    agree(spark, [*ARITHMETIC, *COMPARISONS], records, schema)


def test_numbers_of_either_kind(spark: SparkSession) -> None:
    records = pairs(0, 0.0, 7, 2.5, 2**53 + 1, 2.0**53, MAX_INT, NAN, None)
    schema = {"a": NUMERIC.nullable(), "b": NUMERIC.nullable()}
    agree(spark, [*ARITHMETIC, *COMPARISONS], records, schema)
    agree(spark, [*ARITHMETIC, *COMPARISONS], records, {"a": INT | FLOAT, "b": INT | FLOAT})


def test_values_of_any_kind(spark: SparkSession) -> None:
    records = pairs(1, 2.5, "x", "y", True, dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), None)
    records += [{"a": [1], "b": 2}, {"a": {"k": 1}, "b": "k"}, {"a": "x", "b": [1]}]
    agree(spark, ["a + b", "a * b", "-a", "a < b", "a >= b"], records, {"a": ANY, "b": ANY})
    known = ["a == 1", 'a == "x"', "a != true", "a == #2024-01-01#", "a + 1", 'a < "y"', "not a"]
    agree(spark, known, records, {"a": ANY, "b": ANY})


def test_texts_compare_by_code_point(spark: SparkSession) -> None:
    records = pairs("", "a", "B", "\uffff", "\U0001f600", "\x00", None)
    schema = {"a": STRING.nullable(), "b": STRING.nullable()}
    agree(spark, ["a + b", *COMPARISONS], records, schema)


def test_dates_compare_with_the_start_of_their_day(spark: SparkSession) -> None:
    days = [dt.date(2024, 1, 1), dt.date.min, dt.date.max]
    moments = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 0, 1), dt.datetime.max]
    records: list[dict[str, Value]] = [{"a": a, "b": b} for a in days for b in moments]
    agree(spark, COMPARISONS, records, {"a": DATE, "b": DATETIME})
    agree(spark, COMPARISONS, records, {"a": DATE | DATETIME, "b": DATE | DATETIME | STRING})


def test_arrays_are_equal_by_content(spark: SparkSession) -> None:
    equality = ["a == b", "a != b"]
    ints = {"a": array_of(INT.nullable()), "b": array_of(INT.nullable())}
    agree(spark, equality, pairs([], [1], [1, None], [None], [2]), ints)
    floats = {"a": array_of(FLOAT), "b": array_of(FLOAT)}
    agree(spark, equality, pairs([NAN], [0.0], [-0.0], [1.5, INF]), floats)
    mixed = {"a": array_of(INT), "b": array_of(FLOAT | STRING)}
    agree(spark, equality, [{"a": [1], "b": [1.0]}, {"a": [1], "b": ["1"]}], mixed)
    grid = {"a": array_of(array_of(INT)), "b": array_of(array_of(INT))}
    agree(spark, equality, pairs([[1], []], [[1]], [[1], None]), grid)


def test_what_may_hold_anything_is_compared_by_the_interpreter(spark: SparkSession) -> None:
    records = pairs({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}, {}, [1], [1.0], [NAN], 1, None)
    agree(spark, ["a == b", "a != b", "match a { b => 1, _ => 2 }"], records, native=False)


def test_a_closure_with_no_sql_runs_in_the_interpreter(spark: SparkSession) -> None:
    texts = ["a.map(it => it == b)", "a.filter(it => [b].any(it => it == b))[0]"]
    records: list[dict[str, Value]] = [{"a": [1, {"k": 2}], "b": {"k": 2.0}}, {"a": [], "b": 1}]
    agree(spark, texts, records, {"a": ARRAY, "b": ANY}, native=False)


def test_a_closure_may_use_what_another_one_is_given(spark: SparkSession) -> None:
    texts = [
        "a.map(it => a.remove(it))",
        "a.map(it => b.filter(it => it > 1))",
        "a.map(it => b.map(it => it + 1)[it])",
        "a.any(it => b.any(it => 1 / it > 0))",
    ]
    records: list[dict[str, Value]] = [{"a": [1, 0], "b": [2, 3]}, {"a": [5], "b": [0, 1]}]
    agree(spark, texts, records, {"a": array_of(INT), "b": array_of(INT)})


def test_short_cuts_do_not_fail(spark: SparkSession) -> None:
    texts = [
        "a > 0 and 1 / b > 0",
        "a > 0 or 1 / b > 0",
        "a > 0 and b > 0 and 1 / b > 0",
        "1 / b > 0 or a > 0",
        "a ?? 1 / b",
        "1 / b ?? a",
        "if a > 0 then 1 / b else a",
        "if a > 0 then 1 / b",
        "if 1 / b > 0 then a else 0",
        "match a { 1 => 1 / b, 7 => b, _ => 2 }",
        "match a { 1 / b => 1, 1 => 2 }",
        "match { a > 0 => 1 / b, 1 / b < 0 => 3, _ => b }",
        "[1, 1 / b][a]",
        "([a, b])[1 / b]",
    ]
    schema = {"a": INT.nullable(), "b": INT.nullable()}
    agree(spark, texts, pairs(0, 1, -1, 7, None), schema)


def test_operators_on_truth_of_any_kind(spark: SparkSession) -> None:
    texts = ["a and b", "a or b", "not a", "if a then 1 else 2", "match { a => 1, b => 2 }"]
    agree(spark, texts, pairs(True, False, None), {"a": BOOL.nullable(), "b": BOOL.nullable()})
    agree(spark, texts, pairs(True, False, None, 1, "true"), {"a": ANY, "b": ANY})


def test_values_of_different_types_meet(spark: SparkSession) -> None:
    texts = [
        "if a > 0 then a else 2.5",
        'if a > 0 then a else "x"',
        "if a > 0 then [a] else [2.5]",
        'if a > 0 then [a] else "x"',
        "[a, 2.5, null]",
        '[a, "x", [a], {"k": a}]',
        "a ?? #2024-01-01#",
        "match a { 1 => #2024-01-01#, 7 => now, _ => null }",
    ]
    agree(spark, texts, [{"a": a} for a in (1, 0, 7, None)], {"a": INT.nullable()})


def test_containers(spark: SparkSession) -> None:
    texts = [
        "list[i]", "list[0]", "map[k]", 'map["k"]', "map.k.k", "any[k]", "any[i]",
        "any.k", '{"k": i, "\\"": k, "n": null, "l": list, "m": map}', '{"x": k}.x', "[i, 1][i]",
        "[list, [i]]", "{}", "[]", '{"a": {"b": k}}.a.b',
    ]  # fmt: skip
    records: list[dict[str, Value]] = [
        {"list": [1, "x"], "map": {"k": {"k": 2.5}}, "any": {"k": 1}, "i": 0, "k": "k"},
        {"list": [], "map": {"k": 5, "": None}, "any": [[1], 2], "i": 1, "k": ""},
        {"list": [None, 2.0], "map": {}, "any": "k", "i": -1, "k": 'a"\n\x1f'},
        {"list": [1] * 3, "map": {'a"\n\x1f': [1]}, "any": None, "i": MAX_INT, "k": 'a"\n\x1f'},
    ]
    schema = {"list": ARRAY, "map": MAP, "any": ANY, "i": INT, "k": STRING}
    agree(spark, texts, records, schema)


def test_literals(spark: SparkSession) -> None:
    texts = [
        str(MIN_INT), str(MAX_INT), "-5", "1.5", "-0.0", "0.0000001", "100000000000000000000000.0",
        '"it\'s \\\\ \\n `$1` ${x} \\" %"', "#0001-01-01#", "true", "null", "now", '"\\\\u0041"',
    ]  # fmt: skip
    agree(spark, texts, [{}], {})


def test_a_failing_part_fails_the_whole(spark: SparkSession) -> None:
    found = evaluate_on_spark(spark, "[1, 10 / a]", [{"a": 0}, {"a": 5}], {"a": INT})
    assert found == [FAILED, [1, 2]]


@pytest.mark.parametrize("text", ["a + 1.5", "a ?? 1", "if a > 1.0 then 1 else 2", "[a][0]"])
def test_what_cannot_fail_says_so(text: str) -> None:
    compiler = Compiler(NamedColumns())
    assert compiler.expression(checked(text, {"a": FLOAT})).fails is None


def test_native_expressions_need_no_interpreter() -> None:
    compiler = Compiler(NamedColumns())
    sql = compiler.expression(checked("a * b + 1", {"a": INT, "b": INT}))
    layers = compiler.scope.layers(sql.text, sql.fails or "")
    assert not any(isinstance(layer, ForeignColumns) for layer in layers)
