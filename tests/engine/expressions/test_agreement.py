"""Spark and the interpreter agree on random programs and records, values and failures alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check, check_expression
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.cxl.values import Value
from clinker.diagnostics import Source
from tests.cxl import typed_programs as tp
from tests.engine.expressions.running import (
    fingerprint,
    on_interpreter,
    on_spark,
    programs_on_interpreter,
    programs_on_spark,
)

SYSTEM: dict[tuple[str, tuple[str, ...]], Value] = {
    ("vars", ("limit",)): 100,
    ("vars", ("label",)): "Gr\u00fc\u00dfe",
    ("vars", ("setting",)): [1, "x", None],
}
CONTEXT = Context(row=Row(tp.COLUMNS), vars=tp.VARS)

_T = TypeVar("_T")


def drawn(strategy: st.SearchStrategy[_T], count: int) -> list[_T]:
    """The same examples in every run."""
    found: list[_T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(example: _T) -> None:
        found.append(example)

    draw()
    return found


@st.composite
def expressions(draw: st.DrawFn) -> str:
    writer = tp.Writer(draw, dict(tp.COLUMNS))
    return writer.expr(writer.pick(tp.WANTED), writer.pick([1, 2, 2, 3]))


RECORDS = drawn(st.fixed_dictionaries({n: tp.values(t) for n, t in tp.COLUMNS.items()}), 25)


def accepted(texts: Iterable[str]) -> dict[str, typed.Expr]:
    """The expressions the checker takes."""
    checked = {
        text: check_expression(parse_expression(Source("test.cxl", text)), CONTEXT).expression
        for text in dict.fromkeys(texts)
    }
    return {text: expr for text, expr in checked.items() if expr}


def accepted_programs(texts: Iterable[str]) -> dict[str, typed.Program]:
    checked = {
        text: check(parse(Source("test.cxl", text)), CONTEXT).program
        for text in dict.fromkeys(texts)
    }
    return {text: program for text, program in checked.items() if program}


def assert_same(text: str, outcomes: Sequence[object], wanted: Sequence[object]) -> None:
    for record, got, want in zip(RECORDS, outcomes, wanted, strict=True):
        read = {name: value for name, value in record.items() if name in text}
        assert fingerprint(got) == fingerprint(want), f"{text}\non {read}"


def assert_agreement(spark: SparkSession, expressions: dict[str, typed.Expr]) -> None:
    found = on_spark(spark, list(expressions.values()), RECORDS, tp.COLUMNS, SYSTEM)
    for (text, expr), outcomes in zip(expressions.items(), found, strict=True):
        assert_same(text, outcomes, on_interpreter(expr, RECORDS, SYSTEM))


@pytest.mark.parametrize("batch", range(4))
def test_expressions(spark: SparkSession, batch: int) -> None:
    assert_agreement(spark, accepted(drawn(expressions(), 400)[batch::4]))


@pytest.mark.parametrize("batch", range(4))
def test_calls_of_every_method(spark: SparkSession, batch: int) -> None:
    cases = [case for m in tp.ALL_METHODS[batch::4] for case in drawn(tp.method_cases(m), 3)]
    assert_agreement(spark, accepted(case.text.removeprefix("emit out = ") for case in cases))


@pytest.mark.parametrize("batch", range(2))
def test_programs(spark: SparkSession, batch: int) -> None:
    programs = accepted_programs(drawn(tp.program_texts(), 120)[batch::2])
    found = programs_on_spark(spark, list(programs.values()), RECORDS, tp.COLUMNS, SYSTEM)
    for (text, program), outcomes in zip(programs.items(), found, strict=True):
        assert_same(text, outcomes, programs_on_interpreter(program, RECORDS, SYSTEM))
