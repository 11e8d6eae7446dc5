"""CSV: given these bytes, expect those records."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clinker.cxl.run.tagged import encode
from clinker.formats.common import encodings
from clinker.formats.csv import cells as csv_cells
from clinker.formats.csv import reader as csv_reader
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.csv.splits import RecordScanner
from clinker.formats.reading import FormatError
from tests.formats.reading import (
    WHOLE,
    inventory_of,
    origin,
    origins_of,
    read,
    records_of,
    rejection,
    spec_of,
    values,
)

_TEXT = {"a": "string", "b": "string"}


def _read(directory: Path, content: bytes, dialect: CsvDialect | None = None) -> Any:
    spec = spec_of(dialect or CsvDialect(), _TEXT, undeclared="drop")
    return [(record["a"], record["b"]) for record in read(directory, spec, content)]


# The dialect


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", [("1", "2")]),
        (b"a,b\n1,2", [("1", "2")]),
        (b"b,a\n1,2\n", [("2", "1")]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
        (b"a,b\r1,2\r\r3,4", [("1", "2"), ("3", "4")]),
        (b"\n\na,b\n\n1,2\n\r\n\n3,4\n\n", [("1", "2"), ("3", "4")]),
        (b'a,b\n"x,\ny","say ""hi"""\n', [("x,\ny", 'say "hi"')]),
        (b'"a","b"\n"",\n', [("", "")]),
        (b'a,b\n"a"b,"a"b"c"\n', [("ab", 'ab"c"')]),
        (b'a,b\na"b,5" tall\n', [('a"b', '5" tall')]),
        (b'a,b\n "x", "y"\n', [(' "x"', ' "y"')]),
        ("a,b\nä€,𝄞\n".encode(), [("ä€", "𝄞")]),
        (b"a,b\n", []),
        (b"a,b", []),
        (b"a,b,a\n1,2,3\n", [("1", "2")]),
    ],
)
def test_dialect(tmp_path: Path, content: bytes, expected: list[tuple[str, str]]) -> None:
    assert _read(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        (CsvDialect(delimiter=";", quote_char="'"), "a;b\n'1;1';ä\n".encode()),
        (CsvDialect(delimiter="\t"), "a\tb\n1;1\tä\n".encode()),
        (CsvDialect(delimiter="§", quote_char="«"), "a§b\n«1;1«§ä\n".encode()),
        (CsvDialect(delimiter="§", encoding="latin-1"), "a§b\n1;1§ä\n".encode("latin-1")),
        (CsvDialect(encoding="cp1252"), "a,b\n1;1,ä\n".encode("cp1252")),
        (CsvDialect(encoding="utf-16"), "a,b\n1;1,ä\n".encode("utf-16")),
        (CsvDialect(encoding="utf-16-be"), "\ufeffa,b\n1;1,ä\n".encode("utf-16-be")),
        (CsvDialect(encoding="utf-8-sig"), "a,b\n1;1,ä\n".encode("utf-8-sig")),
        (CsvDialect(delimiter="|", encoding="cp037"), "a|b\n1;1|ä\n".encode("cp037")),
    ],
)
def test_separators_and_encodings(tmp_path: Path, dialect: CsvDialect, content: bytes) -> None:
    assert _read(tmp_path, content, dialect) == [("1;1", "ä")]


def test_separators_are_found_where_blocks_end_within_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "a§b\n«1§1«§ä\n".encode()
    for size in range(1, len(content)):
        monkeypatch.setattr(encodings, "BLOCK_BYTES", size)
        dialect = CsvDialect(delimiter="§", quote_char="«")
        assert _read(tmp_path, content, dialect) == [("1§1", "ä")]


def test_separators_inside_quotes_stay_what_they_are(tmp_path: Path) -> None:
    dialect = CsvDialect(delimiter="§", quote_char="«")
    assert _read(tmp_path, "a§b\n«x§««y«§z\n".encode(), dialect) == [("x§«y", "z")]


def test_multi_byte_encodings_are_read_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"zeile\n{n}", "ä" * (n % 5)) for n in range(200)]
    content = "a,b\n" + "".join(f'"{a}",{b}\n' for a, b in rows)
    monkeypatch.setattr(encodings, "BLOCK_BYTES", 37)
    monkeypatch.setattr(csv_cells, "_CHUNK_BYTES", 300)
    assert _read(tmp_path, content.encode("utf-16"), CsvDialect(encoding="utf-16")) == rows


def test_without_a_header_the_schema_names_the_columns_by_position(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {"name": "string", "n": "int"})
    inventory = inventory_of(tmp_path, spec, b"x,1\ny,2\n")
    assert values(records_of(spec, inventory)) == [{"name": "x", "n": 1}, {"name": "y", "n": 2}]
    assert inventory.warnings == ()


def test_without_a_header_further_columns_are_called_by_their_place(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {"name": "string"})
    inventory = inventory_of(tmp_path, spec, b"x,1,2\n", b"y,3\n")
    assert values(records_of(spec, inventory)) == [
        {"name": "x", "$widened.col_1": "1", "$widened.col_2": "2"},
        {"name": "y", "$widened.col_1": "3", "$widened.col_2": None},
    ]


def test_without_header_and_schema_all_columns_are_called_by_their_place(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {})
    assert values(read(tmp_path, spec, b"x,1\ny,2\n")) == [
        {"$widened.col_0": "x", "$widened.col_1": "1"},
        {"$widened.col_0": "y", "$widened.col_1": "2"},
    ]


def test_without_a_header_rows_shorter_than_the_schema_are_rejected(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {"a": "int", "b": "int"})
    short, good, long = read(tmp_path, spec, b"1\n2,3\n4,5,6\n")
    assert rejection(short)["detail"] == "row 1 has 1 cell, expected 2"
    assert origin(short) == {"a": "1"}
    assert (good["a"], good["b"], good["$reject"]) == (2, 3, None)
    assert rejection(long)["detail"] == "row 3 has 3 cells, expected 2"


def test_without_a_header_undeclared_columns_may_be_dropped_or_refused(tmp_path: Path) -> None:
    dialect = CsvDialect(has_header=False)
    dropped = spec_of(dialect, {"a": "int"}, undeclared="drop")
    assert values(read(tmp_path, dropped, b"1,2\n")) == [{"a": 1}]
    refused = spec_of(dialect, {"a": "int"}, undeclared="reject")
    with pytest.raises(FormatError, match="the schema does not declare column 'col_1'"):
        read(tmp_path, refused, b"1,2\n")


def test_names_that_speak_of_another_place_are_warned_about(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {"col_1": "string"})
    inventory = inventory_of(tmp_path, spec, b"x,1\n")
    assert values(records_of(spec, inventory)) == [{"col_1": "x", "$widened.col_1_2": "1"}]
    assert inventory.warnings == (
        "source 'orders' declares 'col_1' in the place of 'col_0': where files have no header, "
        "the schema names their columns by position, from the first one on",
    )


def test_a_file_without_header_and_records_is_fine(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(has_header=False), {"n": "int"})
    assert read(tmp_path, spec, b"", b"5\n") == [{"n": 5, "$pos": (1 << 40) + 1, "$reject": None}]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,a,a", ["a", "a_2", "a_3"]),
        ("a,a,a_2", ["a", "a_3", "a_2"]),
        ("a_2,a,a,a_2", ["a_2", "a", "a_3", "a_2_2"]),
        ("a,,b,", ["a", "col_1", "b", "col_3"]),
        (",col_0", ["col_0_2", "col_0"]),
        (",col_0,col_0,col_0_2", ["col_0_3", "col_0", "col_0_4", "col_0_2"]),
        ('""', ["col_0"]),
        ("ID,id,Id", ["ID", "id", "Id"]),
    ],
)
def test_no_two_columns_have_the_same_name(tmp_path: Path, header: str, names: list[str]) -> None:
    cells = [str(n) for n in range(len(names))]
    content = f"{header}\n{','.join(cells)}\n".encode()
    spec = spec_of(CsvDialect(), {})
    expected = {f"$widened.{name}": cell for name, cell in zip(names, cells, strict=True)}
    assert values(read(tmp_path, spec, content)) == [expected]


def test_declared_columns_are_found_by_the_names_that_columns_have(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a_2": "int", "a": "int", "col_1": "int"})
    assert values(read(tmp_path, spec, b"a,,a\n1,2,3\n")) == [{"a_2": 3, "a": 1, "col_1": 2}]
    (rejected,) = read(tmp_path, spec, b"a,,a\n1,x,3\n")
    assert origin(rejected) == {"a": "1", "col_1": "x", "a_2": "3"}


def test_repeated_and_missing_names_are_warned_about(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int"})
    inventory = inventory_of(tmp_path, spec, b"a,x\x1b,a,,x\x1b\n", b"a,a,\n", b"a,a,\n")
    first, second = (tmp_path / f"{n}.data" for n in (0, 1))
    assert inventory.warnings == (
        f"{first}: the header names 'a', 'x\\x1b' more than once; "
        "the later columns are called 'a_2', 'x\\x1b_2'",
        f"{first}: the header has a column without a name, called 'col_3'",
        f"{second} and 1 more: the header names 'a' more than once; "
        "the later column is called 'a_2'",
        f"{second} and 1 more: the header has a column without a name, called 'col_2'",
    )


_MARK = "\ufeff"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize("split_bytes", [1, 5, 1 << 30])
def test_a_mark_behind_the_start_of_a_file_is_data(
    tmp_path: Path, encoding: str, has_header: bool, split_bytes: int
) -> None:
    rows = [
        (_MARK, ""),
        (f"{_MARK}1", _MARK),
        (f"{_MARK * 2}2", "x"),
        (f"{_MARK},\n{_MARK}", f'"{_MARK}'),
    ]
    body = f'{_MARK},\n{_MARK}1,{_MARK}\n{_MARK * 2}2,x\n"{_MARK},\n{_MARK}","""{_MARK}"\n'
    header = f"a,{_MARK}b\n" if has_header else ""
    adds_mark = encoding in ("utf-8-sig", "utf-16", "utf-32")
    content = (("" if adds_mark else _MARK) + header + body).encode(encoding)
    dialect = CsvDialect(has_header=has_header, encoding=encoding)
    spec = spec_of(dialect, {"a": "string", f"{_MARK}b": "string"})
    records = read(tmp_path, spec, content, split_bytes=split_bytes)
    assert [(record["a"], record[f"{_MARK}b"]) for record in records] == rows
    assert all(record["$reject"] is None for record in records)


def test_rejected_records_keep_their_marks(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int", "b": "int"}, needed=["a"], undeclared="drop")
    content = f"a,b\n{_MARK}1,{_MARK}\n{_MARK}\n".encode()
    for split_bytes in (1, 1 << 30):
        unfit, ragged = read(tmp_path, spec, content, split_bytes=split_bytes)
        assert origin(unfit) == {"a": f"{_MARK}1", "b": _MARK}
        assert origin(ragged) == {"a": _MARK}


def test_a_mark_is_found_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "BLOCK_BYTES", 1)
    content = f"{_MARK}a,b\n{_MARK}1,2\n".encode("utf-16-le")
    dialect = CsvDialect(encoding="utf-16-le")
    assert _read(tmp_path, content, dialect) == [(f"{_MARK}1", "2")]


def test_a_cell_may_be_huge(tmp_path: Path) -> None:
    cell = "x\n" * 5_000_000
    assert _read(tmp_path, f'a,b\n"{cell}",1\n2,3\n'.encode()) == [(cell, "1"), ("2", "3")]


# Columns


def test_types_widened_columns_and_positions(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"name": "string", "id": "int", "day": "date"})
    content = b'id,name,x,day\n1,"a,\nb",9,2024-01-05\n\n2,,,\n'
    assert read(tmp_path, spec, content) == [
        {
            "name": "a,\nb",
            "id": 1,
            "day": date(2024, 1, 5),
            "$widened.x": "9",
            "$pos": 1,
            "$reject": None,
        },
        {"name": "", "id": 2, "day": None, "$widened.x": "", "$pos": 2, "$reject": None},
    ]


def test_files_may_differ_in_their_headers(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int", "b": "int"})
    inventory = inventory_of(tmp_path, spec, b"a,b,x\n1,2,3\n", b"y,b\n8,9\n")
    assert inventory.undeclared == ("x", "y")
    assert values(records_of(spec, inventory)) == [
        {"a": 1, "b": 2, "$widened.x": "3", "$widened.y": None},
        {"a": None, "b": 9, "$widened.x": None, "$widened.y": "8"},
    ]
    missing = str(tmp_path / "1.data")
    assert inventory.warnings == (
        f"source 'orders' declares column 'a', missing in {missing}: null",
    )


def test_only_needed_columns_are_delivered(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int", "b": "int"}, needed=["b"], undeclared="drop")
    assert values(read(tmp_path, spec, b"a,b,x\nnot looked at,2,3\n")) == [{"b": 2}]


def test_records_can_be_counted_without_any_column(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int"}, needed=[], undeclared="drop")
    assert [r["$pos"] for r in read(tmp_path, spec, b"a\nx\ny\n")] == [1, 2]


def test_missing_columns_are_null_with_one_warning(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int", "c": "date", "d": "any"})
    inventory = inventory_of(tmp_path, spec, b"a\n1\n")
    assert values(records_of(spec, inventory)) == [{"a": 1, "c": None, "d": None}]
    assert inventory.warnings == (
        "source 'orders' declares columns 'c', 'd', which its files do not have: null",
    )


# Rejected records


def test_values_that_do_not_fit_reject_their_record(tmp_path: Path) -> None:
    declared = {"day": "date", "amount": "float", "id": "int"}
    spec = spec_of(CsvDialect(), declared, required=["id"])
    content = b"id,amount,day,x\n1,2.5,2024-01-31,y\n2,abc,2024-02-31,y\n3,abc,,z\nvier,,,\n,1,,\n"
    good, both, amount, required, absent = read(tmp_path, spec, content)
    assert good["$reject"] is None
    assert rejection(both) == {
        "category": "type_coercion_failure",
        "detail": "cannot convert '2024-02-31' in column 'day' to date",
        "field": "day",
        "value": "2024-02-31",
    }
    assert origin(both) == {"id": "2", "amount": "abc", "day": "2024-02-31", "x": "y"}
    assert rejection(amount)["detail"] == "cannot convert 'abc' in column 'amount' to float"
    assert rejection(required) == {
        "category": "required_field_conversion_failure",
        "detail": "cannot convert 'vier' in required column 'id' to int",
        "field": "id",
        "value": "vier",
    }
    assert rejection(absent) == {
        "category": "missing_required_field",
        "detail": "required column 'id' has no value",
        "field": "id",
        "value": None,
    }
    assert [r["$pos"] for r in (good, both, amount, required, absent)] == [1, 2, 3, 4, 5]


def test_origin_shows_columns_that_are_not_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_reader, "_SCAN_BYTES", 5)
    spec = spec_of(CsvDialect(), {"a": "int", "b": "int"}, needed=["a"], undeclared="drop")
    content = b'a,b,x\n1,2,3\nx,y,z\n\n"4","\n,",\n"v",5\n6,7,8\nw,"\r\n",9'
    records = read(tmp_path, spec, content)
    assert [r["a"] for r in records] == [1, None, 4, None, 6, None]
    assert [origin(r) for r in records if r["$reject"]] == [
        {"a": "x", "b": "y", "x": "z"},
        {"a": "v", "b": "5"},
        {"a": "w", "b": "\r\n", "x": "9"},
    ]


def test_origin_with_control_characters(tmp_path: Path) -> None:
    (record,) = read(tmp_path, spec_of(CsvDialect(), {"a": "int"}), b"a,b\n\x1f,\\u001f\x02\n")
    assert origin(record) == {"a": "\x1f", "b": "\\u001f\x02"}
    assert record["$reject"]["origin"] == encode(origin(record))


def test_a_record_of_which_several_cells_do_not_fit(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"id": "int", "n": "int"})
    good, bad = read(tmp_path, spec, b"id,n\n1,2\nx,y\n")
    assert (good["id"], good["n"], good["$reject"]) == (1, 2, None)
    assert rejection(bad)["detail"] == "cannot convert 'x' in column 'id' to int"
    assert origin(bad) == {"id": "x", "n": "y"}


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize(
    ("dialect", "split_bytes"),
    [
        (CsvDialect(), WHOLE),
        (CsvDialect(), 12),
        (CsvDialect(encoding="latin-1"), 12),
        (CsvDialect(encoding="utf-16"), 12),  # which is not cut
        (CsvDialect(delimiter="§"), 12),
    ],
    ids=["whole", "cut", "latin-1", "utf-16", "wide delimiter"],
)
def test_records_are_looked_up_as_they_are_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dialect: CsvDialect,
    split_bytes: int,
    every: int,
) -> None:
    monkeypatch.setattr(csv_reader, "_SCAN_BYTES", 7)
    monkeypatch.setattr(csv_cells, "_CHUNK_BYTES", 20)
    text = 'a,b,x\n007,1.50,é\r\n"x ""y""","1\r\n2,",\n\n 8 ,,z\n1,2,3\r\n\r\nlast,,'
    spec = spec_of(dialect, {"a": "int", "b": "float", "c": "int"}, needed=["b"], undeclared="drop")
    content = text.replace(",", dialect.delimiter).encode(dialect.encoding)
    inventory = inventory_of(tmp_path, spec, content, split_bytes=split_bytes)
    cells = [
        ("007", "1.50", "é"),
        ('x "y"', "1\r\n2,".replace(",", dialect.delimiter), ""),
        (" 8 ", "", "z"),
        ("1", "2", "3"),
        ("last", "", ""),
    ]
    found = origins_of(spec, inventory, every)
    assert found == [dict(zip("abx", row, strict=True)) for row in cells[every - 1 :: every]]


def test_rows_with_too_few_or_too_many_cells_are_rejected(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int", "b": "int"})
    content = b'a,b\n1,2\n3\n\n4,5\n"6,\n7",8,9\n10,11'
    records = read(tmp_path, spec, content)
    assert [r["a"] for r in records] == [1, None, 4, None, 10]
    assert [r["$pos"] for r in records] == [1, 2, 3, 4, 5]
    assert rejection(records[1]) == {
        "category": "type_coercion_failure",
        "detail": "row 2 has 1 cell, expected 2",
        "field": None,
        "value": "3",
    }
    assert origin(records[1]) == {"a": "3"}
    assert rejection(records[3])["detail"] == "row 4 has 3 cells, expected 2"
    assert rejection(records[3])["value"] == '"6,\n7",8,9'
    assert origin(records[3]) == {"a": "6,\n7", "b": "8"}


# Files that cannot be read


@pytest.mark.parametrize(
    ("content", "message", "help"),
    [
        (b"", "the file is empty", "has_header"),
        (b"\xef\xbb\xbf\r\n\n", "the file is empty", "has_header"),
        (b'a,b\n1,2\n3,"x\n4,5\n', 'a cell in row 2 opens with " that is never closed', "quote"),
        (b'a,"b\n1,2\n', 'a cell in the header opens with " that is never closed', "quote"),
        ("a,b\n1,ä\n".encode("latin-1"), "byte 6 (0xE4) is not UTF-8", "encoding: latin-1"),
        (b"a,b\n1,\xe2\x82", "byte 6 (0xE2) is not UTF-8", "encoding"),
        ("a,b\n".encode("utf-16"), "the file is UTF-16, not UTF-8", "encoding: utf-16"),
        (b"a,b\n1,\x00\n", "there is a NUL character at byte 6", "encoding"),
    ],
)
def test_unreadable_files(tmp_path: Path, content: bytes, message: str, help: str) -> None:
    with pytest.raises(FormatError) as caught:
        _read(tmp_path, content)
    assert message in caught.value.message
    assert caught.value.path == str(tmp_path / "0.data")
    assert help in (caught.value.help or "")


def test_bytes_that_an_encoding_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "BLOCK_BYTES", 3)
    with pytest.raises(FormatError, match=r"byte 8 \(0x81\) is not CP1252"):
        _read(tmp_path, b"a,b\n1,2\n\x81,3\n", CsvDialect(encoding="cp1252"))
    with pytest.raises(FormatError, match=r"byte 7 \(0xE2\) is not UTF-8"):
        _read(tmp_path, b"a,b\n1,2\xe2(\n")


def test_missing_files(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), _TEXT)
    inventory = inventory_of(tmp_path, spec, b"a,b\n1,2\n")
    (tmp_path / "0.data").unlink()
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        records_of(spec, inventory)


def test_undeclared_columns_may_be_refused(tmp_path: Path) -> None:
    spec = spec_of(CsvDialect(), {"a": "int"}, undeclared="reject")
    with pytest.raises(FormatError, match="the schema does not declare columns 'x', 'y'"):
        inventory_of(tmp_path, spec, b"x,a,y\n1,2,3\n")


# Splits


def _rows(text: str) -> tuple[list[list[str]], bool]:
    """The dialect, spelled out character by character: rows, and whether a quote stays open."""
    rows: list[list[str]] = []
    row, cell, state = [], "", "start"
    blank = True
    for character in text + "\0":
        ends_row = character in "\r\n\0"
        if state == "quoted" and character != "\0":
            if character == '"':
                state = "closing"
            else:
                cell += character
        elif state == "closing" and character == '"':
            cell += '"'
            state = "quoted"
        elif ends_row or character == ",":
            if ends_row and blank:
                continue
            row.append(cell)
            cell, blank = "", False
            if ends_row:
                rows.append(row)
                row, blank = [], True
            if character == "\0":
                return rows, state == "quoted"
            state = "start"
        elif state == "start" and character == '"':
            state, blank = "quoted", False
        else:
            cell += character
            state, blank = "plain", False
    return rows, False


_CHARACTERS = st.sampled_from(
    ['"', '"', ",", ",", "\n", "\r", "\r\n", "x", "1", " ", "ä", "𝄞", _MARK]
)
_CSV = st.lists(_CHARACTERS, max_size=40).map("".join)
_QUOTED = st.text(st.sampled_from(f'",\n\rxä{_MARK}'), max_size=5).map(
    lambda cell: '"' + cell.replace('"', '""') + '"'
)
_CELL = _QUOTED | st.text(st.sampled_from(f"x1 ä{_MARK}"), max_size=3)
_ROW = st.lists(_CELL, min_size=1, max_size=3).map(",".join)
_REGULAR = st.lists(st.tuples(_ROW, st.sampled_from(["\n", "\r\n", "\r", "\n\n"])), max_size=8).map(
    lambda rows: "".join(row + end for row, end in rows)
)
_BODY = _CSV | _REGULAR


@settings(max_examples=400)
@given(_BODY, st.lists(st.integers(0, 60), max_size=6))
@example('x"\n"y\n"z', [2, 3, 4, 5])
@example('"x""\n"",y"z"\n', [3, 4, 5])
def test_record_ends_do_not_depend_on_blocks(text: str, cuts: list[int]) -> None:
    rows, is_open = _rows(text)
    content = text.encode()
    scanner = RecordScanner(ord(","), ord('"'))
    bounds = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    ends: list[int] = []
    for start, end in pairwise(bounds):
        ends += [start + int(at) for at in scanner.record_ends(content[start:end])]
    assert scanner.in_quotes == is_open
    assert len(ends) + scanner.in_record == len(rows)
    pieces = [content[a:b].decode() for a, b in zip([0, *ends], [*ends, None], strict=True)]
    assert [row for piece in pieces for row in _rows(piece)[0]] == rows


@settings(max_examples=400)
@given(_BODY, st.lists(st.integers(0, 60), max_size=6))
@example("x\ny\n\nz", [2, 4, 5])
@example('x\n"y\nz"\n', [3, 4, 5])
def test_skimming_counts_the_records_that_scanning_finds(text: str, cuts: list[int]) -> None:
    content = text.encode()
    skimming, scanning = (RecordScanner(ord(","), ord('"')) for _ in range(2))
    bounds = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for start, end in pairwise(bounds):
        block = content[start:end]
        found = skimming.skim(block)
        if found is None:
            found = len(skimming.record_ends(block))
        assert found == len(scanning.record_ends(block))
    assert skimming.in_quotes == scanning.in_quotes
    assert skimming.in_record == scanning.in_record


def test_the_size_of_records_is_that_of_the_largest_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "BLOCK_BYTES", 10)
    spec = spec_of(CsvDialect(), _TEXT)
    content = b"a,b\n1,2\n3,4\n" + b"x" * 40 + b",5\n6,7\n"
    inventory = inventory_of(tmp_path, spec, b"a,b\n1,2\n", content)
    assert inventory.record_bytes == 20, "the large one ends in a block with a small one"


@settings(max_examples=300)
@given(_BODY, st.integers(1, 30), st.booleans(), st.sampled_from(["utf-8", "utf-16"]))
@example('1\n2,"a\n,b"\n\n3\r\n\r\n4,5,6\n"7', 3, True, "utf-8")
def test_splits_do_not_change_what_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    split_bytes: int,
    has_header: bool,
    encoding: str,
) -> None:
    directory = tmp_path_factory.mktemp("splits")
    text = "a,b\n" + text
    content = text.encode(encoding)
    rows, is_open = _rows(text)
    dialect = CsvDialect(has_header=has_header, encoding=encoding)
    spec = spec_of(dialect, {"a": "int", "b": "any"})
    if is_open:
        with pytest.raises(FormatError, match="never closed"):
            inventory_of(directory, spec, content, split_bytes=split_bytes)
        return
    whole = read(directory, spec, content)
    assert read(directory, spec, content, split_bytes=split_bytes) == whole
    declared = {"a": "int", "b": "string"}
    less = read(directory, spec_of(dialect, declared, needed=["a"], undeclared="drop"), content)
    assert [r["$reject"] for r in less] == [r["$reject"] for r in whole]
    assert [r["$pos"] for r in whole] == list(range(1, len(whole) + 1))
    expected = rows[1:] if has_header else rows
    assert len(whole) == len(expected)
    for record, cells in zip(whole, expected, strict=True):
        if len(cells) != 2:
            assert f"has {len(cells)} cell" in rejection(record)["detail"]
            assert list(origin(record).values()) == cells[:2]
        elif record["$reject"] is None:
            assert [record["a"], record["b"]] == [
                int(cells[0]) if cells[0] else None,
                '"' + cells[1] if cells[1] else None,
            ]
        else:
            assert rejection(record)["value"] == cells[0]
            assert origin(record) == dict(zip("ab", cells, strict=True))


def test_large_splits_are_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n" + b"".join(b'%d,"x\n,%d"\n' % (n, n) for n in range(500))
    whole = _read(tmp_path, content)
    monkeypatch.setattr(encodings, "BLOCK_BYTES", 61)
    monkeypatch.setattr(csv_cells, "_CHUNK_BYTES", 200)
    assert _read(tmp_path, content) == whole
    assert len(whole) == 500
