"""Running CXL on Spark and on the interpreter, to see that they agree."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check_expression
from clinker.cxl.failure import Failure
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.run.evaluate import (
    DEFAULT_MAX_EXPANSION,
    Frame,
    Record,
    RowProgram,
    Surroundings,
    compile_expression,
)
from clinker.cxl.syntax.parser import parse_expression
from clinker.cxl.types import ANY, BOOL, Kind, Type
from clinker.cxl.values import Value, WrittenFloat, kind_of
from clinker.diagnostics import Source
from clinker.diagnostics.render import render_text
from clinker.engine.expressions import Compiler, ForeignColumns, Scope, literal
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.expressions.foreign import META
from clinker.engine.expressions.rows import RowSql, compile_row_program
from clinker.engine.session.recognizing import engine_of
from clinker.formats.common.column_types import arrow_type
from tests.engine.frames import with_layers

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


def spark_type(type_: Type) -> DataType:
    return from_arrow_type(arrow_type(type_), prefer_timestamp_ntz=True)


def data_frame(
    spark: SparkSession, records: Sequence[Record], schema: Mapping[str, Type]
) -> DataFrame:
    """The records, numbered in the column `$row`."""
    names = ["$row", *schema]
    columns: list[pa.Array] = [pa.array(range(len(records)), pa.int64())]
    fields = [StructField("$row", spark_type(Type(Kind.INT)))]
    for name, type_ in schema.items():
        columns.append(from_values([record.get(name) for record in records], type_))
        fields.append(StructField(name, spark_type(type_)))
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
    engine = engine_of(spark)
    compiler = Compiler(NamedColumns(system), overrides=engine.overrides)
    compiled = [compiler.expression(expr) for expr in expressions]
    texts = [text for sql in compiled for text in (sql.text, sql.fails or "false")]
    layers = compiler.scope.layers(*texts)
    if not may_be_foreign and engine.name == "spark":
        assert not any(isinstance(layer, ForeignColumns) for layer in layers), "not native"
    frame = with_layers(spark, data_frame(spark, records, schema), layers)
    selections = [f"{text} AS `r{at}`" for at, text in enumerate(texts)]
    table = frame.selectExpr("`$row`", *selections).toArrow().sort_by("$row")
    outcomes: list[list[Outcome]] = []
    for at, expr in enumerate(expressions):
        held = table.schema.field(f"r{2 * at}").type
        wanted = arrow_type(expr.type)
        assert without_nullness(held) == wanted, f"{shown(expr)} is held as {held}"
        values = to_values(table.column(f"r{2 * at}"), expr.type)
        failures = to_values(table.column(f"r{2 * at + 1}"), BOOL)
        outcomes.append(
            [FAILED if failed else value for value, failed in zip(values, failures, strict=True)]
        )
    return outcomes


class Dropped:
    """Stands for a record that was filtered out."""

    def __repr__(self) -> str:
        return "DROPPED"


DROPPED = Dropped()
RowOutcome: TypeAlias = "list[tuple[dict[str, Value], dict[str, Value]]] | Failed | Dropped"
"""The records given for one, their fields and metadata, or why there are none."""


def programs_on_spark(
    spark: SparkSession,
    programs: Sequence[typed.Program],
    records: Sequence[Record],
    schema: Mapping[str, Type],
    system: SystemValues | None = None,
    max_expansion: int = DEFAULT_MAX_EXPANSION,
) -> list[list[RowOutcome]]:
    """What becomes of each record under each program; `distinct` lets every record pass."""
    scope, overrides = Scope(), engine_of(spark).overrides
    compiled = [
        compile_row_program(
            program, Compiler(NamedColumns(system), scope, overrides), max_expansion
        )
        for program in programs
    ]
    texts = [text for rows in compiled for text in rows.texts()]
    frame = with_layers(spark, data_frame(spark, records, schema), scope.layers(*texts))
    names = {text: f"r{at}" for at, text in enumerate(dict.fromkeys(texts))}
    selections = [f"{text} AS `{name}`" for text, name in names.items()]
    table = frame.selectExpr("`$row`", *selections).toArrow().sort_by("$row")
    columns = {text: table.column(name) for text, name in names.items()}
    return [
        _row_outcomes(program, rows, columns, len(records))
        for program, rows in zip(programs, compiled, strict=True)
    ]


def _row_outcomes(
    program: typed.Program, rows: RowSql, columns: Mapping[str, pa.ChunkedArray], count: int
) -> list[RowOutcome]:
    given = _given_records(program, rows, columns, count)
    outcomes: list[RowOutcome] = []
    for row in range(count):
        outcome: RowOutcome = given[row]
        for stage in rows.steps:
            if stage.fails and columns[stage.fails][row].as_py():
                outcome = FAILED
                break
            if stage.keeps and not columns[stage.keeps][row].as_py():
                outcome = DROPPED
                break
        outcomes.append(outcome)
    return outcomes


def _given_records(
    program: typed.Program, rows: RowSql, columns: Mapping[str, pa.ChunkedArray], count: int
) -> list[list[tuple[dict[str, Value], dict[str, Value]]]]:
    fields, meta = program.fields_written, program.meta_written
    if rows.records is None:
        held = {n: to_values(columns[rows.values[n]], t) for n, t in fields.items()}
        held_meta = {n: to_values(columns[rows.meta[n]], t) for n, t in meta.items()}
        return [
            [
                (
                    {name: values[row] for name, values in held.items()},
                    {name: values[row] for name, values in held_meta.items()},
                )
            ]
            for row in range(count)
        ]
    given: list[list[tuple[dict[str, Value], dict[str, Value]]]] = []
    for item in columns[rows.records].to_pylist():
        given.append(
            [
                (
                    {name: _one(struct[name], type_) for name, type_ in fields.items()},
                    {name: _one(struct[META + name], type_) for name, type_ in meta.items()},
                )
                for struct in item
            ]
        )
    return given


def _one(item: Any, type_: Type) -> Value:
    (value,) = to_values(pa.array([item], arrow_type(type_)), type_)
    return value


def programs_on_interpreter(
    program: typed.Program,
    records: Sequence[Record],
    system: SystemValues | None = None,
    max_expansion: int = DEFAULT_MAX_EXPANSION,
) -> list[RowOutcome]:
    surroundings = Surroundings(system or {}, clock=lambda: NOON, max_expansion=max_expansion)
    outcomes: list[RowOutcome] = []
    for record in records:
        try:
            outcome = RowProgram(program, surroundings).run(record)
        except Failure:
            outcomes.append(FAILED)
            continue
        if outcome.dropped:
            outcomes.append(DROPPED)
            continue
        outcomes.append(
            [
                (
                    {name: emitted.fields.get(name) for name in program.fields_written},
                    {name: emitted.meta.get(name) for name in program.meta_written},
                )
                for emitted in outcome.records
            ]
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
    names: DateNames = ENGLISH,
) -> None:
    """Check that Spark and the interpreter agree on one expression or several, computed together.

    Without a schema they do so with the narrowest types and with columns of type Any, as far as
    the checker accepts them. With `native` the interpreter must not have been used inside Spark.
    """
    texts = [texts] if isinstance(texts, str) else texts
    narrow = schema_of(records)
    schemas = [schema] if schema is not None else [narrow, dict.fromkeys(narrow, ANY)]
    for each in schemas:
        context = Context(row=Row(each), date_names=names)
        expressions = [checked(text, each, context) for text in texts]
        found = on_spark(spark, expressions, records, each, may_be_foreign=not native)
        for text, expr, outcomes in zip(texts, expressions, found, strict=True):
            for record, got, want in zip(
                records, outcomes, on_interpreter(expr, records), strict=True
            ):
                assert fingerprint(got) == fingerprint(want), f"{text} on {record} as {each}"


def without_nullness(type_: pa.DataType) -> pa.DataType:
    """An Arrow type whose elements may be null."""
    if pa.types.is_list(type_):
        return pa.list_(without_nullness(type_.value_type))
    return type_


def shown(expr: typed.Expr) -> str:
    span = expr.location.span
    return expr.location.source.text[span.start : span.end]


def fingerprint(outcome: object) -> str:
    """A text that is the same for values that are the same to the last bit, NaN included."""
    if isinstance(outcome, WrittenFloat):
        return f"{outcome.text} as written"
    if isinstance(outcome, float) and math.isnan(outcome):
        return "nan"
    if isinstance(outcome, list | tuple):
        return "[" + ", ".join(map(fingerprint, outcome)) + "]"
    if isinstance(outcome, dict):
        return repr([(key, fingerprint(value)) for key, value in outcome.items()])
    return repr(outcome)
