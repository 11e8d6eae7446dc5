"""Watermarks, and the time windows that depend on them."""

from __future__ import annotations

import pytest

from clinker.diagnostics import Diagnostic
from clinker.plan.analyses.watermarks import EventTimes, plan_event_times
from tests.plan.compiling import bound, brief, notes


def event_times(nodes: str) -> tuple[EventTimes, list[Diagnostic]]:
    p = bound(nodes)
    return plan_event_times(p.graph, p.nodes)


def source(name: str, watermark: str | None = "{ column: event_ts }") -> str:
    """A source of four lines."""
    declared = f"watermark: {watermark}, " if watermark else ""
    return f"""\
- type: source
  name: {name}
  config: {{ type: csv, path: {name}.csv, {declared}
    schema: {{ user_id: string, event_ts: date_time, day: date, kind: string }} }}
"""


def sessions(upstream: str, name: str = "user_sessions") -> str:
    """An aggregate of eight lines."""
    return f"""\
- type: aggregate
  name: {name}
  input: {upstream}
  config:
    group_by: [user_id]
    time_window: {{ session: {{ gap: 5m }} }}
    allowed_lateness: 30s
    cxl: emit logins = count(*)
"""


MERGE = "- { type: merge, name: all_logins, inputs: [src_web, src_mobile] }\n"


def test_windows_close_when_every_source_has_advanced() -> None:
    found, problems = event_times(
        source("src_web")
        + source("src_mobile", "{ column: day, delay: 5s }")
        + MERGE
        + sessions("all_logins")
    )
    assert problems == []
    assert found.columns == {"src_web": "event_ts", "src_mobile": "day"}
    assert found.time_windows == {"user_sessions": ("src_web", "src_mobile")}


def test_every_source_before_a_time_window_needs_a_watermark() -> None:
    _, problems = event_times(
        source("src_web", None)
        + source("src_mobile", None)
        + MERGE
        + source("elsewhere", None)
        + sessions("all_logins")
    )
    assert brief(problems) == [
        "E156 22:5 the time windows of 'user_sessions' never close: "
        "'src_web', 'src_mobile' have no watermark"
    ]
    assert notes(problems[0]) == ["5:9 has no watermark", "9:9 has no watermark"]
    assert problems[0].help == (
        "add 'watermark: { column: <event-time column> }' to each of these sources, "
        "or remove 'time_window'"
    )


def test_only_the_sources_without_a_watermark_are_named() -> None:
    _, problems = event_times(
        source("src_web") + source("src_mobile", None) + MERGE + sessions("all_logins")
    )
    assert [p.message for p in problems] == [
        "the time windows of 'user_sessions' never close: 'src_mobile' has no watermark"
    ]


def test_the_watermark_column_is_in_the_schema() -> None:
    _, problems = event_times(source("clicks", "{ column: event_time }"))
    assert brief(problems) == [
        "E154 6:63 the watermark names 'event_time', which is not a column of 'clicks'"
    ]
    assert notes(problems[0]) == ["7:5 its columns are declared here"]


def test_a_misspelt_watermark_column_is_suggested() -> None:
    _, problems = event_times(source("clicks", "{ column: evnt_ts }"))
    assert [(p.code, p.help) for p in problems] == [("E154", "did you mean 'event_ts'?")]


def test_the_watermark_column_is_a_time() -> None:
    _, problems = event_times(source("clicks", "{ column: kind }"))
    assert brief(problems) == [
        "E155 6:63 the watermark column 'kind' is String, not a point in time"
    ]
    assert notes(problems[0]) == ["7:70 declared here"]


@pytest.mark.parametrize("type_", ["any", "int", "numeric"])
def test_types_that_may_not_be_times(type_: str) -> None:
    text = source("clicks", "{ column: kind }").replace("kind: string", f"kind: {type_}")
    assert [p.code for p in event_times(text)[1]] == ["E155"]


def test_a_nullable_time_is_a_time() -> None:
    text = source("clicks", "{ column: kind }").replace("kind: string", "kind: nullable(date)")
    assert event_times(text)[1] == []


def test_groups_have_no_event_time() -> None:
    _, problems = event_times(
        source("clicks") + sessions("clicks") + sessions("user_sessions", "again")
    )
    assert brief(problems) == [
        "E047 21:5 the records that reach 'again' have no event time: "
        "they are groups that 'user_sessions' formed"
    ]
    assert notes(problems[0]) == ["9:9 the event time ends here"]


def test_joined_records_have_the_event_time_of_the_driver() -> None:
    def joined(drive: str) -> str:
        return (
            source("clicks")
            + sessions("clicks")
            + f"""\
- type: combine
  name: joined
  input: {{ c: clicks, s: user_sessions }}
  config: {{ where: c.user_id == s.user_id, drive: {drive}, propagate_ck: driver,
    cxl: emit user_id = c.user_id }}
"""
            + sessions("joined", "again")
        )

    assert event_times(joined("c"))[1] == []
    assert [p.code for p in event_times(joined("s"))[1]] == ["E047"]


def test_findings_come_together_even_with_broken_wiring() -> None:
    _, problems = event_times(
        source("clicks", "{ column: kind }") + sessions("nowhere") + sessions("clicks", "other")
    )
    assert [p.code for p in problems] == ["E155"]
