"""Columns as values: wherever a part of a column stands, it has the values that are there."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from clinker.formats.parquet.values import list_values

MAPS = pa.map_(pa.string(), pa.list_(pa.int64()))


@pytest.mark.parametrize(
    ("values", "held"),
    [
        ([None, [("a", [1])], [], [("b", None), ("a", [2, None])], None], MAPS),
        ([[[1], None], None, [], [[], [2, 3]], [[4]]], pa.list_(pa.list_(pa.int8()))),
        ([[1, 2], None, [3, 4], [5, None], [6, 7]], pa.list_(pa.int16(), 2)),
        ([[1], None, [], [5, None], [6, 7]], pa.large_list(pa.uint8())),
        (["a", None, "b", "a", ""], pa.dictionary(pa.int8(), pa.large_string())),
        ([{"m": [("x", [n])], "n": n} if n else None for n in range(5)], pa.struct({"m": MAPS})),
        ([dt.datetime(2024, 1, n) if n else None for n in range(5)], pa.timestamp("s", "UTC")),
    ],
)
def test_parts_of_columns(values: list[Any], held: pa.DataType) -> None:
    column = pa.array(values, held)
    whole = list_values(column)
    assert [value is None for value in whole] == [value is None for value in values]
    for begin in range(5):
        for end in range(begin, 6):
            assert list_values(column.slice(begin, end - begin)) == whole[begin:end]


def test_maps_have_texts_as_keys() -> None:
    for key, shown in ((7, "7"), (dt.date(2024, 1, 2), "2024-01-02"), ("a", "a")):
        maps = pa.array([[(key, 1)]], pa.map_(pa.scalar(key).type, pa.int32()))
        assert list_values(maps) == [{shown: 1}]
