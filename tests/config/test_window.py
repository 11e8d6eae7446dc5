"""Analytic windows and their frames."""

from __future__ import annotations

from math import inf

import pytest

from clinker.config.window import Extent
from tests.config.loading import accepted_config, brief, load_config

CXL = "cxl: emit a = b\n"


@pytest.mark.parametrize(
    ("frame", "extent"),
    [
        ("rows: unbounded_preceding..current_row", Extent(-inf, 0)),
        ("rows: 3 preceding", Extent(-3, 0)),
        ("rows: [2_preceding, 2 following]", Extent(-2, 2)),
        ("rows: { start: current row, end: unbounded_following }", Extent(0, inf)),
        ("rows: { start: unbounded_preceding }", Extent(-inf, 0)),
        ("rows: '2 preceding..1 preceding'", Extent(-2, -1)),
    ],
)
def test_window_frames(frame: str, extent: Extent) -> None:
    transform = accepted_config(
        "transform", f"cxl: x\nanalytic_window: {{ group_by: [a], frame: {{ {frame} }} }}"
    )
    assert transform.analytic_window.group_by == ("a",)
    assert transform.analytic_window.frame.rows == extent


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            CXL + "analytic_window: { group_by: [a], frame: { rows: current_row..3 preceding } }",
            ["E025 8:56 the frame ends before it starts"],
        ),
        (
            CXL + "analytic_window: { group_by: [a], frame: { rows: 1.5 preceding }, on: x }",
            [
                "E025 8:56 a frame of rows counts whole records",
                "E025 8:73 'on' looks up records of a 'source', which is not given",
            ],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("transform", config).diagnostics) == expected
