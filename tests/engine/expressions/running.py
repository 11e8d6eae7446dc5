"""Running CXL on Spark and on the interpreter, to see that they agree."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from clinker.cxl import typed
from clinker.cxl.evaluate import Frame, Record, Surroundings, compile_expression
from clinker.cxl.failure import Failure
from clinker.cxl.parser import parse_expression
from clinker.cxl.resolve import Context, Row
from clinker.cxl.typecheck import check_expression
from clinker.cxl.types import ANY, BOOL, Kind, Type
from clinker.cxl.values import Value, kind_of
from clinker.diagnostics import Source
from clinker.diagnostics.render import render_text
from clinker.engine.expressions import Compiler, ForeignColumns, literal, representation
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.expressions.frames import spark_type, with_layers

NOON = dt.datetime(2024, 2, 29, 12, 30, 15, 250_000)

SystemValues = Mapping[tuple[str, tuple[str, ...]], Value]


class Failed:
    """Stands for a value that could not be computed."""

    def __repr__(self) -> str:
        return "FAILED"


FAILED = Failed()
Outcome: TypeAlias = "Value | Failed"


class NamedColumns:
    """Columns as they are named; system variables as literals."""

    now = NOON

    def __init__(self, system: SystemValues | None = None) -> None:
        self._system = system or {}

    def field(self, qualifier: str | None, name: str) -> str:
        assert qualifier is None
        return f"`{name}`"

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        return literal(self._system.get((namespace, path)), type_)


def schema_of(records: Iterable[Record]) -> dict[str, Type]:
    """The narrowest types the values have."""
    schema: dict[str, Type] = {}
    for record in records:
        for name, value in record.items():
            found = type_of(value)
            schema[name] = schema[name] | found if name in schema else found
    return {
        name: Type(
            type_.kinds | (Kind.NULL if any(name not in r for r in records) else Kind(0)),
            type_.element,
        )
        for name, type_ in schema.items()
    }


def type_of(value: Value) -> Type:
    if isinstance(value, list):
        element: Type | None = None
        for item in value:
            found = type_of(item)
            element = element | found if element else found
        return Type(Kind.ARRAY, element)
    return Type(kind_of(value))


def checked(text: str, schema: Mapping[str, Type], context: Context | None = None) -> typed.Expr:
    context = context or Context(row=Row(schema))
    found = check_expression(parse_expression(Source("test.cxl", text)), context)
    assert found.expression, render_text(found.diagnostics)
    return found.expression


def data_frame(
    spark: SparkSession, records: Sequence[Record], schema: Mapping[str, Type]
) -> DataFrame:
    """The records, numbered in the column `$row`."""
    names = ["$row", *schema]
    columns: list[pa.Array] = [pa.array(range(len(records)), pa.int64())]
    fields = [StructField("$row", spark_type(representation(Type(Kind.INT))))]
    for name, type_ in schema.items():
        columns.append(from_values([record.get(name) for record in records], type_))
        fields.append(StructField(name, spark_type(representation(type_))))
    table = pa.table(columns, names=names)
    return spark.createDataFrame(table, schema=StructType(fields))


def on_spark(
    spark: SparkSession,
    expressions: Sequence[typed.Expr],
    records: Sequence[Record],
    schema: Mapping[str, Type],
    system: SystemValues | None = None,
    may_be_foreign: bool = True,
) -> list[list[Outcome]]:
    """What Spark gives for each expression, a value or a failure for each record."""
    compiler = Compiler(NamedColumns(system))
    compiled = [compiler.expression(expr) for expr in expressions]
    texts = [text for sql in compiled for text in (sql.text, sql.fails or "false")]
    layers = compiler.scope.layers(*texts)
    if not may_be_foreign:
        assert not any(isinstance(layer, ForeignColumns) for layer in layers), "not native"
    frame = with_layers(data_frame(spark, records, schema), layers)
    selections = [f"{text} AS `r{at}`" for at, text in enumerate(texts)]
    table = frame.selectExpr("`$row`", *selections).toArrow().sort_by("$row")
    outcomes: list[list[Outcome]] = []
    for at, expr in enumerate(expressions):
        values = to_values(table.column(f"r{2 * at}"), expr.type)
        failures = to_values(table.column(f"r{2 * at + 1}"), BOOL)
        outcomes.append(
            [FAILED if failed else value for value, failed in zip(values, failures, strict=True)]
        )
    return outcomes


def on_interpreter(
    expr: typed.Expr, records: Sequence[Record], system: SystemValues | None = None
) -> list[Outcome]:
    evaluate = compile_expression(expr)
    surroundings = Surroundings(system or {}, clock=lambda: NOON)
    outcomes: list[Outcome] = []
    for record in records:
        try:
            outcomes.append(evaluate(Frame(record, surroundings)))
        except Failure:
            outcomes.append(FAILED)
    return outcomes


def evaluate_on_spark(
    spark: SparkSession,
    text: str,
    records: Sequence[Record],
    schema: Mapping[str, Type] | None = None,
    may_be_foreign: bool = True,
) -> list[Outcome]:
    """The value of an expression for each record, or FAILED."""
    schema = schema if schema is not None else schema_of(records)
    expr = checked(text, schema)
    (outcomes,) = on_spark(spark, [expr], records, schema, may_be_foreign=may_be_foreign)
    return outcomes


def agree(
    spark: SparkSession,
    texts: str | Sequence[str],
    records: Sequence[Record],
    schema: Mapping[str, Type] | None = None,
    *,
    native: bool = True,
) -> None:
    """Check that Spark and the interpreter agree on one expression or several, computed together.

    Without a schema they do so with the narrowest types and with columns of type Any, as far as
    the checker accepts them. With `native` the interpreter must not have been used inside Spark.
    """
    texts = [texts] if isinstance(texts, str) else texts
    narrow = schema_of(records)
    schemas = [schema] if schema is not None else [narrow, dict.fromkeys(narrow, ANY)]
    for each in schemas:
        expressions = [checked(text, each) for text in texts]
        found = on_spark(spark, expressions, records, each, may_be_foreign=not native)
        for text, expr, outcomes in zip(texts, expressions, found, strict=True):
            for record, got, want in zip(
                records, outcomes, on_interpreter(expr, records), strict=True
            ):
                assert fingerprint(got) == fingerprint(want), f"{text} on {record} as {each}"


def fingerprint(outcome: object) -> str:
    """A text that is the same for values that are the same to the last bit, NaN included."""
    if isinstance(outcome, float) and math.isnan(outcome):
        return "nan"
    if isinstance(outcome, list):
        return "[" + ", ".join(map(fingerprint, outcome)) + "]"
    if isinstance(outcome, dict):
        return repr([(key, fingerprint(value)) for key, value in outcome.items()])
    return repr(outcome)
