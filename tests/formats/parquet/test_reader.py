"""What becomes of the columns of Parquet files, and of files that are none."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinker.cxl.run.tagged import decode
from clinker.cxl.types import FLOAT, INT, STRING, Type, array_of
from clinker.cxl.values import WrittenFloat
from clinker.formats.common.read_spec import FormatError, ReadSpec
from clinker.formats.parquet.dialect import ParquetDialect
from clinker.formats.parquet.schema import read_schema
from clinker.formats.reading import input_file, take_inventory
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

ON = ParquetDialect()


def parquet(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def column(directory: Path, data: pa.Array, to: str | Type) -> list[Any]:
    """A column as a declared type, its rejected values as what the message says of them."""
    spec = spec_of(ON, {"a": to}, undeclared="drop")
    records = read(directory, spec, parquet(pa.table({"a": data})))
    return [rejection(r)["detail"] if r["$reject"] else r["a"] for r in records]


def refused(text: str, to: str) -> str:
    return f"cannot convert '{text}' in column 'a' to {to}"


def test_native_values_pass(tmp_path: Path) -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int8()),
            "f": pa.array([0.5, float("inf")], pa.float32()),
            "h": pa.array([0.5, None], pa.float16()),
            "s": pa.array(["x", ""], pa.large_string()),
            "v": pa.array(["long enough to stand elsewhere", None], pa.string_view()),
            "d": pa.array(["x", "y"]).dictionary_encode(),
            "b": pa.array([True, None]),
            "day": pa.array([dt.date(2024, 2, 29), None], pa.date64()),
            "ms": pa.array([1, None], pa.timestamp("ms", "Europe/Berlin")),
            "ns": pa.array([-1, 1_999], pa.timestamp("ns")),
            "u": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "t": pa.array([dt.time(1, 2, 3), dt.time(1, 2, 3, 450)], pa.time64("us")),
            "n": pa.nulls(2),
        }
    )
    content = parquet(table)
    (tmp_path / "t").write_bytes(content)
    schema = read_schema(str(tmp_path / "t"))
    assert {name: str(type_) for name, type_ in schema.items()} == {
        "i": "Int",
        "f": "Float",
        "h": "Float",
        "s": "String",
        "v": "String",
        "d": "String",
        "b": "Bool",
        "day": "Date",
        "ms": "DateTime",
        "ns": "DateTime",
        "u": "String",
        "t": "String",
        "n": "Any",
    }
    first, second = values(read(tmp_path, spec_of(ON, schema), content))
    del first["$widened"], second["$widened"]
    assert list(first.values()) == [
        *(1, 0.5, 0.5, "x", "long enough to stand elsewhere", "x", True, dt.date(2024, 2, 29)),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1000),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        *("00000000-0000-0000-0000-000000000001", "01:02:03", None),
    ]
    assert list(second.values()) == [
        *(None, float("inf"), None, "", None, "y", None, None, None),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1),
        *(None, "01:02:03.00045", None),
    ]


def test_values_go_to_declared_types(tmp_path: Path) -> None:
    def of(data: pa.Array, to: str | Type) -> list[Any]:
        return column(tmp_path, data, to)

    big = pa.array([1, 2**63], pa.uint64())
    assert of(big, "int") == [1, refused("9223372036854775808", "int")]
    assert of(big, "float") == [1.0, 2.0**63]
    assert of(pa.array([2.0, 2.5, float("nan")]), "int") == [
        2,
        refused("2.5", "int"),
        refused("NaN", "int"),
    ]
    assert of(pa.array(["7", " 7", ""]), "int") == [7, refused(" 7", "int"), None]
    assert of(pa.array([0, 3]), "bool") == [False, True]
    assert of(pa.array([1.5]), "bool") == [refused("1.5", "bool")]
    assert of(pa.array(["02/29/2024"]), "date") == [dt.date(2024, 2, 29)]
    assert of(pa.array([dt.datetime(2024, 2, 29, 23)]), "date") == [dt.date(2024, 2, 29)]
    assert of(pa.array([dt.date(2024, 2, 29)]), "date_time") == [dt.datetime(2024, 2, 29)]
    assert of(pa.array([dt.date(2024, 2, 29)]), "int") == [refused("2024-02-29", "int")]
    assert of(pa.array([5]), "date") == [refused("5", "date")]
    assert of(pa.array([1, None]), "string") == ["1", None]
    assert of(pa.array([1.0, float("nan")]), "string") == ["1", "NaN"]
    assert of(pa.array([dt.datetime(2024, 2, 29, 23)]), "string") == ["2024-02-29T23:00:00"]
    assert of(pa.array([{"b": [1]}]), "string") == ['{"b":[1]}']
    assert of(pa.array([1]), "map") == [refused("1", "map")]
    assert of(pa.array(['{"a": 1}']), "map") == ['{"a":1}']
    assert of(pa.array([[1, 2], None]), "array") == [["1", "2"], None]
    assert of(pa.array([["1", "x"], ["2"]]), array_of(INT)) == [
        refused('["1","x"]', "array"),
        [2],
    ]


def test_days_that_no_year_has_reject_their_record(tmp_path: Path) -> None:
    days = pa.array([0, 2932897], pa.int32()).view(pa.date32())
    assert column(tmp_path, days, "date") == [dt.date(1970, 1, 1), refused("10000-01-01", "date")]
    seconds = pa.array([0, 253402300800, 1 << 62]).view(pa.timestamp("s"))
    first, *others = column(tmp_path, seconds.slice(0, 2), "date_time")
    assert first == dt.datetime(1970, 1, 1)
    assert others == [refused("10000-01-01 00:00:00.000", "date_time")]
    nested = pa.array([{"d": 2932897}], pa.struct([("d", pa.int32())]))
    nested = nested.cast(pa.struct([("d", pa.date32())]))
    assert column(tmp_path, nested, "map") == [refused('{"d":"10000-01-01"}', "map")]


def test_decimals_keep_their_digits(tmp_path: Path) -> None:
    written = ["12345678901234567.80", "-0.10", "5.00", "90071992547409930.00"]
    data = pa.array(map(decimal.Decimal, written), pa.decimal128(24, 2))
    tagged = column(tmp_path, data, "numeric")
    assert tagged == [f"#{text}" for text in written]
    assert all(isinstance(decode(text), WrittenFloat) for text in tagged)
    assert column(tmp_path, data, "string") == written
    assert column(tmp_path, data, "float") == list(map(float, written))
    assert column(tmp_path, data, "int") == [
        *(refused("12345678901234567.80", "int"), refused("-0.10", "int"), 5, 90071992547409930),
    ]
    small = pa.array(map(decimal.Decimal, ["-9999999.99999999", "0.00000001"])).cast(
        pa.decimal128(15, 8)
    )
    (tmp_path / "t").write_bytes(parquet(pa.table({"a": small})))
    assert read_schema(str(tmp_path / "t")) == {"a": FLOAT}
    assert column(tmp_path, small, "float") == [-9999999.99999999, 1e-8]
    whole = pa.array([decimal.Decimal(10**17), None], pa.decimal128(18, 0))
    (tmp_path / "t").write_bytes(parquet(pa.table({"a": whole})))
    assert read_schema(str(tmp_path / "t")) == {"a": INT}
    assert column(tmp_path, whole, "int") == [10**17, None]


def test_nested_values_are_as_those_of_json(tmp_path: Path) -> None:
    nested = pa.array(
        [
            {"z": 1, "a": [{"k": 1.5, "m": None}], "t": dt.date(2024, 1, 1), "f": float("nan")},
            None,
            {"z": None, "a": None, "t": None, "f": None},
        ]
    )
    maps = pa.array([[("x", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32()))
    lists = pa.array([["x", None], None, []])
    table = pa.table({"nested": nested, "maps": maps, "lists": lists})
    content = parquet(table, row_group_size=2)
    (tmp_path / "t").write_bytes(content)
    schema = read_schema(str(tmp_path / "t"))
    assert schema["lists"] == array_of(STRING.nullable())
    records = values(read(tmp_path, spec_of(ON, schema, undeclared="drop"), content))
    assert records == [
        {
            "nested": '{"z":1,"a":[{"k":"1.5","m":null}],"t":"@2024-01-01","f":"NaN"}',
            "maps": '{"x":1,"b":null}',
            "lists": ["x", None],
        },
        {"nested": None, "maps": "{}", "lists": None},
        {"nested": '{"z":null,"a":null,"t":null,"f":null}', "maps": None, "lists": []},
    ]
    (spelled,) = {json.dumps(decode(r["nested"]), default=str) for r in records[:1]}
    assert spelled.startswith('{"z": 1, "a": [{"k": 1.5')


def test_texts_that_are_no_utf8_reject_their_record(tmp_path: Path) -> None:
    broken = pa.array([b"x", b"\xff", None]).view(pa.string())
    assert column(tmp_path, broken, "string") == ["x", refused("\ufffd", "string"), None]
    assert column(tmp_path, broken, "any") == ['"x', refused("\ufffd", "any"), None]


TABLE = pa.table(
    {
        "id": pa.array(range(100)),
        "text": pa.array([None if n % 10 == 3 else f"t{n}" for n in range(100)]),
        "a.b": pa.array(["dot"] * 100),
        "a": pa.array([{"b": n} for n in range(100)]),
        "raw": pa.array([b"x"] * 100),
    }
)


def test_groups_of_rows_are_splits(tmp_path: Path) -> None:
    spec = spec_of(ON, {"text": "string", "id": "int"}, undeclared="drop")
    other = TABLE.select(["text", "id"]).slice(0, 30)
    contents = parquet(TABLE, row_group_size=7), parquet(other, row_group_size=30)
    group = pq.ParquetFile(io.BytesIO(contents[0])).metadata.row_group(0)
    cut = inventory_of(tmp_path, spec, *contents, split_bytes=group.total_byte_size + 100)
    files = [input_file(number, str(tmp_path / f"{number}.data")) for number in (0, 1)]
    whole = take_inventory(spec, files, WHOLE)
    assert [split.records for split in whole.splits] == [100, 30]
    assert [split.records for split in cut.splits] == [14] * 7 + [2, 30]
    records = records_of(spec, cut)
    assert records == records_of(spec, whole)
    assert [r["id"] for r in records] == [*range(100), *range(30)]
    assert [r["$pos"] for r in records] == [*range(1, 101), *range((1 << 40) + 1, (1 << 40) + 31)]


def test_what_a_file_holds_for_rejected_records(tmp_path: Path) -> None:
    spec = spec_of(ON, {"text": "int", "id": "int"}, required=["text"], undeclared="drop")
    content = parquet(TABLE, row_group_size=30)
    for split_bytes in (1, 1 << 30):
        inventory = inventory_of(tmp_path, spec, content, split_bytes=split_bytes)
        records = records_of(spec, inventory)
        expected = [
            {name: row[name] for name in ("id", "text", "a.b", "a")} for row in TABLE.to_pylist()
        ]
        assert [origin(record) for record in records] == expected
        assert origins_of(spec, inventory, every=3) == expected[2::3]
        details = [rejection(record)["detail"] for record in records[2:4]]
        assert details == [
            "cannot convert 't2' in required column 'text' to int",
            "required column 'text' has no value",
        ]


def test_only_wanted_columns_are_read(tmp_path: Path) -> None:
    spec = spec_of(ON, {"id": "int", "a": "map", "text": "int"}, needed=["a"], undeclared="drop")
    records = values(read(tmp_path, spec, parquet(TABLE.slice(0, 2))))
    assert records == [{"a": '{"b":0}'}, {"a": '{"b":1}'}]


def test_undeclared_columns(tmp_path: Path) -> None:
    content = parquet(TABLE.drop_columns(["raw"]).slice(3, 1))
    (record,) = read(tmp_path, spec_of(ON, {"id": "int"}), content)
    assert decode(record["$widened"]) == {"text": None, "a.b": "dot", "a": {"b": 3}}
    with pytest.raises(FormatError, match=r"does not declare columns 'text', 'a\.b', 'a'"):
        inventory_of(tmp_path, spec_of(ON, {"id": "int"}, undeclared="reject"), content)
    inventory = inventory_of(tmp_path, spec_of(ON, {"id": "int", "x": "int"}), content, content)
    assert inventory.warnings == (
        "source 'orders' declares column 'x', which its files do not have: null",
    )


@pytest.mark.parametrize(
    "held", [pa.binary(), pa.list_(pa.binary(4)), pa.duration("s"), pa.struct([("x", pa.binary())])]
)
def test_types_that_no_column_has(tmp_path: Path, held: pa.DataType) -> None:
    content = parquet(pa.table({"id": [1], "raw": pa.nulls(1, held)}))
    with pytest.raises(FormatError, match="column 'raw' is of the type") as problem:
        inventory_of(tmp_path, spec_of(ON, {"id": "int", "raw": "string"}), content)
    assert "leave it out of the schema" in (problem.value.help or "")
    with pytest.raises(FormatError, match="column 'raw' is of the type"):
        read_schema(str(tmp_path / "0.data"))
    with pytest.raises(FormatError, match="which cannot be read"):
        inventory_of(tmp_path, spec_of(ON, {"id": "int"}), content)
    assert read(tmp_path, spec_of(ON, {"id": "int"}, undeclared="drop"), content)


def test_files_without_rows(tmp_path: Path) -> None:
    spec = spec_of(ON, {"id": "int"}, undeclared="drop")
    nothing = pa.table({"id": pa.array([], pa.int64())})
    assert read(tmp_path, spec, parquet(nothing)) == []
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, nothing.schema) as writer:
        for rows in ([1], [], [2]):
            writer.write_table(pa.table({"id": pa.array(rows, pa.int64())}))
    records = read(tmp_path, spec, stream.getvalue(), split_bytes=1)
    assert [record["id"] for record in records] == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"id,name\n1,x\n", "is not a Parquet file"),
        (b"\x1f\x8b\x08rest", "is compressed as a whole"),
        (parquet(TABLE)[:-9], "is not whole"),
        (parquet(TABLE)[:-4] + b"PARE", "is encrypted"),
        (parquet(TABLE)[:-8] + b"\xff\xff\xff\x7fPAR1", "is damaged, or written in a way"),
        (parquet(pa.table([[1], [2]], ["x", "x"])), "has several columns named 'x'"),
        (
            parquet(TABLE, store_schema=False).replace(b"text", b"te\xfft"),
            "has a column whose name is not UTF-8",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        inventory_of(tmp_path, spec_of(ON, {"id": "int"}, undeclared="drop"), content)
    with pytest.raises(FormatError, match=message):
        read_schema(str(tmp_path / "0.data"))


def test_damaged_files_are_told_as_such(tmp_path: Path) -> None:
    """Whatever bytes are changed, files are read, rejected, or refused in words."""
    spec = spec_of(ON, {"id": "int", "text": "string", "a": "any"})
    content = parquet(TABLE.drop_columns(["raw"]), row_group_size=40, write_page_checksum=True)
    footer = int.from_bytes(content[-8:-4], "little") + 8
    chance = random.Random(7)
    refused_files = 0
    for attempt in range(300):
        damaged = bytearray(content)
        begin = len(content) - footer if attempt % 3 else 0
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(begin, len(content))] = chance.randrange(256)
        if attempt % 10 == 0:
            del damaged[chance.randrange(len(damaged)) :]
        try:
            _read_all(tmp_path, spec, bytes(damaged))
        except FormatError as problem:
            refused_files += 1
            assert problem.message.isprintable()
    assert refused_files > 100


def _read_all(directory: Path, spec: ReadSpec, content: bytes) -> Sequence[Any]:
    return read(directory, spec, content, split_bytes=1)
