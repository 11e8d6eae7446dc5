"""Parquet files as they are written: what others read of them, and that their bytes are certain."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl import types
from clinker.cxl.run.tagged import encode
from clinker.cxl.types import Type, array_of
from clinker.formats import FORMATS
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import OutputColumn, Piece, WriteError, WriteSpec
from clinker.formats.files.assembly import write_document
from clinker.formats.files.parts import write_part
from clinker.formats.parquet import writer
from clinker.formats.parquet.dialect import ParquetDialect, ParquetWriteDialect
from clinker.formats.parquet.schema import read_schema
from clinker.formats.renderer import renderer
from tests.formats.reading import read, spec_of, values

COLUMNS = {
    "i": types.INT,
    "f": types.FLOAT,
    "s": types.STRING,
    "b": types.BOOL,
    "d": types.DATE,
    "t": types.DATETIME,
    "l": array_of(types.INT.nullable()),
    "ls": array_of(array_of(types.STRING.nullable()).nullable()),
}
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.none() | st.integers(-(2**63), 2**63 - 1),
            "f": st.none() | st.floats(allow_nan=False),
            "s": st.none() | st.text(),
            "b": st.none() | st.booleans(),
            "d": st.none() | st.dates(),
            "t": st.none() | st.datetimes(),
            "l": st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3),
            "ls": st.none() | st.lists(st.none() | st.lists(st.none() | st.text(max_size=2))),
        }
    ),
    max_size=20,
)


def spec(columns: dict[str, Type], **dialect: Any) -> WriteSpec:
    return WriteSpec(
        format=FORMATS["parquet"],
        dialect=ParquetWriteDialect(**dialect),
        columns=tuple(OutputColumn(name, type_) for name, type_ in columns.items()),
    )


def batch(columns: dict[str, Type], rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    schema = pa.schema([(name, arrow_type(type_)) for name, type_ in columns.items()])
    return pa.RecordBatch.from_pylist(list(rows), schema)


def document(how: WriteSpec, *batches: pa.RecordBatch) -> bytes:
    content = io.BytesIO()
    form = renderer(how)
    write_document(content, form, list(render_all(form, batches)))
    return content.getvalue()


def table(content: bytes) -> pa.Table:
    return pq.read_table(io.BytesIO(content))


@settings(max_examples=40, deadline=None)
@given(_ROWS, st.integers(1, 7))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], size: int
) -> None:
    content = document(spec(COLUMNS, row_group_size=size), batch(COLUMNS, rows))
    folder = tmp_path_factory.getbasetemp()
    (folder / "t").write_bytes(content)
    schema = read_schema(str(folder / "t"))
    assert {name: type_.kinds for name, type_ in schema.items()} == {
        name: type_.kinds for name, type_ in COLUMNS.items()
    }
    how = spec_of(ParquetDialect(), schema, undeclared="drop")
    assert values(read(folder, how, content, split_bytes=1)) == rows


def test_types_follow_from_the_plan(tmp_path: Path) -> None:
    columns = {
        **COLUMNS,
        "any": types.ANY,
        "map": types.MAP,
        "array": types.ARRAY,
        "numeric": types.NUMERIC.nullable(),
        "null": types.NULL,
    }
    content = document(spec(columns))
    schema = table(content).schema
    assert schema.field("t").type == pa.timestamp("us", "UTC")
    assert [str(schema.field(name).type) for name in columns if name != "t"] == [
        *("int64", "double", "string", "bool", "date32[day]", "list<element: int64>"),
        *("list<element: list<element: string>>", "string", "string", "string", "double", "string"),
    ]
    assert pq.ParquetFile(io.BytesIO(content)).metadata.num_rows == 0
    row = {
        "any": encode(1.0),
        "map": encode({"z": 1, "a": [1.5, None, dt.date(2024, 1, 1)]}),
        "array": [encode("x"), encode(2)],
        "numeric": "7",
    }
    (found,) = table(document(spec(columns), batch(columns, [row]))).to_pylist()
    assert {name: found[name] for name in row} == {
        "any": "1.0",
        "map": '{"z":1,"a":[1.5,null,"2024-01-01"]}',
        "array": '["x",2]',
        "numeric": 7.0,
    }
    assert found["i"] is None


def test_numbers_that_no_double_is_are_refused() -> None:
    columns = {"n": types.NUMERIC}
    exact = batch(columns, [{"n": encode(2**53)}, {"n": "#1.10"}, {"n": "NaN"}])
    assert table(document(spec(columns), exact))["n"].to_pylist()[:2] == [2.0**53, 1.1]
    with pytest.raises(WriteError, match="'n' is written as doubles") as problem:
        document(spec(columns), exact, batch(columns, [{"n": "1"}, {"n": encode(2**53 + 1)}]))
    assert problem.value.record == 5


def test_decimals(tmp_path: Path) -> None:
    columns = {"i": types.INT, "f": types.FLOAT, "n": types.NUMERIC}
    how = spec(columns, decimals={"i": (18, 0), "f": (6, 2), "n": (38, 10)})
    rows: list[dict[str, Any]] = [
        {"i": 10**17, "f": 0.1, "n": "#1234567890123456789012345678.10"},
        {"i": -5, "f": -9999.99, "n": "7"},
        {"i": None, "f": 1e-2, "n": "2.5"},
        {"i": 0, "f": None, "n": None},
    ]
    content = document(how, batch(columns, rows))
    found = table(content)
    assert [str(each.type) for each in found.schema] == [
        *("decimal128(18, 0)", "decimal128(6, 2)", "decimal128(38, 10)")
    ]
    assert [str(value) for value in found["f"].to_pylist()] == ["0.10", "-9999.99", "0.01", "None"]
    assert found["n"][0].as_py() == decimal.Decimal("1234567890123456789012345678.1")
    assert found["i"].to_pylist() == [10**17, -5, None, 0]
    how = spec(columns, decimals={"f": (6, 2)})
    for number in (0.005, 10000.0, float("nan"), float("inf")):
        with pytest.raises(WriteError, match="'f' is 6 digits in the file, 2 of them") as problem:
            document(how, batch(columns, [*rows, {"i": 1, "f": number, "n": "1"}]))
        assert problem.value.record == 5


def _rows(count: int) -> list[dict[str, Any]]:
    day = dt.date(2024, 1, 1)
    return [
        {
            "i": None if n % 5 == 0 and n > 50 else n,
            "s": f"text {n % 40}" * (n % 3),
            "d": day,
            "l": [n] * (n % 4),
        }
        for n in range(count)
    ]


@pytest.mark.parametrize("most_bytes", [64 << 20, 3000])
def test_bytes_are_the_same_however_records_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    monkeypatch.setattr(writer, "_GROUP_BYTES", most_bytes)
    columns = {name: COLUMNS[name] for name in ("i", "s", "d", "l")}
    how = spec(columns, row_group_size=150)
    whole = batch(columns, _rows(1000))
    expected = document(how, whole)
    for cut in (1, 7, 150, 333):
        pieces = [whole.slice(begin, cut) for begin in range(0, 1000, cut)]
        assert document(how, *pieces) == expected
        parts: list[Piece] = [
            write_part(tmp_path, how, pieces[at : at + 5], at) for at in range(0, len(pieces), 5)
        ]
        content = io.BytesIO()
        write_document(content, renderer(how), parts)
        assert content.getvalue() == expected
    metadata = pq.ParquetFile(io.BytesIO(expected)).metadata
    groups = [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]
    assert groups[:6] == [150] * 6 if most_bytes > 3000 else max(groups) < 100
    assert table(expected).to_pylist() == whole.to_pylist()


@pytest.mark.parametrize(
    ("name", "level", "codec"),
    [("zstd", 3, "ZSTD"), ("snappy", None, "SNAPPY"), ("gzip", 9, "GZIP"), ("none", None, "UNCOM")],
)
def test_compression(name: Any, level: int | None, codec: str) -> None:
    columns = {"i": types.INT}
    how = spec(columns, compression=name, level=level)
    content = document(how, batch(columns, [{"i": 1}]))
    facts = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    assert facts.compression.startswith(codec)


def test_a_sink_that_refuses_ends_the_writing() -> None:
    class Full:
        def write(self, data: bytes | memoryview, /) -> int:
            raise WriteError("cannot write out.parquet: No space left on device")

    columns = {"i": types.INT}
    form = renderer(spec(columns))
    pieces = list(render_all(form, [batch(columns, [{"i": 1}])]))
    with pytest.raises(WriteError, match="No space left"):
        write_document(Full(), form, pieces)
