"""Rejected records brought together, with what of the pipeline rejected them."""

from __future__ import annotations

import pytest

from clinker.engine.rejects.alike import MOST_SAMPLES
from clinker.engine.report.facts import (
    RejectedAlike,
    RejectedRecord,
    RunError,
    failed_report,
    identify,
)
from clinker.engine.run.journal import Journal
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.engine.whole_runs import Workplace

PIPELINE = """\
pipeline: { name: p }
error_handling: { strategy: continue }
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
        - { name: parts, type: int }
  - type: transform
    name: priced
    input: orders
    config:
      cxl: |
        emit each = amount / parts.to_float()
        emit half = 100.0 / (id - 7).to_float()
      validations:
        - { check: max, field: each, args: { value: 1000 }, name: affordable }
  - { type: output, name: out, input: priced, config: { type: csv, path: out.csv } }
"""
LONG = "9" * 1000 + "x"


def orders() -> str:
    rows = ["id,amount,parts", *(f"{n},10,2" for n in range(1, 7)), "7,1,1"]
    rows += [f"{n},{LONG},1" for n in range(8, 18)]
    rows += ["18,1,0", "19,1,0", "20,5000,1", "x,1,1", "21,1,1"]
    return "\n".join(rows) + "\n"


def alike(workplace: Workplace, pipeline: str = PIPELINE) -> list[RejectedAlike]:
    workplace.write(orders_csv=orders())
    compiled = compile_pipeline(pipeline.encode(), "p.yaml", Options(workplace.folder))
    assert compiled.plan, compiled.diagnostics
    journal = Journal(Quiet())
    report = journal.completed(run_in(compiled.plan, workplace.session, journal))
    assert sum(each.count for each in report.rejected_alike) == report.counts.dlq
    return list(report.rejected_alike)


def pointed_at(found: RejectedAlike) -> tuple[int, str]:
    assert found.location
    start, end = found.location.span
    return found.location.start.line, found.location.source.text[start:end]


def test_what_was_rejected_alike_stands_together_the_most_frequent_first(
    workplace: Workplace,
) -> None:
    found = alike(workplace)
    shown = [(f.count, f.category, f.node, f.field, f.rule, *pointed_at(f)) for f in found]
    conversion = "type_coercion_failure"
    assert shown == [
        (10, conversion, "orders", "amount", "", 11, "float"),
        (2, conversion, "priced", "each", "", 18, "amount / parts.to_float()"),
        (1, conversion, "priced", "half", "", 19, "100.0 / (id - 7).to_float()"),
        (1, "validation_failure", "priced", "each", "affordable", 21, "max"),
        (1, conversion, "orders", "id", "", 10, "int"),
    ]
    division, *_ = found[1].samples
    assert division == RejectedRecord(
        place="orders.csv, row 18", field="each", value="", detail="division by zero"
    )


def test_samples_are_few_and_short(workplace: Workplace) -> None:
    most, *_ = alike(workplace)
    assert len(most.samples) == MOST_SAMPLES
    assert most.samples[0].place == "orders.csv, row 8"
    for sample in most.samples:
        assert len(sample.value) == 100
        assert sample.value.endswith("…")
        assert len(sample.detail) <= 240


def test_who_keeps_reasons_out_of_dead_letters_keeps_them_out_of_reports(
    workplace: Workplace,
) -> None:
    quiet = "{ strategy: continue, dlq: { path: bad.csv, include_reason: false } }"
    found = alike(workplace, PIPELINE.replace("{ strategy: continue }", quiet))
    assert [each.count for each in found] == [10, 2, 1, 1, 1]
    assert not any(each.samples for each in found)


def test_a_run_that_ends_for_its_rejects_tells_them(workplace: Workplace) -> None:
    workplace.write(orders_csv=orders())
    options = Options(workplace.folder, error_threshold=3)
    compiled = compile_pipeline(PIPELINE.encode(), "p.yaml", options)
    assert compiled.plan
    journal = Journal(Quiet())
    with pytest.raises(RunError, match="more than --error-threshold 3") as caught:
        run_in(compiled.plan, workplace.session, journal)
    failed = failed_report(identify(None), "p", caught.value.exit_code, caught.value.counts)
    told = journal.completed(failed)
    assert [each.count for each in told.rejected_alike] == [10, 2, 1, 1, 1]
    [source] = told.sources
    assert (source.name, source.records, source.rejected) == ("orders", 22, 15)
    assert source.bytes == len(orders())
    assert told.engine["engine"] == workplace.session.facts.engine
    assert [step.name for step in told.steps] == ["starting", "out"]


def test_what_fell_with_others_comes_last_and_points_at_the_key(workplace: Workplace) -> None:
    keyed = PIPELINE.replace("path: orders.csv", "path: orders.csv\n      correlation_key: amount")
    found = alike(workplace, keyed)
    last = found[-1]
    assert (last.category, last.node) == ("correlated", "out")
    assert pointed_at(last) == (9, "amount")
    assert all(each.category != "correlated" for each in found[:-1])
