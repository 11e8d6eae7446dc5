"""Programs of transforms: what they emit, keep and reject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from clinker.cxl.check import typed
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.run.evaluate import DEFAULT_MAX_EXPANSION, Record
from clinker.cxl.types import ANY, ARRAY, INT, STRING, Type, array_of
from clinker.engine.expressions import Compiler, compile_row_program
from tests.cxl.running import compiled
from tests.engine.expressions.running import (
    NamedColumns,
    fingerprint,
    programs_on_interpreter,
    programs_on_spark,
)

COLUMNS: Mapping[str, Type] = {
    "a": INT.nullable(),
    "s": STRING,
    "ints": array_of(INT).nullable(),
    "grid": array_of(array_of(INT)),
    "list": ARRAY,
    "any": ANY,
}
RECORDS: list[Record] = [
    {"a": 1, "s": "x", "ints": [1, 2, 0], "grid": [[1, 2], [], [3]], "list": [1, "b"], "any": [1]},
    {"a": 0, "s": "", "ints": [], "grid": [], "list": [], "any": None},
    {"a": None, "s": "y", "ints": None, "grid": [[0]], "list": [None, {"k": [2.5]}], "any": 5},
    {"a": -7, "s": "z", "ints": [5], "grid": [[5], [6, 7]], "list": [[1], 0], "any": [[1], "a"]},
]


def program(text: str, modules: ModuleLibrary | None = None) -> typed.Program:
    return compiled(text, Context(row=Row(COLUMNS), modules=modules))


def agree(
    spark: SparkSession,
    programs: Sequence[typed.Program],
    max_expansion: int = DEFAULT_MAX_EXPANSION,
) -> None:
    found = programs_on_spark(spark, programs, RECORDS, COLUMNS, max_expansion=max_expansion)
    for each, outcomes in zip(programs, found, strict=True):
        wanted = programs_on_interpreter(each, RECORDS, max_expansion=max_expansion)
        source = each.statements[0].location.source.text
        for got, want in zip(outcomes, wanted, strict=True):
            assert fingerprint(got) == fingerprint(want), source


def test_statements(spark: SparkSession) -> None:
    texts = [
        "emit x = a + 1 emit y = x * 2",
        "let v = 10 / a emit x = v + 1",
        "let v = 10 / a emit x = 1",
        "filter a > 0 emit x = 10 / a",
        "emit x = 10 / a filter a != 0",
        "filter a != 0 filter 10 / a > 1 emit x = s",
        "emit a = s emit x = a",
        "emit x = 1 emit x = s",
        "emit meta m = a emit x = $meta.m",
        'trace "a: " + s emit x = 1',
        "trace if 10 / a > 1 then s emit x = 1",
        "distinct by a emit x = 10 / a",
        "filter a != 1 distinct by any.k emit x = 1",
        "emit x = a distinct filter a > 0 emit y = 10 / a",
        "filter any emit x = 1",
    ]
    agree(spark, [program(text) for text in texts])


def test_each_statement_builds_on_the_one_before(spark: SparkSession) -> None:
    steps = [f"emit x{n} = x{n - 1} + 10 / a" for n in range(1, 120)]
    agree(spark, [program("\n".join(["emit x0 = 0", *steps]))])


def test_each(spark: SparkSession) -> None:
    texts = [
        "emit each i in ints { emit x = i + a }",
        "emit each i in ints outer { emit x = i + 1 }",
        "emit each i in ints { emit x = 10 / i }",
        "emit y = a emit each i in ints { emit x = i } emit z = 1",
        "emit x = s emit each i in ints { emit x = i }",
        "emit each row in grid { emit each i in row { emit x = i emit y = row } }",
        "emit each row in grid outer { emit r = row emit each i in row outer { emit x = i } }",
        "emit each i in ints { emit x = i } emit each i in list { emit y = i }",
        "emit each i in any { emit x = i }",
        "emit each i in list { let v = i emit x = v emit y = [v, v] }",
        "emit meta m = 1 emit each i in ints { emit meta m = i emit x = $meta.m }",
        "filter a > 0 emit each i in ints { emit x = 10 / i }",
        "emit each i in ints { trace if i == 0 then s emit x = s }",
    ]
    agree(spark, [program(text) for text in texts])


def test_each_stops_at_its_limit(spark: SparkSession) -> None:
    texts = [
        "emit each i in ints { emit x = i }",
        "emit each row in grid { emit each i in row { emit x = i } }",
        "emit each i in ints { emit x = i } emit each i in ints { emit x = i }",
    ]
    agree(spark, [program(text) for text in texts], max_expansion=2)


def test_what_has_no_sql_for_an_element_is_left_to_the_interpreter(spark: SparkSession) -> None:
    texts = [
        "emit y = s emit each i in list { emit x = i == any emit meta m = i }",
        "let v = 10 / a emit each i in list { emit x = v emit y = i == any }",
        "emit each i in list outer { emit x = i == any emit s = 10 / a }",
    ]
    programs = [program(text) for text in texts]
    agree(spark, programs)
    agree(spark, programs, max_expansion=1)


def test_functions_of_modules(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "m.cxl").write_text(
        "fn half(x) = x / 2\n"
        "fn safe(x, y) = if y == 0 then null else x / y\n"
        "fn twice(x) = half(x) * safe(10, x)\n"
    )
    modules = ModuleLibrary(tmp_path)
    texts = [
        "use m emit x = m::half(a)",
        "use m emit x = m::safe(1 / a, 0)",
        "use m emit x = m::twice(a + 1)",
        "use m emit each i in ints { emit x = m::safe(a, i) }",
    ]
    agree(spark, [program(text, modules) for text in texts])


def test_nothing_that_cannot_fail_is_asked_whether_it_did() -> None:
    rows = compile_row_program(program("emit x = s emit y = [a]"), Compiler(NamedColumns()))
    (stage,) = rows.steps
    assert (stage.fails, stage.keeps, rows.records) == (None, None, None)
    assert rows.values == {"x": "`s`", "y": "`$1`"}
