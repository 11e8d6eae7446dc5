"""Given these bytes, expect those records."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from clinker.formats.fixed_width import lines, survey
from clinker.formats.fixed_width.dialect import Count, FixedWidthDialect, RecordLayout
from clinker.formats.reading import FormatError
from tests.formats.fixed_width.layouts import dialect, field
from tests.formats.reading import (
    inventory_of,
    origin,
    origins_of,
    read,
    records_of,
    rejection,
    spec_of,
    values,
)

PEOPLE = dialect(
    field("id", 0, 5, type="integer", justify="right", pad="0"),
    field("name", 5, 10),
    field("born", 15, 8, type="date", format="%Y%m%d"),
)
PEOPLE_COLUMNS = {"id": "int", "name": "string", "born": "date"}


def one(folder: Path, text: bytes, to: str, width: int | None = None, **settings: Any) -> Any:
    """The value of a line that is one field, or why it was rejected."""
    layout = dialect(field("x", 0, width or len(text), **settings))
    (record,) = read(folder, spec_of(layout, {"x": to}), text + b"|\n")
    return rejection(record)["detail"] if record["$reject"] else record["x"]


def test_lines_become_records(tmp_path: Path) -> None:
    content = b"00042Alice     20240115\n00000Bob       \n"
    records = read(tmp_path, spec_of(PEOPLE, PEOPLE_COLUMNS), content)
    assert values(records) == [
        {"id": 42, "name": "Alice", "born": dt.date(2024, 1, 15)},
        {"id": 0, "name": "Bob", "born": None},
    ]
    assert [record["$pos"] for record in records] == [1, 2]


@pytest.mark.parametrize(
    ("text", "to", "settings", "expected"),
    [
        (b"000012345", "float", {"type": "decimal", "scale": 2}, 123.45),
        (b"-00012345", "float", {"scale": 2}, -123.45),
        (b"    12345", "numeric", {"scale": 2}, "123.45"),
        (b"000012345", "string", {"type": "decimal", "scale": 2}, "123.45"),
        (b"   123.45", "float", {"type": "decimal", "scale": 2}, 123.45),
        (b"000000007", "float", {"scale": 2}, 0.07),
        (b"00000", "int", {"pad": "0", "justify": "right"}, 0),
        (b"00000", "string", {"pad": "0", "justify": "right"}, None),
        (b"00000000000000000000042", "int", {"pad": "0"}, 42),
        (b"***42", "int", {"pad": "*"}, 42),
        (b"     ", "int", {}, None),
        (b"  ab ", "string", {}, "ab"),
        (b"  ab ", "string", {"trim": False}, "  ab "),
        (b"\0\0ab\0", "string", {}, "ab"),
        (b"Y", "bool", {}, True),
        (b"n", "bool", {"type": "boolean"}, False),
        (b"N", "string", {"type": "boolean"}, "false"),
        (b"20240229", "date", {"format": "%Y%m%d"}, dt.date(2024, 2, 29)),
        (b"29/02/24", "date", {"format": "%d/%m/%y"}, dt.date(2024, 2, 29)),
        (b"20240229", "string", {"type": "date", "format": "%Y%m%d"}, "2024-02-29"),
        (b"20240229", "date_time", {"format": "%Y%m%d", "type": "date"}, dt.datetime(2024, 2, 29)),
        (b"20240229235959", "date_time", {"format": "%Y%m%d%H%M%S"},
         dt.datetime(2024, 2, 29, 23, 59, 59)),
        (b"     ", "string", {"default": "none"}, "none"),
        (b"     ", "int", {"default": "7"}, 7),
        (b"     ", "float", {"default": "7", "scale": 2}, 7.0),
        (b"        ", "date", {"default": "20240115", "format": "%Y%m%d"}, dt.date(2024, 1, 15)),
        (b"        ", "date", {"default": "2024-01-15", "format": "%Y%m%d"}, dt.date(2024, 1, 15)),
        (b"20240115", "date", {"enum": ("20240115",), "format": "%Y%m%d"}, dt.date(2024, 1, 15)),
        (b"Y", "bool", {"enum": ("Y", "N")}, True),
        (b"001", "string", {"type": "integer", "enum": ("001", "2")}, "1"),
        (b"0150", "float", {"scale": 2, "enum": ("1.5",)}, 1.5),
        (b"00042", "string", {"type": "integer"}, "42"),
        (b"00042", "any", {"type": "integer"}, "42"),
        (b"12.50", "any", {"type": "float"}, "12.5"),
        (b'{"a"}', "string", {"type": "string"}, '{"a"}'),
    ],
)  # fmt: skip
def test_values(
    tmp_path: Path, text: bytes, to: str, settings: dict[str, Any], expected: Any
) -> None:
    assert one(tmp_path, text, to, **settings) == expected


@pytest.mark.parametrize(
    ("text", "to", "settings", "why"),
    [
        (b"12a", "int", {}, "cannot convert '12a' in column 'x' to int"),
        (b"12a", "string", {"type": "integer"}, "cannot convert '12a' in column 'x' to int"),
        (b"1.5", "float", {"type": "integer"}, "cannot convert '1.5' in column 'x' to int"),
        (b"20240230", "date", {"format": "%Y%m%d"},
         "cannot convert '20240230' in column 'x' to date"),
        (b"2024-1-1", "date", {"format": "%Y%m%d"},
         "cannot convert '2024-1-1' in column 'x' to date"),
        (b"C", "string", {"enum": ("A", "B")}, "'C' in column 'x' is not one of: A, B"),
        (b"12345", "int", {"precision": 4}, "'12345' in column 'x' has more than 4 digits"),
        (b"   ", "string", {"required": True}, "required column 'x' has no value"),
        (b"1x3", "float", {"scale": 2}, "cannot convert '1x3' in column 'x' to float"),
        (b"\xc3", "string", {}, r"the bytes of column 'x' are no whole characters: '\xc3'"),
    ],
)  # fmt: skip
def test_rejected_values(
    tmp_path: Path, text: bytes, to: str, settings: dict[str, Any], why: str
) -> None:
    assert one(tmp_path, text, to, **settings) == why


def test_a_date_that_does_not_exist_leaves_the_others_alone(tmp_path: Path) -> None:
    layout = dialect(field("d", 0, 8, format="%Y%m%d"))
    content = b"20240131\n20240230\n        \n00000000\n20231231\n"
    records = read(tmp_path, spec_of(layout, {"d": "date"}), content)
    assert [record["d"] for record in records] == [
        dt.date(2024, 1, 31), None, None, None, dt.date(2023, 12, 31)
    ]  # fmt: skip
    assert [record["$reject"] is None for record in records] == [True, False, True, False, True]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_blank_and_short_lines(tmp_path: Path, end: bytes) -> None:
    layout = dialect(field("a", 2, 2), field("b", 4, 3))
    content = end.join([b"", b"..ab12345", b"", b"..a", b"..", b".", b"..cdef"])
    records = read(tmp_path, spec_of(layout, {"a": "string", "b": "string"}), content)
    assert values(records) == [
        {"a": "ab", "b": "123"},
        {"a": "a", "b": None},
        {"a": None, "b": None},
        {"a": None, "b": None},
        {"a": "cd", "b": "ef"},
    ]
    short = records[3]
    assert (
        rejection(short)["detail"] == "row 4 has 1 byte, and its first field begins behind byte 2"
    )
    assert rejection(short)["value"] == "."


def test_a_byte_order_mark_is_no_part_of_the_first_field(tmp_path: Path) -> None:
    layout = dialect(field("a", 0, 2))
    spec = spec_of(layout, {"a": "string"})
    assert values(read(tmp_path, spec, b"\xef\xbb\xbfab\ncd\n")) == [{"a": "ab"}, {"a": "cd"}]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("latin-1", "Müller"), ("cp037", "MULLER"), ("cp037", "Müller"), ("shift_jis", "東京")],
)
def test_encodings(tmp_path: Path, encoding: str, text: str) -> None:
    raw = text.encode(encoding)
    layout = dialect(field("a", 0, len(raw)), field("n", len(raw), 3), encoding=encoding)
    line = raw + "042".encode(encoding) + "\n".encode(encoding)
    records = read(tmp_path, spec_of(layout, {"a": "string", "n": "int"}), line * 2)
    assert values(records) == [{"a": text, "n": 42}] * 2


def test_lines_of_mainframes_end_with_nel(tmp_path: Path) -> None:
    layout = dialect(field("a", 0, 2), encoding="cp037")
    records = read(tmp_path, spec_of(layout, {"a": "string"}), "ab\x85cd\x85".encode("cp037"))
    assert values(records) == [{"a": "ab"}, {"a": "cd"}]


def test_a_cut_character_rejects_only_its_record(tmp_path: Path) -> None:
    layout = dialect(field("a", 0, 3), field("b", 3, 2))
    spec = spec_of(layout, {"a": "string", "b": "string"}, needed=["b"])
    good, bad = read(tmp_path, spec, "äbcd\nabäd\n".encode())
    assert good["b"] == "cd"
    assert rejection(bad)["category"] == "type_coercion_failure"


# Lines


def test_records_that_nothing_separates(tmp_path: Path) -> None:
    layout = dialect(field("a", 0, 2), field("b", 2, 1), separator="none")
    spec = spec_of(layout, {"a": "string", "b": "int"})
    expected = [{"a": "ab", "b": 1}, {"a": "cd", "b": 2}]
    assert values(read(tmp_path, spec, b"ab1cd2")) == expected
    assert values(read(tmp_path, spec, b"ab1cd2\r\n", split_bytes=1)) == expected
    with pytest.raises(FormatError, match="the last record is incomplete"):
        read(tmp_path, spec, b"ab1cd2e")


def test_lines_that_end_with_cr(tmp_path: Path) -> None:
    layout = dialect(field("a", 0, 2), separator="cr")
    spec = spec_of(layout, {"a": "string"})
    assert values(read(tmp_path, spec, b"ab\r\rcd\r")) == [{"a": "ab"}, {"a": "cd"}]


@pytest.mark.parametrize(
    ("declared", "content", "found"),
    [("lf", b"ab\rcd\r", "cr"), ("cr", b"ab\ncd\n", "lf"), ("cr", b"ab\r\ncd\r\n", "crlf")],
)
def test_other_line_ends_than_declared_are_refused(
    tmp_path: Path, declared: str, content: bytes, found: str
) -> None:
    layout = dialect(field("a", 0, 2), separator=declared)
    with pytest.raises(FormatError) as refused:
        read(tmp_path, spec_of(layout, {"a": "string"}), content)
    assert refused.value.help == f"set 'line_separator: {found}' in the source's options"


def test_a_column_without_a_field_is_null_and_worth_a_word(tmp_path: Path) -> None:
    spec = spec_of(dialect(field("a", 0, 2)), {"a": "string", "z": "int"})
    inventory = inventory_of(tmp_path, spec, b"ab\n")
    assert values(records_of(spec, inventory)) == [{"a": "ab", "z": None}]
    assert inventory.warnings == (
        "source 'orders' declares column 'z', which its files do not have: null",
    )


def test_an_alias_is_another_name(tmp_path: Path) -> None:
    spec = spec_of(dialect(field("CUST-NO", 0, 2, alias="customer")), {"customer": "string"})
    assert values(read(tmp_path, spec, b"ab\n")) == [{"customer": "ab"}]


# Record types

BATCH = FixedWidthDialect(
    records=(
        RecordLayout(id="header", tag="H", fields=(field("batch", 1, 4),)),
        RecordLayout(id="line", tag="L", fields=(field("item", 1, 3), field("n", 4, 2))),
        RecordLayout(id="trailer", tag="T", fields=(field("n", 1, 5),)),
    ),
    discriminator=(0, 1),
)
BATCH_COLUMNS = {"record_type": "string", "batch": "string", "item": "string", "n": "int"}


def test_lines_of_several_types(tmp_path: Path) -> None:
    content = b"HB001\nLabc07\nXwhat\nLdef 8\nT00002\n"
    records = read(tmp_path, spec_of(BATCH, BATCH_COLUMNS), content)
    assert values(records) == [
        {"record_type": "header", "batch": "B001", "item": None, "n": None},
        {"record_type": "line", "batch": None, "item": "abc", "n": 7},
        {"record_type": None, "batch": None, "item": None, "n": None},
        {"record_type": "line", "batch": None, "item": "def", "n": 8},
        {"record_type": "trailer", "batch": None, "item": None, "n": 2},
    ]
    assert rejection(records[2])["detail"] == "'X' is not the tag of any record type"
    assert rejection(records[2])["value"] == "Xwhat"


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        (Count(id="header", least=1, most=1), "expected 1 record of type 'header', found 2"),
        (Count(id="line", least=1), "expected at least 1 record of type 'line', found 0"),
        (Count(id="header", most=1), "expected 0 to 1 records of type 'header', found 2"),
    ],
)
def test_record_types_occur_as_often_as_the_layout_says(
    tmp_path: Path, counts: Count, problem: str
) -> None:
    layout = FixedWidthDialect(records=BATCH.records, discriminator=(0, 1), counts=(counts,))
    with pytest.raises(FormatError, match=problem):
        read(tmp_path, spec_of(layout, BATCH_COLUMNS), b"HB001\nHB002\nT00000\n")


# Splits and origins


@pytest.mark.parametrize("chunk", [64, 1 << 20])
@pytest.mark.parametrize("split_bytes", [1, 7, 64, 300])
def test_cuts_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, split_bytes: int
) -> None:
    some = [b"Labc%02d\n\n" % number for number in range(40)]
    content = b"".join([b"HB001\r\n", *some, b"L\nX\n\r\n", b"Lzzz x1\n" * 9, b"T"])
    spec = spec_of(BATCH, BATCH_COLUMNS)
    whole = read(tmp_path, spec, content)
    origins = origins_of(spec, inventory_of(tmp_path, spec, content))
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(survey, "_BLOCK_BYTES", chunk)
    assert read(tmp_path, spec, content, split_bytes=split_bytes) == whole
    assert len(whole) == 53
    cut = inventory_of(tmp_path, spec, content, split_bytes=split_bytes)
    assert origins_of(spec, cut) == origins


def test_dead_letters_show_fields_as_they_stand_in_the_line(tmp_path: Path) -> None:
    spec = spec_of(PEOPLE, PEOPLE_COLUMNS)
    (record,) = read(tmp_path, spec, b"0004x Al       20240115\n")
    assert origin(record) == {"id": "0004x", "name": " Al       ", "born": "20240115"}


def test_no_files_and_empty_files(tmp_path: Path) -> None:
    spec = spec_of(PEOPLE, PEOPLE_COLUMNS)
    assert inventory_of(tmp_path, spec).schema.names == ["id", "name", "born", "$pos", "$reject"]
    assert read(tmp_path, spec, b"", b"\n\r\n\n") == []
