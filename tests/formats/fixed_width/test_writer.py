"""Given these records, expect those bytes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.types import SCHEMA_TYPES
from clinker.formats import FORMATS
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.writing import OutputColumn, Rendered, WriteError, WriteSpec
from clinker.formats.fixed_width.dialect import FixedField, FixedWidthDialect
from clinker.formats.renderer import renderer
from tests.formats.fixed_width.layouts import dialect, field
from tests.formats.reading import read, spec_of, values


def rendered(
    layout: FixedWidthDialect, types: dict[str, str], *records: tuple[Any, ...]
) -> Rendered:
    columns = tuple(OutputColumn(name, SCHEMA_TYPES[to].nullable()) for name, to in types.items())
    spec = WriteSpec(format=FORMATS["fixed_width"], dialect=layout, columns=columns)
    schema = pa.schema([(column.name, arrow_type(column.type)) for column in columns])
    rows = [dict(zip(types, record, strict=True)) for record in records]
    return renderer(spec).render(pa.RecordBatch.from_pylist(rows, schema))


def written(layout: FixedWidthDialect, types: dict[str, str], *records: tuple[Any, ...]) -> bytes:
    body: bytes = rendered(layout, types, *records).body.to_pybytes()
    return body


def one(value: Any, to: str, width: int, **settings: Any) -> bytes:
    """The field of a single value."""
    return written(dialect(field("x", 0, width, **settings), separator="none"), {"x": to}, (value,))


def test_lines() -> None:
    layout = dialect(
        field("id", 0, 5, justify="right", pad="0"), field("name", 5, 10), field("amt", 15, 8)
    )
    types = {"id": "int", "name": "string", "amt": "float"}
    assert written(layout, types, (42, "Alice", 99.5), (7, None, None)) == (
        b"00042Alice         99.5\n00007                  \n"
    )


@pytest.mark.parametrize(
    ("separator", "end"), [("lf", b"\n"), ("crlf", b"\r\n"), ("cr", b"\r"), ("none", b"")]
)
def test_line_separators(separator: str, end: bytes) -> None:
    layout = dialect(field("x", 0, 2), separator=separator)
    assert written(layout, {"x": "string"}, ("ab",), ("c",)) == b"ab" + end + b"c " + end


def test_fields_stand_in_their_places_and_gaps_are_blank() -> None:
    layout = dialect(field("b", 6, 2), field("filler", 4, 1, default="|"), field("a", 1, 2))
    assert written(layout, {"a": "string", "b": "string"}, ("AA", "BB")) == b" AA | BB\n"


@pytest.mark.parametrize(
    ("value", "to", "width", "how", "expected"),
    [
        (-42, "int", 6, {"pad": "0"}, b"-00042"),
        (-42, "int", 6, {}, b"   -42"),
        (123.45, "float", 9, {"scale": 2, "pad": "0"}, b"000012345"),
        (-0.07, "float", 6, {"scale": 2, "pad": "0"}, b"-00007"),
        (1.235, "float", 6, {"scale": 2}, b"   124"),
        (5, "int", 6, {"scale": 2}, b"   500"),
        ("12.5", "numeric", 6, {"scale": 2}, b"  1250"),
        (dt.date(2024, 1, 15), "date", 8, {"format": "%Y%m%d"}, b"20240115"),
        (dt.date(2024, 1, 15), "date", 10, {}, b"2024-01-15"),
        ("2024-01-15", "string", 8, {"format": "%Y%m%d", "type": "date"}, b"20240115"),
        (True, "bool", 1, {}, b"Y"),
        (False, "bool", 5, {}, b"false"),
        (None, "int", 3, {"pad": "0"}, b"000"),
        (None, "string", 4, {"default": "none"}, b"none"),
        ("ab", "string", 4, {"justify": "right", "pad": "*"}, b"**ab"),
        (None, "float", 6, {"scale": 2, "pad": "0", "default": "1.5"}, b"000150"),
        (None, "int", 6, {"scale": 2, "pad": "0", "default": "0"}, b"000000"),
        (None, "bool", 1, {"default": "true"}, b"Y"),
        (None, "date", 8, {"format": "%Y%m%d", "default": "1970-01-01"}, b"19700101"),
        (None, "date", 8, {"format": "%Y%m%d", "default": "00000000"}, b"00000000"),
        (None, "string", 3, {"type": "integer", "default": "007"}, b"  7"),
        (1, "int", 3, {"pad": "0", "enum": ("01", "02")}, b"001"),
        (1.5, "float", 4, {"scale": 2, "pad": "0", "enum": ("1.50",)}, b"0150"),
        (True, "bool", 1, {"enum": ("true",)}, b"Y"),
        ("20240115", "string", 8, {"format": "%Y%m%d"}, b"20240115"),
        (7, "int", 2, {"format": "%Y%m%d"}, b" 7"),
        ("007", "string", 3, {"type": "integer"}, b"007"),
        ("2024-01-15", "string", 10, {"type": "date"}, b"2024-01-15"),
    ],
)  # fmt: skip
def test_values(value: Any, to: str, width: int, how: dict[str, Any], expected: bytes) -> None:
    assert one(value, to, width, **how) == expected


def test_values_that_are_too_long() -> None:
    assert one("abcdef", "string", 4, truncation="silent") == b"abcd"
    assert one("abcä", "string", 4, truncation="silent") == b"abc "
    layout = dialect(field("x", 0, 4))
    piece = rendered(layout, {"x": "string"}, ("abcdef",), ("ab",), ("ghijkl",))
    assert piece.body.to_pybytes() == b"abcd\nab  \nghij\n"
    assert piece.notes == {"values of 'x' were cut to the 4 bytes of their field": 2}


@pytest.mark.parametrize(
    ("value", "to", "how", "why"),
    [
        (12345, "int", {}, "'12345' in column 'x' has 5 bytes, and its field 4"),
        ("abcde", "string", {"truncation": "error"},
         "'abcde' in column 'x' has 5 bytes, and its field 4"),
        (123, "int", {"precision": 2}, "'123' in column 'x' has more than 2 digits"),
        ("C", "string", {"enum": ("A", "B")}, "'C' in column 'x' is not in its 'enum'"),
        (1, "int", {"scale": 2, "enum": ("100",)}, "'100' in column 'x' is not in its 'enum'"),
        (None, "string", {"required": True},
         "column 'x' has no value, and its field must have one"),
        (float("nan"), "float", {"scale": 2}, "'NaN' in column 'x' is no number"),
        ("abc", "string", {"type": "integer"}, "'abc' in column 'x' is no integer"),
        ("no!", "any", {"type": "boolean"}, "'no!' in column 'x' is no boolean"),
        ("oops", "string", {"type": "date", "format": "%Y"}, "'oops' in column 'x' is no date"),
    ],
)  # fmt: skip
def test_refusals(value: Any, to: str, how: dict[str, Any], why: str) -> None:
    with pytest.raises(WriteError) as refused:
        one(value, to, 4, **how)
    assert (refused.value.message, refused.value.record, refused.value.code) == (why, 1, "E061")


def test_encodings() -> None:
    layout = dialect(field("a", 0, 4), field("n", 4, 4, pad="0"), encoding="cp037")
    line = written(layout, {"a": "string", "n": "int"}, ("Mü", -7))
    assert line.decode("cp037") == "Mü  -007\n"
    latin = dialect(field("a", 0, 4), encoding="latin-1", separator="none")
    assert written(latin, {"a": "string"}, ("Mü",)) == b"M\xfc  "
    with pytest.raises(WriteError, match="has characters that the encoding does not have"):
        written(latin, {"a": "string"}, ("東",))


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\r\n"])
def test_line_breaks_in_lines_are_refused(text: str) -> None:
    with pytest.raises(WriteError) as refused:
        written(dialect(field("x", 0, 4)), {"x": "string"}, ("ab",), (text,))
    assert refused.value.message.endswith("in column 'x' has a line break, and lines end with one")
    assert refused.value.record == 2
    assert one(text, "string", 4) == text.ljust(4).encode()


def test_line_breaks_of_mainframes_are_refused() -> None:
    with pytest.raises(WriteError, match="has a line break"):
        written(dialect(field("x", 0, 4), encoding="cp037"), {"x": "string"}, ("a\x85b",))


def test_maps_are_refused() -> None:
    with pytest.raises(WriteError) as refused:
        written(dialect(field("x", 0, 9)), {"x": "any"}, ('{"a":1}',))
    assert refused.value.code == "E078"


ROUND_TRIP: tuple[FixedField, ...] = (
    field("name", 0, 12),
    field("n", 12, 20, pad="0"),
    field("price", 32, 17, scale=2, pad="0"),
    field("flag", 49, 1),
    field("day", 50, 8, format="%Y%m%d"),
    field("at", 58, 14, format="%Y%m%d%H%M%S"),
)
TYPES = {
    "name": "string", "n": "int", "price": "float", "flag": "bool", "day": "date", "at": "date_time"
}  # fmt: skip
RECORDS = st.tuples(
    st.text("abcÄz0-_", min_size=1, max_size=6),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(10**13), 10**13).map(lambda cents: cents / 100),
    st.none() | st.booleans(),
    st.none() | st.dates(dt.date(1, 1, 1)),
    st.none() | st.datetimes(dt.datetime(1, 1, 1)).map(lambda at: at.replace(microsecond=0)),
)


@settings(max_examples=60, deadline=None)
@given(
    records=st.lists(RECORDS, max_size=5),
    separator=st.sampled_from(["lf", "crlf", "cr", "none"]),
    encoding=st.sampled_from(["utf-8", "latin-1", "cp037"]),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[tuple[Any, ...]],
    separator: str,
    encoding: str,
) -> None:
    layout = dialect(*ROUND_TRIP, separator=separator, encoding=encoding)
    content = written(layout, TYPES, *records)
    found = read(tmp_path_factory.mktemp("again"), spec_of(layout, TYPES), content)
    assert [tuple(record.values()) for record in values(found)] == records
    assert not any(record["$reject"] for record in found)


def test_a_day_written_with_a_time_begins_it() -> None:
    assert one(dt.date(2026, 3, 1), "date", 14, format="%Y%m%d%H%M%S") == b"20260301000000"
