"""What may be written for an aggregate, and what is said about mistakes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.config.loading import accepted_config, brief, load_config

CXL = "cxl: emit a = b\n"


def test_aggregate_settings() -> None:
    aggregate = accepted_config(
        "aggregate",
        """\
        group_by: [a, b]
        cxl: emit n = count(*)
        strategy: streaming
        time_window: { hopping: { size: 1h, slide: 30m } }
        allowed_lateness: 30s
        """,
    )
    assert aggregate.time_window.shape.slide == timedelta(minutes=30)
    assert aggregate.allowed_lateness == timedelta(seconds=30)
    assert accepted_config("aggregate", "group_by: []\ncxl: emit n = count(*)").group_by == ()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            CXL + "group_by: [a]\ntime_window: { tumbling: { size: 1h }, session: { gap: 0s } }",
            ["E214 9:62 must be longer than zero"],
        ),
        (
            CXL + "group_by: [a]\ntime_window: { tumbling: { size: 1h }, session: { gap: 1s } }",
            ["E027 9:22 a time window has exactly one shape"],
        ),
        (
            CXL + "group_by: [a]\nallowed_lateness: 5s",
            ["E027 9:7 'allowed_lateness' belongs to a time window, which is not given"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("aggregate", config).diagnostics) == expected
