"""What may be written for a transform, and what is said about mistakes."""

from __future__ import annotations

from datetime import date

import pytest

from clinker.config.window import Extent
from tests.config.loading import accepted_config, brief, load_config

CXL = "cxl: emit a = b\n"


def test_transform_settings() -> None:
    transform = accepted_config(
        "transform",
        """\
        cxl: |
          emit a = b
        max_expansion: 5
        batch_size: 512
        phase: init
        analytic_window:
          group_by: [region]
          sort_by: [{ field: amount, order: desc }, day]
          source: products
          on: product_id
          frame: { rows: 3 preceding..1 following }
        declares: [{ name: x, scope: pipeline, type: date, default: "2024-01-01" }]
        validations:
          - { field: email, check: not_empty, severity: warn, message: m }
          - { check: "amount > 0" }
          - { name: sizes, field: code, check: length, args: { min: 2, max: 4 } }
          - { field: kind, check: one_of, args: { values: [a, b] } }
        log:
          - { level: info, when: per_record, every: 1000, message: m, fields: [a], condition: x }
        """,
    )
    assert transform.cxl == "emit a = b\n"
    window = transform.analytic_window
    assert [(k.field, k.order) for k in window.sort_by] == [("amount", "desc"), ("day", "asc")]
    assert window.on == "product_id"
    assert window.frame.rows == Extent(-3, 1)
    assert transform.declares[0].initial == date(2024, 1, 1)
    email, amount, sizes, _ = transform.validations
    assert (email.named_check, email.rule) == ("not_empty", "email:not_empty")
    assert (amount.named_check, amount.rule) == (None, "amount > 0")
    assert (sizes.args, sizes.rule) == ({"min": 2, "max": 4}, "sizes")
    assert transform.log[0].every == 1000
    block = transform.text("cxl")
    assert block.text == "emit a = b\n"
    assert block.host.position(block.offsets[5]) == (8, 14)
    condition = amount.text("assertion")
    assert condition.host.position(condition.offsets[0]) == (21, 21)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (CXL + "batch_size: 0", ["E007 8:19 must be at least 1, found 0"]),
        ("cxl: true", ["E007 7:12 expected a string, found true"]),
        (
            CXL + "log: [{ level: info, when: on_error, message: m, every: 0 }]",
            [
                "E011 8:56 'every' counts records, but this is logged on_error",
                "E011 8:63 'every' must be at least 1, found 0",
            ],
        ),
        (
            CXL + "validations:\n  - { check: not_emty, field: a }\n  - { check: not_empty }\n"
            "  - { check: matches, field: a, args: { patern: x } }\n"
            "  - { check: a > 0, args: { x: 1 } }\n"
            "  - { check: length, field: a, args: { min: x } }",
            [
                "E026 9:20 unknown check 'not_emty'",
                "E026 10:20 the check 'not_empty' needs a field",
                "E026 11:20 the check 'matches' needs pattern",
                "E026 11:47 the check 'matches' has no argument 'patern'",
                "E026 12:27 'args' are for named checks, this one is a CXL condition",
                "E026 13:51 expected an integer, found string 'x'",
            ],
        ),
        (
            CXL + "declares: [{ name: row, scope: source, type: int }]",
            ["E110 8:26 $source.row is provided by the engine and cannot be declared"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("transform", config).diagnostics) == expected


def test_settings_that_are_refused() -> None:
    assert brief(load_config("transform", "max_expansion: 0").diagnostics)
