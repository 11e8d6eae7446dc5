"""Values in columns: native where their kind is known, tagged texts elsewhere."""

from __future__ import annotations

import datetime as dt

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from clinker.cxl.run.tagged import decode, encode
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    NUMERIC,
    STRING,
    Kind,
    Type,
    array_of,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value, kind_of
from clinker.engine.expressions import TAGGED, Scope, convert, literal, representation
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.expressions.representation import is_of_kind
from tests.engine.expressions.running import data_frame, fingerprint, spark_type
from tests.engine.frames import with_layers
from tests.formats.common.test_column_types import FORMS


def test_spark_reads_the_same_type_in_arrow_and_sql(spark: SparkSession) -> None:
    for ddl, types in FORMS.items():
        for type_ in types:
            assert spark_type(type_) == DataType.fromDDL(ddl)


CONTROLS = "".join(map(chr, range(0x20))) + "\x7f\x85\u2028"
TEXTS = [
    "",
    "a",
    '"',
    "\\",
    "'",
    "`$1`",
    "${x}",
    "\\u001f",
    CONTROLS,
    "\U0001f600\u00df",
    "[1]",
    "@",
]
MOMENTS = [
    dt.datetime.min,
    dt.datetime.max,
    dt.datetime(2024, 2, 29, 12, 30),
    dt.datetime(2024, 2, 29, 12, 30, 1, 250_000),
    dt.datetime(2024, 2, 29, 12, 30, 1, 7),
]
DAYS = [dt.date.min, dt.date.max, dt.date(2024, 2, 29)]
FLOATS = [
    0.0, -0.0, 1.0, -2.5, 0.1, 1e7, 9999999.5, 1e-3, 9.99e-4, 1e22, 123456789012.25, 2.0**63,
    1.7976931348623157e308, 2.2250738585072014e-308, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
INTS = [0, 1, -1, MIN_INT, MAX_INT]

VALUES: dict[Type, list[Value]] = {
    BOOL: [True, False],
    INT: list(INTS),
    FLOAT: list(FLOATS),
    STRING: list(TEXTS),
    DATE: list(DAYS),
    DATETIME: list(MOMENTS),
    array_of(INT): [[], [1, None, MIN_INT]],
    array_of(FLOAT): [[], list(FLOATS), [None]],
    array_of(STRING): [[], list(TEXTS), [None, "null"]],
    array_of(DATETIME): [[], list(MOMENTS), [None]],
    array_of(DATE): [list(DAYS)],
    array_of(array_of(BOOL)): [[[True], [], None, [None, False]]],
    ARRAY: [
        [1, 1.0, "x", None, True, dt.date(2024, 1, 1), [["a"]], {"k": [1.5, None]}],
        list(TEXTS),
    ],
}
MIXED: list[Value] = [value for values in VALUES.values() for value in values] + [
    {},
    {"a": 1, "": None, '"\x1f': {"b": [2.0, "t"]}, "z": dt.datetime(2024, 1, 1)},
]


@pytest.mark.parametrize("value", MIXED, ids=repr)
def test_tagged_texts_read_back(value: Value) -> None:
    assert fingerprint(decode(encode(value))) == fingerprint(value)


@pytest.mark.parametrize("type_", VALUES, ids=str)
def test_arrow_columns_read_back(type_: Type) -> None:
    values = [*VALUES[type_], None]
    assert fingerprint(to_values(from_values(values, type_), type_)) == fingerprint(values)


def test_every_form_is_tagged_and_read_back_by_the_engine(spark: SparkSession) -> None:
    for type_, values in VALUES.items():
        frame = data_frame(spark, [{"x": value} for value in [*values, None]], {"x": type_})
        scope = Scope()
        form = representation(type_)
        tagged = scope.bind(convert(scope, "`x`", form, TAGGED))
        back = convert(scope, tagged, TAGGED, form)
        found = with_layers(spark, frame, scope.layers(tagged, back)).selectExpr(
            "`$row`", f"{tagged} AS tagged", f"{back} AS back"
        )
        table = found.toArrow().sort_by("$row")
        assert table.column("tagged").to_pylist() == [encode(v) for v in [*values, None]]
        assert fingerprint(to_values(table.column("back"), type_)) == fingerprint([*values, None])


def test_literals_are_the_values_they_stand_for(spark: SparkSession) -> None:
    cases = [(value, type_) for type_, values in VALUES.items() for value in values]
    cases += [(None, type_) for type_ in VALUES] + [(value, ANY) for value in MIXED]
    texts = [f"{literal(value, type_)} AS `r{at}`" for at, (value, type_) in enumerate(cases)]
    table = spark.range(1).selectExpr(*texts).toArrow()
    for at, (value, type_) in enumerate(cases):
        column = table.column(f"r{at}")
        assert fingerprint(to_values(column, type_)) == fingerprint([value])


def test_the_kind_of_a_tagged_value_is_seen(spark: SparkSession) -> None:
    types = [ANY, NUMERIC, DATE | DATETIME, STRING | DATE, INT | DATETIME]
    for type_ in types:
        values = [v for v in MIXED if decode(encode(v)) is not None and conforming(v, type_)]
        frame = data_frame(spark, [{"x": value} for value in values], {"x": type_})
        kinds = list(type_.kinds & ~Kind.NULL)
        texts = [f"{is_of_kind('`x`', kind, type_)} AS `k{kind.value}`" for kind in kinds]
        table = frame.selectExpr("`$row`", *texts).toArrow().sort_by("$row")
        for kind in kinds:
            found = table.column(f"k{kind.value}").to_pylist()
            assert found == [conforming(value, Type(kind)) for value in values]


def conforming(value: Value, type_: Type) -> bool:
    return bool(kind_of(value) & type_.kinds)
