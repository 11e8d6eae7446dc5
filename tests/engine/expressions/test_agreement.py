"""Spark and the interpreter agree on random programs and records, values and failures alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from clinker.cxl import typed
from clinker.cxl.parser import parse_expression
from clinker.cxl.resolve import Context, Row
from clinker.cxl.typecheck import check_expression
from clinker.cxl.values import Value
from clinker.diagnostics import Source
from tests.cxl import typed_programs as tp
from tests.engine.expressions.running import fingerprint, on_interpreter, on_spark

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
        deadline=None,
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


def accepted(texts: Sequence[str]) -> dict[str, typed.Expr]:
    """The expressions the checker takes."""
    checked = {
        text: check_expression(parse_expression(Source("test.cxl", text)), CONTEXT).expression
        for text in texts
    }
    return {text: expr for text, expr in checked.items() if expr}


BATCHES = 5
BATCH = 60


@pytest.mark.parametrize("batch", range(BATCHES))
def test_expressions_agree(spark: SparkSession, batch: int) -> None:
    texts = dict.fromkeys(drawn(expressions(), BATCHES * BATCH))
    programs = accepted(list(texts)[batch::BATCHES])
    found = on_spark(spark, list(programs.values()), RECORDS, tp.COLUMNS, SYSTEM)
    wrong = []
    for (text, expr), outcomes in zip(programs.items(), found, strict=True):
        wanted = on_interpreter(expr, RECORDS, SYSTEM)
        for got, want in zip(outcomes, wanted, strict=True):
            if fingerprint(got) != fingerprint(want):
                wrong.append(f"{text}\n   {got!r} instead of {want!r}")
                break
    assert not wrong, "\n".join(wrong)
