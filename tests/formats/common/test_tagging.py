"""Columns of values as JSON has them: the tagged texts are those of each value alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clinker.cxl.values import WrittenFloat
from clinker.formats.common.tagging import Unfit, tag, tag_column, tag_lists

_TEXT = st.text(max_size=8) | st.text(st.sampled_from('ae19.:,-"\\\\{}[]\n\x01'), max_size=8)
_SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-1e-3, 1e-3)
    | st.sampled_from(["1.10", "2.0", "1e5", "-0", "1.0E+2", "12345678901234567890123"]).map(
        WrittenFloat
    )
    | st.sampled_from([0, -0.0, 45.5, 1e15, 1e16, 1e20, 1e-5, 10**18, 2**63 - 1, 2**63])
    | _TEXT
)
_VALUE = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_TEXT, inner, max_size=5),
    max_leaves=12,
)
_NESTED = st.lists(_VALUE, max_size=4) | st.dictionaries(_TEXT, _VALUE, max_size=4)


@settings(max_examples=500)
@given(st.lists(_VALUE) | st.lists(_NESTED) | st.lists(st.none() | _TEXT))
@example([])
@example([[], {}, [[]], {"": ""}])
@example([{"a\\\\": "\\\\"}, {'"': '":'}, ["\\"], ['\\"', 1.5]])
@example([["1e5", "1.5", "12345678901234567890"], [1e5, -1.5, 1234567890123456789]])
@example([["#1.10", WrittenFloat("1.10"), {"#": WrittenFloat("1e5")}], "#1", WrittenFloat("-0")])
@example([{"u": "\x1f"}, {"u": "\\u001f"}, {"u": "\x7f"}])
def test_a_column_is_its_values(values: list[Any]) -> None:
    column = tag_column(values)
    column.validate(full=True)
    assert column.to_pylist() == [tag(value) for value in values]


@settings(max_examples=200)
@given(st.lists(st.none() | st.lists(_VALUE)))
def test_arrays_have_their_items(values: list[list[Any] | None]) -> None:
    column = tag_lists(values)
    column.validate(full=True)
    assert column.to_pylist() == [
        None if value is None else [tag(item) for item in value] for value in values
    ]


@pytest.mark.parametrize("depth", [200, *range(245, 260), 900])
def test_only_what_is_nested_too_deeply_is_unfit(depth: int) -> None:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    try:
        expected = tag(value)
    except Unfit:
        with pytest.raises(Unfit):
            tag_column([[1], value])
    else:
        assert tag_column([[1], value]).to_pylist() == ["[1]", expected]
