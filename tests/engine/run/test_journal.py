"""A journal of a run."""

from __future__ import annotations

import pytest

from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.report.facts import Counts, Exit, SourceReport, failed_report, identify
from clinker.engine.run.journal import Journal
from tests.engine.report.reports import report
from tests.engine.whole_runs import Listener


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock shows, one time after the other."""
    times: list[float] = []
    monkeypatch.setattr("clinker.engine.run.journal.time.monotonic", lambda: times.pop(0))
    return times


def test_steps_are_timed_those_done_again_together(clock: list[float]) -> None:
    clock += [0.0, 2.0, 5.0, 6.0, 8.0, 8.5]
    journal = Journal(Listener())
    for step in ("out", "other", "out"):
        journal.step_started(step)
    journal.publishing()
    told = journal.completed(report())
    assert [(step.name, step.seconds, step.times) for step in told.steps] == [
        ("starting", 2.0, 1),
        ("out", 5.0, 2),
        ("other", 1.0, 1),
        ("publishing", 0.5, 1),
    ]


def test_all_is_passed_on() -> None:
    listener = Listener()
    journal = Journal(listener)
    journal.warned("careful")
    journal.logged(TraceLevel.WARN, "text", "node")
    assert journal.wants(TraceLevel.WARN)
    assert not journal.wants(TraceLevel.DEBUG)
    assert listener.warnings == ["careful"]
    assert listener.messages == ["warn node: text"]


def test_of_a_run_that_fails_it_tells_what_was_known_by_then() -> None:
    journal = Journal(Listener())
    failed = failed_report(identify(None), "orders", Exit.IO)
    assert journal.completed(failed).counts == Counts()
    source = SourceReport(name="orders", files=(), records=3, rejected=None)
    journal.opened([source])
    told = journal.completed(failed)
    assert (told.sources, told.counts) == ((source,), Counts(total=3))
    journal.rejected([], {"orders": 1})
    assert journal.completed(failed).sources[0].rejected == 1


def test_what_a_report_says_itself_stays() -> None:
    journal = Journal(Listener())
    journal.opened([])
    journal.engine_started({"engine": "spark"}, 4)
    journal.warned("later")
    told = journal.completed(report(warnings=("first",)))
    assert told.warnings == ("first", "later")
    assert (told.sources, told.engine, told.partitions) == (
        report().sources,
        {"engine": "spark"},
        4,
    )
