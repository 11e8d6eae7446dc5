"""What becomes of values of every type of Arrow."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from clinker.cxl.values import WrittenFloat
from clinker.formats.arrow.values import has_json_form, json_values

MAP = pa.map_(pa.string(), pa.decimal128(5, 2))
NESTED = pa.struct([("at", pa.list_(pa.timestamp("ns"))), ("share", pa.float32())])
AT = dt.datetime(2024, 2, 29, 23, 30)
TOKYO = pa.timestamp("us", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        ([True, None], pa.bool_(), [True, None]),
        ([None], pa.null(), [None]),
        ([1, None], pa.int8(), [1, None]),
        ([2**63 - 1, 2**64 - 1], pa.uint64(), [2**63 - 1, "18446744073709551615"]),
        ([0.5, float("nan"), float("-inf")], pa.float32(), [0.5, None, "-Infinity"]),
        ([0.5], pa.float16(), [0.5]),
        ([Decimal("1.50"), Decimal("2.25")], pa.decimal128(5, 2), ["1.50", 2.25]),
        ([Decimal("12300")], pa.decimal256(40, -2), [12300]),
        (["ä"], pa.string(), ["ä"]),
        (["ä"], pa.large_string(), ["ä"]),
        (["a", None, "a"], pa.dictionary(pa.int8(), pa.string()), ["a", None, "a"]),
        ([AT.date(), None], pa.date32(), ["2024-02-29", None]),
        ([AT.date()], pa.date64(), ["2024-02-29"]),
        ([dt.time(12, 30, 0, 500)], pa.time64("ns"), ["12:30:00.0005"]),
        ([AT], pa.timestamp("s"), ["2024-02-29T23:30:00"]),
        ([AT, None], TOKYO, ["2024-02-29T23:30:00Z", None]),
        ([1_234_567_891], pa.timestamp("ns"), ["1970-01-01T00:00:01.234567"]),
        ([1_500_000], pa.timestamp("us"), ["1970-01-01T00:00:01.5"]),
        ([2**62], pa.timestamp("ms"), ["<value out of range: 4611686018427387904>"]),
        ([["a", None], None, []], pa.list_(pa.string()), [["a", None], None, []]),
        ([[1], None], pa.large_list(pa.int8()), [[1], None]),
        ([[1, 2], None], pa.list_(pa.int8(), 2), [[1, 2], None]),
        ([[("a", Decimal("1.10"))], None], MAP, [{"a": "1.10"}, None]),
        (
            [{"at": [0, None], "share": float("inf")}, None, {"at": None, "share": None}],
            NESTED,
            [
                {"at": ["1970-01-01T00:00:00", None], "share": "Infinity"},
                None,
                {"at": None, "share": None},
            ],
        ),
    ],
    ids=lambda each: str(each) if isinstance(each, pa.DataType) else "",
)
def test_values_are_those_of_json(values: list[Any], type_: pa.DataType, expected: Any) -> None:
    array = pa.array(values, type_)
    assert has_json_form(type_)
    assert spelled(json_values(array)) == expected
    assert spelled(json_values(pa.concat_arrays([array, array]).slice(len(array)))) == expected


def spelled(value: Any) -> Any:
    """Values with the texts of numbers that keep theirs."""
    match value:
        case list():
            return [spelled(item) for item in value]
        case dict():
            return {key: spelled(item) for key, item in value.items()}
        case WrittenFloat():
            return value.text
        case _:
            return value


def test_runs_of_equal_values() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", None])
    assert json_values(runs) == ["a", "a", None]


@pytest.mark.parametrize(
    "type_",
    [
        pa.binary(),
        pa.duration("s"),
        pa.month_day_nano_interval(),
        pa.list_(pa.binary()),
        pa.map_(pa.int8(), pa.string()),
        pa.struct([("a", pa.int8()), ("a", pa.int8())]),
        pa.dense_union([pa.field("a", pa.int8())]),
    ],
    ids=str,
)
def test_what_json_has_no_place_for(type_: pa.DataType) -> None:
    assert not has_json_form(type_)
