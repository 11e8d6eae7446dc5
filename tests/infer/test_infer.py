"""Whatever a file holds, what is inferred of it compiles, and rejects nothing of the sample."""

from __future__ import annotations

import csv
import decimal
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.formats.common.read_spec import FormatError
from tests.infer.inferring import inferred, load_nodes, rejects_of, types_of

_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_CELLS = st.one_of(
    st.just(""),
    st.integers(-(10**20), 10**20).map(str),
    st.integers(0, 999).map("{:05}".format),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.dates().map("{:%d.%m.%Y}".format),
    st.dates().map("{:%m/%d/%Y}".format),
    st.datetimes().map(str),
    st.sampled_from(["true", "False", "yes", "N/A", "1,5", "1.234,50", "nan", "1e5", " 7 ", "+4"]),
    _TEXTS,
)
_COLUMNS = st.one_of(
    *(
        st.lists(kind, min_size=3, max_size=6)
        for kind in (_CELLS, st.dates().map("{:%d/%m/%y}".format))
    )
)
_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        _CELLS,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(_TEXTS, min_size=2, max_size=4),
    columns=st.lists(_COLUMNS, min_size=4, max_size=4),
    delimiter=st.sampled_from(",;\t|"),
)
def test_a_csv_file_that_is_inferred_can_be_read(
    names: list[str], columns: list[list[str]], delimiter: str
) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerows(zip(*columns[: len(names)], strict=False))
    with tempfile.TemporaryDirectory() as directory:
        _judge(Path(directory), "data.csv", stream.getvalue().encode())


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.dictionaries(_TEXTS, _JSON, min_size=1, max_size=3), min_size=1, max_size=5),
    lines=st.booleans(),
)
def test_a_json_file_that_is_inferred_can_be_read(rows: list[dict[str, Any]], lines: bool) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows) if lines else json.dumps(rows)
    with tempfile.TemporaryDirectory() as directory:
        _judge(Path(directory), "data.json", text.encode())


def _judge(directory: Path, name: str, content: bytes) -> None:
    try:
        found = inferred(directory, {name: content})
    except FormatError as problem:
        assert "no records" in str(problem) or "binary" in str(problem)
        return
    if not any("rejected by any schema" in doubt for doubt in found.doubts):
        assert not rejects_of(found.text, directory)


def test_types_are_those_that_all_values_have(tmp_path: Path) -> None:
    content = b"id,price,zip,ok,day,at,note\n1,2.5,01234,yes,2024-01-31,2024-01-31T10:00:00Z,a\n"
    content += b"2,,99999,no,2024-02-01,2024-02-01 11:00:00,b\n"
    assert types_of(tmp_path, "orders.csv", content) == {
        "id": "Int",
        "price": "Float",
        "zip": "String",
        "ok": "Bool",
        "day": "Date",
        "at": "DateTime",
        "note": "String",
    }


@pytest.mark.parametrize(
    ("first", "second", "proposed", "formats"),
    [
        ("31.01.2024", "01.02.2024", "Date", ["%d.%m.%Y"]),
        ("01/31/2024", "02/01/2024", "Date", []),
        ("31/01/2024", "01/02/2024", "Date", ["%d/%m/%Y"]),
        ("01/02/2024", "03/04/2024", "String", []),
        ("31.01.24", "01.02.24", "Date", ["%d.%m.%y"]),
        ("31-Jan-2024", "1-Feb-2024", "Date", ["%d-%b-%Y"]),
        ("31.01.2024 10:15", "01.02.2024 11:00", "DateTime", ["%d.%m.%Y %H:%M"]),
        ("2024-02-30", "2024-01-01", "String", []),
    ],
)
def test_dates_have_a_format_that_leaves_no_doubt(
    tmp_path: Path, first: str, second: str, proposed: str, formats: list[str]
) -> None:
    content = f"id,day\n1,{first}\n2,{second}\n".encode()
    found = inferred(tmp_path, {"days.csv": content})
    [node] = load_nodes(found.text)
    assert str(node.config.schema_columns[1].type) == proposed
    if formats:
        assert f'date_formats: ["{formats[0]}"]' in found.text
    else:
        assert "date_formats:" not in found.text.partition("nodes:")[0]
    assert not rejects_of(found.text, tmp_path)


def test_day_and_month_that_cannot_be_told_apart_are_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"days.csv": b"id,day\n1,01/02/2024\n2,03/04/2024\n"})
    [doubt] = found.doubts
    assert "column 'day'" in doubt
    assert '"%d/%m/%Y" or "%m/%d/%Y"' in doubt


def test_formats_of_one_file_do_not_change_the_dates_of_another(tmp_path: Path) -> None:
    files = {
        "europe.csv": b"id,day\n1,31/01/2024\n2,01/02/2024\n",
        "america.csv": b"id,day\n1,01/31/2024\n2,02/01/2024\n",
    }
    found = inferred(tmp_path, files)
    europe, america = load_nodes(found.text)
    assert str(europe.config.schema_columns[1].type) == "Date"
    assert str(america.config.schema_columns[1].type) == "String"
    assert any("would read in another way" in doubt for doubt in found.doubts)


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        (("00017", "18"), "begins with a zero or a plus"),
        (("+49123", "18"), "begins with a zero or a plus"),
        (("12345678901234567890123", "18"), "more than 64 bits"),
        (("1.234,50", "7,5"), "decimal comma"),
        (("1,234.50", "7.5"), "commas between thousands"),
    ],
)
def test_what_a_number_would_lose_stays_a_text(
    tmp_path: Path, values: tuple[str, str], remark: str
) -> None:
    content = "a;n\n" + "".join(f"x;{value}\n" for value in values)
    found = inferred(tmp_path, {"numbers.csv": content.encode()})
    [node] = load_nodes(found.text)
    assert str(node.config.schema_columns[1].type) == "String"
    assert remark in found.text


def test_a_few_odd_values_are_named(tmp_path: Path) -> None:
    content = "a,n\n" + "".join(f"x,{number}\n" for number in range(20)) + "x,N/A\n"
    found = inferred(tmp_path, {"numbers.csv": content.encode()})
    assert "20 are of type int, 'N/A' not" in found.text


def test_names_from_data_say_nothing_in_yaml(tmp_path: Path) -> None:
    name = 'a"b: ${HOME} # \\ \n- $${x}\t\u2028\x1b[31m'
    content = ('"' + name.replace('"', '""') + '",b\nx,${PATH}\n').encode()
    found = inferred(tmp_path, {"hostile.csv": content})
    [node] = load_nodes(found.text)
    assert [column.name for column in node.config.schema_columns] == [name, "b"]
    assert found.text.isascii() or "\x1b" not in found.text
    assert not rejects_of(found.text, tmp_path)


def test_names_that_the_engine_keeps_stay_undeclared(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"own.csv": b"$pos,b\n1,2\n"})
    [node] = load_nodes(found.text)
    assert [column.name for column in node.config.schema_columns] == ["b"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings_are_found_out(tmp_path: Path, encoding: str) -> None:
    content = "name;price\nCafé;2\nBär;3\n".encode(encoding)
    found = inferred(tmp_path, {"names.csv": content})
    [node] = load_nodes(found.text)
    assert {c.name: str(c.type) for c in node.config.schema_columns} == {
        "name": "String",
        "price": "Int",
    }
    assert "'Café'" in found.text
    assert not rejects_of(found.text, tmp_path)


def test_a_file_without_a_header_is_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"bare.csv": b"1,Ann,2024-01-31\n2,Bob,2024-02-01\n"})
    [node] = load_nodes(found.text)
    assert [c.name for c in node.config.schema_columns] == ["col_0", "col_1", "col_2"]
    assert any("no header" in doubt or "not names" in doubt for doubt in found.doubts)
    assert not rejects_of(found.text, tmp_path)


def test_years_above_columns_are_names(tmp_path: Path) -> None:
    content = b"country,2023,2024\nFrance,1,2\n"
    assert list(types_of(tmp_path, "years.csv", content)) == ["country", "2023", "2024"]


def test_ragged_rows_are_told(tmp_path: Path) -> None:
    content = b"a,b\n" + b"1,2\n" * 20 + b"1\n"
    found = inferred(tmp_path, {"ragged.csv": content})
    assert any("1 record is rejected by any schema" in doubt for doubt in found.doubts)


def test_records_inside_of_a_document_are_found(tmp_path: Path) -> None:
    document = {"meta": {"n": 2}, "data": {"rows": [{"id": 1}, {"id": 2}]}, "log": [{"x": 1}]}
    found = inferred(tmp_path, {"api.json": json.dumps(document).encode()})
    assert 'record_path: "$.data.rows"' in found.text
    assert any("'$.log'" in doubt for doubt in found.doubts)
    assert not rejects_of(found.text, tmp_path)


def test_a_single_line_is_a_record_if_the_name_says_so(tmp_path: Path) -> None:
    content = b'{"id": 1, "items": [{"sku": "a"}]}\n'
    assert types_of(tmp_path, "orders.ndjson", content) == {"id": "Int", "items": "Array"}
    assert types_of(tmp_path, "orders.json", content) == {"sku": "String"}


def test_xml_records_are_the_elements_that_repeat(tmp_path: Path) -> None:
    content = (
        b'<?xml version="1.0" encoding="ISO-8859-1"?>'
        b'<o:Orders xmlns:o="urn:x"><Head><x>1</x></Head>'
        b'<o:Order id="1"><total cur="EUR">1.5</total><item>a</item><item>b</item></o:Order>'
        b'<o:Order id="2"><total cur="EUR">2</total><item>b\xe9</item></o:Order></o:Orders>'
    )
    assert types_of(tmp_path, "orders.xml", content) == {
        "@id": "Int",
        "total.@cur": "String",
        "total": "Float",
        "item": "Array",
    }
    assert not rejects_of(inferred(tmp_path, {"orders.xml": content}).text, tmp_path)


def test_fields_of_fixed_width_begin_behind_blanks(tmp_path: Path) -> None:
    content = b"000471 2024-01-15  123.45 N\r\n000815 2023-12-31   -0.50 Y\r\n"
    types = types_of(tmp_path, "accounts.dat", content)
    assert list(types.values()) == ["String", "Date", "Float", "String"]
    assert not rejects_of(inferred(tmp_path, {"accounts.dat": content}).text, tmp_path)


@pytest.mark.parametrize(
    ("name", "record", "head", "tail"),
    [
        ("large.csv", b'%d,"a ""long"" text\nof two lines"\n', b"id,note\n", b""),
        ("large.ndjson", b'{"id": %d, "note": "a long text"}\n', b"", b""),
        ("large.json", b'{"id": %d, "note": "a ] long , text"},', b'{"a": {"b": [', b"{}]}}"),
        ("large.xml", b"<r><id>%d</id><note>a long text</note></r>", b"<rs>", b"</rs>"),
        ("large.dat", b"%08d a long text\n", b"", b""),
    ],
)
def test_of_a_large_file_whole_records_are_looked_at(
    tmp_path: Path, name: str, record: bytes, head: bytes, tail: bytes
) -> None:
    content = head + b"".join(record % number for number in range(1, 150_000)) + tail
    assert len(content) > 4 << 20 or name == "large.dat"
    format = "fixed_width" if name == "large.dat" else None
    found = inferred(tmp_path, {name: content}, sample=100, format=format)
    assert "the first 100 records looked at" in found.text
    [node] = load_nodes(found.text)
    assert len(node.config.schema_columns) >= 2


def test_compressed_files_are_unpacked(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"orders.csv.gz": gzip.compress(b"id,name\n1,Ann\n")})
    [node] = load_nodes(found.text)
    assert node.name == "orders"
    assert not rejects_of(found.text, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("book.csv", b"PK\x03\x04xxxx", "spreadsheet"),
        ("noise.dat", bytes(range(256)), "binary"),
        ("order.edi", b"ISA*00*", "is X12"),
        ("none.json", b"[]", "no records"),
        ("broken.json", b'{"a": [}', "is not JSON"),
        ("broken.xml", b"<a><b></a>", "is not XML"),
        ("dtd.xml", b"<!DOCTYPE a [<!ENTITY x 'y'>]><a><b/><b/></a>", "DTD"),
        ("no.parquet", b"id,name\n1,x\n", "is not a Parquet file"),
        ("torn.csv.gz", gzip.compress(b"a,b\n1,2\n")[:12], "damaged"),
    ],
)
def test_what_cannot_be_inferred_is_told(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        inferred(tmp_path, {name: content})


def test_parquet_files_tell_their_columns(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.int32()),
            "name": ["x", None],
            "price": pa.array([decimal.Decimal("1.10"), None], pa.decimal128(10, 2)),
            "raw": [b"a", b"b"],
            "tags": [["a"], []],
            "$pos": [1, 2],
        }
    )
    content = io.BytesIO()
    pq.write_table(table, content)
    found = inferred(tmp_path, {"orders.parquet": content.getvalue()})
    assert found.text.splitlines()[4:] == [
        "  # orders.parquet: 2 records in 1 group of rows",
        "  # column 'raw' is of the type binary, which cannot be read: it is not declared, and "
        "what is not declared is dropped",
        "  - type: source",
        "    name: orders",
        "    config:",
        "      type: parquet",
        "      path: orders.parquet",
        "      on_unmapped: drop",
        "      schema:",
        "        - { name: id, type: int }  # 2 values: int32",
        "        - { name: name, type: string }  # 2 values: string",
        "        - { name: price, type: float }  # 2 values: decimal128(10, 2)",
        "        - { name: tags, type: array }  # 2 values: list<element: string>",
        "        # a column is not declared: '$pos' is kept for the engine",
    ]
    assert not rejects_of(found.text, tmp_path)
    with pytest.raises(FormatError, match="is not whole"):
        inferred(tmp_path, {"half.dat": content.getvalue()[:-9]})
