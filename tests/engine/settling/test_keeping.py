"""What has fallen is computed again without; what it cannot have changed is not."""

from __future__ import annotations

import pytest

from tests.engine.settling.test_groups import (
    aggregate,
    entries,
    output,
    pipeline,
    source,
    transform,
)
from tests.engine.whole_runs import Ran, Workplace


@pytest.fixture(params=["driver", "workers"], autouse=True)
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "workers":
        from clinker.engine.reading import inputs

        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)


def computed(ran: Ran) -> list[str]:
    """The outputs that were computed, one after the other."""
    assert ran.code == 2, ran.message
    assert ran.report
    names = {output.name for output in ran.report.outputs}
    return [step for step in ran.steps if step in names]


def test_a_clean_branch_is_computed_once(workplace: Workplace) -> None:
    workplace.write(
        a_csv="id,value\nA,1\nA,bad\nB,3\n", b_csv="id,value\nA,1\nA,2\n", c_csv="n\n1\n0\n"
    )
    ran = workplace.run(
        pipeline(
            source("a", "id value", "id"),
            source("b", "id value", "id"),
            source("c", "n", n="int"),
            transform("parse", "a", "emit value = value.to_int()"),
            transform("check", "b", "emit value = value.to_int()"),
            transform("divide", "c", "emit r = 1 / n"),
            output("dirty", "parse"),
            output("clean", "check"),
            output("alone", "divide"),
        )
    )
    assert computed(ran) == ["dirty", "clean", "alone", "dirty"]
    assert workplace.read("dirty.csv") == "id,value\nB,3\n"
    assert workplace.read("clean.csv") == "id,value\nA,1\nA,2\n"
    assert workplace.read("alone.csv") == "n,r\n1,1\n"
    assert entries(workplace) == [
        ("a", "2", "parse", "type_coercion_failure"),
        ("a", "1", "dirty", "correlated"),
        ("c", "2", "divide", "type_coercion_failure"),
    ]
    assert ran.report
    assert ran.report.retracted
    assert ran.report.retracted.computed_again == 1
    assert ran.report.retracted.groups_recomputed == 0
    assert not [name for name in workplace.files() if "parts" in name]


def test_what_fell_with_others_is_told_of_outputs_that_are_kept(workplace: Workplace) -> None:
    workplace.write(a_csv="id,value\nA,1\nA,bad\nB,3\n", b_csv="id,n\nA,1\nB,2\nB,1\nC,4\n")
    ran = workplace.run(
        pipeline(
            source("a", "id value", "id"),
            source("b", "id n", "id", n="int"),
            transform("parse", "a", "emit value = value.to_int()"),
            output("first", "parse"),
            aggregate("totals", "b", "id", "emit total = sum(n)"),
            transform("ratio", "totals", "emit r = 1 / (total - 3)"),
            output("then", "ratio"),
        )
    )
    # What fails behind an aggregate waits for the rest, and its groups are made to know records.
    assert " ".join(computed(ran)) == "first then first then then"
    assert workplace.read("first.csv") == "id,value\nB,3\n"
    assert workplace.read("then.csv") == "id,total,r\nA,1,0\nC,4,1\n"
    assert entries(workplace) == [
        ("a", "2", "parse", "type_coercion_failure"),
        ("a", "1", "first", "correlated"),
        ("b", "2", "ratio", "type_coercion_failure"),
        ("b", "2", "totals", "correlated"),
        ("b", "3", "totals", "correlated"),
    ]
    failed, with_it, *_ = entries(workplace, "_cxl_dlq_error_detail")
    assert with_it[-1] == f"correlated with failure in group: {failed[-1]}"


def test_what_was_taken_back_makes_all_new_that_it_has_reached(workplace: Workplace) -> None:
    workplace.write(a_csv="id,n\nA,1\nB,2\nC,4\n", b_csv="id,n\nA,5\n")
    ran = workplace.run(
        pipeline(
            source("a", "id n", "id", n="int"),
            source("b", "id n", "id", n="int"),
            aggregate("total", "a", "", "emit total = sum(n)"),
            transform("ratio", "total", "emit r = 1 / (total - 7)"),
            output("ratios", "ratio"),
            output("raw", "a"),
            output("other", "b"),
        )
    )
    assert " ".join(computed(ran)) == "raw other ratios ratios raw ratios"
    assert ran.report
    assert ran.report.retracted
    assert ran.report.retracted.groups_recomputed is None
    assert ran.report.retracted.partitions_recomputed == 0
    assert workplace.read("raw.csv") == "id,n\n"
    assert workplace.read("other.csv") == "id,n\nA,5\n"
