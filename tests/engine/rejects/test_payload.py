"""What rejected records carry, read in two ways."""

from __future__ import annotations

import datetime as dt
from typing import Any

import orjson
import pytest

from clinker.cxl.run.tagged import encode
from clinker.engine.rejects.payload import MARK, payload_leaves, payload_values


@pytest.mark.parametrize(
    ("code", "carried", "value"),
    [
        ("BOOLEAN", True, True),
        ("BIGINT", -(2**63), -(2**63)),
        ("DOUBLE", 1e300, 1e300),
        ("DOUBLE", 1, 1.0),
        ("DOUBLE", "-Infinity", float("-inf")),
        ("STRING", 'a"\n', 'a"\n'),
        ("STRING", "", ""),
        ("DATE", "2024-01-15", dt.date(2024, 1, 15)),
        ("TIMESTAMP_NTZ", "2024-01-15T10:30:00.000000", dt.datetime(2024, 1, 15, 10, 30)),
        ("TIMESTAMP_NTZ", "2024-01-15T10:30:00.000250", dt.datetime(2024, 1, 15, 10, 30, 0, 250)),
        ("any", '"x', "x"),
        ("any", "5", 5),
        ("any", "5.0", 5.0),
        ("any", "false", False),
        ("any", "@2024-01-15", dt.date(2024, 1, 15)),
        ("any", '[1,"2.5",{"k":"\\"v"}]', [1, 2.5, {"k": "v"}]),
        ("[DATE", ["2024-01-15", None], [dt.date(2024, 1, 15), None]),
        ("[[any", [["1.5"], None, []], [[1.5], None, []]),
        ("[any", ['{"k":null}'], [{"k": None}]),
        ("STRING", None, None),
    ],
)
def test_values_and_the_leaves_of_a_tagged_map(code: str, carried: Any, value: Any) -> None:
    text = MARK + orjson.dumps({f"{code}:a:b": carried, "BIGINT:more": 7}).decode()
    values = {"a:b": value, "more": 7}
    assert payload_values(text) == values
    assert orjson.dumps(payload_leaves(text)).decode() == encode(values)
