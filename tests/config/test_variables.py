"""Declarations of variables."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from clinker.cxl.types import DATE, DATETIME, FLOAT, INT, STRING
from tests.config.loading import accepted, brief, load


def test_variables_in_all_forms() -> None:
    variables = accepted(
        load(
            """\
            pipeline:
              name: p
              vars:
                threshold: 500
                rate: 0.08
                label: "Monthly Report"
                strict: true
                cutoff: { type: date, default: "2024-01-01" }
                later: { type: datetime, default: "2024-01-01T06:00:00" }
                ratio: { type: float, default: 1 }
                empty: { type: int }
                record: { type: string, default: a variable called record }
                source:
                  batch_id: { type: string }
                  type: { type: int }
                pipeline:
                  limit: { type: date_time }
                  n: 5
            nodes: [{ type: merge, name: m, inputs: [a] }]
            """
        )
    ).pipeline.vars
    assert {name: (v.cxl_type, v.initial) for name, v in variables.static.items()} == {
        "threshold": (INT, 500),
        "rate": (FLOAT, 0.08),
        "label": (STRING, "Monthly Report"),
        "strict": (variables.static["strict"].cxl_type, True),
        "cutoff": (DATE, date(2024, 1, 1)),
        "later": (DATETIME, datetime(2024, 1, 1, 6)),
        "ratio": (FLOAT, 1.0),
        "empty": (INT, None),
        "record": (STRING, "a variable called record"),
    }
    assert list(variables.source) == ["batch_id", "type"]
    assert variables.pipeline["n"].initial == 5
    assert variables.record == {}
    assert variables.key_at("pipeline", "limit").start == (17, 7)
    assert variables.static["threshold"].at("default").start == (4, 16)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            """\
            pipeline:
              name: p
              vars:
                a: { type: int, default: 1.5 }
                b: { type: date, default: tomorrow }
                c: { type: money }
                d: null
                e: { type: bool, default: null }
                f: { type: int, default: 99999999999999999999 }
                pipeline: { start_time: { type: date_time } }
                source: { row: 1 }
            nodes:
              - { type: merge, name: m, inputs: [a] }
            """,
            [
                "E020 4:30 a default of type int must be an integer, found number 1.5",
                "E020 5:31 a default of type date must be a date such as '2026-01-31', "
                "found string 'tomorrow'",
                "E007 6:16 unknown type 'money'",
                "E007 7:8 expected a mapping, found nothing",
                "E020 9:30 a default of type int must be an integer, "
                "found integer 99999999999999999999",
            ],
        ),
        (
            """\
            pipeline:
              name: p
              vars:
                pipeline: { start_time: { type: date_time } }
                source: { row: 1 }
            nodes:
              - { type: merge, name: m, inputs: [a] }
            """,
            [
                "E110 4:17 $pipeline.start_time is provided by the engine and cannot be declared",
                "E110 5:15 $source.row is provided by the engine and cannot be declared",
            ],
        ),
        (
            """\
            pipeline: { name: p, vars: { record: { tier: { type: string } } } }
            nodes:
              - type: transform
                name: a
                input: s
                config:
                  cxl: emit x = 1
                  declares:
                    - { name: tier, scope: record, type: string }
                    - { name: limit, scope: pipeline, type: int }
              - type: transform
                name: b
                input: s
                config:
                  cxl: emit x = 1
                  declares: [{ name: limit, scope: pipeline, type: int }]
            """,
            [
                "E030 9:19 $record.tier is declared twice",
                "E030 16:26 $pipeline.limit is declared twice",
            ],
        ),
    ],
)
def test_diagnostics(text: str, expected: list[str]) -> None:
    assert brief(load(text).diagnostics) == expected
