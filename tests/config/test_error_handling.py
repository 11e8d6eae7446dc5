"""What becomes of records that cannot be processed."""

from __future__ import annotations

import pytest

from tests.config.loading import accepted, brief, load


def test_error_handling() -> None:
    handling = accepted(
        load(
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling:
              strategy: continue
              dlq:
                path: errors.csv
                include_reason: false
                max_rate: 0.5
                per_source: { orders: { path: orders_errors.csv, min_records: 5 } }
              type_error_threshold: 0.05
              correlation_fanout_policy: primary
              correlation_key: order_id
              max_group_buffer: 10
            """
        )
    ).error_handling
    assert handling.strategy == "continue"
    assert str(handling.dlq.per_source["orders"].path) == "orders_errors.csv"
    assert handling.dlq.per_source["orders"].min_records == 5
    assert handling.correlation_key == ("order_id",)
    assert handling.type_error_threshold == 0.05


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling:
              strategy: fail_fats
              dlq: { max_rate: 0, include_reason: "yes", per_source: { s: { max_rate: 1.5 } } }
              type_error_threshold: 5
              correlation_fanout_policy: some
            """,
            [
                "E007 4:13 unknown strategy 'fail_fats'",
                "E318 5:20 must be a fraction above 0 and at most 1, found 0.0",
                "E007 5:39 expected true or false, found string 'yes'",
                "E318 5:75 must be a fraction above 0 and at most 1, found 1.5",
                "E007 6:25 must be at most 1.0, found 5",
                "E007 7:30 unknown correlation_fanout_policy 'some'",
            ],
        ),
        (
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling: { correlation_key: order_id }
            """,
            ["W012 3:19 'error_handling.correlation_key' is deprecated"],
        ),
    ],
)
def test_diagnostics(text: str, expected: list[str]) -> None:
    assert brief(load(text).diagnostics) == expected
