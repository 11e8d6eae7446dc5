"""JSON: given these bytes, expect those records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.formats import json_reader
from clinker.formats.reading import ArrayPath, FormatError, JsonDialect
from tests.formats.reading import (
    inventory_of,
    origin,
    read,
    records_of,
    rejection,
    spec_of,
    values,
)

_ID = {"id": "int"}


def _ids(directory: Path, content: bytes, dialect: JsonDialect | None = None) -> list[Any]:
    spec = spec_of(dialect or JsonDialect(), _ID, undeclared="drop")
    return [record["id"] for record in read(directory, spec, content)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'[{"id":1},{"id":2}]', [1, 2]),
        (b' \n[\n{"id":1}\n,\n{"id":2}\n]\n', [1, 2]),
        (b'{"id":1}\n{"id":2}\n', [1, 2]),
        (b'\xef\xbb\xbf{"id":1}\r\n\r\n  \n {"id":2}', [1, 2]),
        (b'{\n  "id": 1\n}\n', [1]),
        (b'{"id":1}', [1]),
        (b"[]", []),
        (b"", []),
        (b" \n\n", []),
    ],
)
def test_the_content_tells_the_form(tmp_path: Path, content: bytes, expected: list[int]) -> None:
    assert _ids(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        (JsonDialect(form="array"), b'[{"id":1}]'),
        (JsonDialect(form="ndjson"), b'{"id":1}'),
        (JsonDialect(form="object"), b'{"id":1}'),
        (JsonDialect(record_path="$.a.b"), b'{"a":{"b":[{"id":1}]}}'),
        (JsonDialect(record_path="a.b"), b'{\n"a":{"b":[{"id":1}]}}'),
        (JsonDialect(record_path="/a/b", form="object"), b'{"x":2,"a":{"b":[{"id":1}]}}'),
        (JsonDialect(record_path="data"), b'{"data":{"id":1}}'),
    ],
)
def test_forms_and_paths(tmp_path: Path, dialect: JsonDialect, content: bytes) -> None:
    assert _ids(tmp_path, content, dialect) == [1]


def test_columns_are_keys_or_paths(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"a.b": "int", "a.c.d": "string", "m": "map", "t": "array"})
    content = b"""\
{"a":{"b":1,"c":{"d":"x","e":9}},"m":{"k":"v"},"t":[1,"y",2.0,{"k":null}],"z":0}
{"a.b":2,"a":{"b":3,"c":5}}
{"a":null,"m":null}
"""
    assert values(read(tmp_path, spec, content)) == [
        {
            "a.b": 1,
            "a.c.d": "x",
            "m": '{"k":"\\"v"}',
            "t": ["1", '"y', "2.0", '{"k":null}'],
            "$widened": '{"a":{"c":{"e":9}},"z":0}',
        },
        {"a.b": 2, "a.c.d": None, "m": None, "t": None, "$widened": '{"a":{"c":5}}'},
        {"a.b": None, "a.c.d": None, "m": None, "t": None, "$widened": None},
    ]


def test_records_may_differ_in_their_keys(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"id": "int", "q": "string", "date": "date"})
    inventory = inventory_of(tmp_path, spec, b'[{"id":1,"x":[]}]', b'{"y":1.5}\n{"id":2}\n')
    assert values(records_of(spec, inventory)) == [
        {"id": 1, "q": None, "date": None, "$widened": '{"x":[]}'},
        {"id": None, "q": None, "date": None, "$widened": '{"y":"1.5"}'},
        {"id": 2, "q": None, "date": None, "$widened": None},
    ]
    assert inventory.warnings == (
        "source 'orders' declares columns 'q', 'date', which its files do not have: null",
    )


def test_values_that_do_not_fit_reject_their_record(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"id": "int", "day": "date"}, required=["id"])
    content = b'{"id":1.5,"day":7}\n{"day":"x"}\n{"id":1,"day":[1]}\n{"id":2,"day":""}'
    fraction, absent, array, good = read(tmp_path, spec, content, split_bytes=1)
    assert rejection(fraction) == {
        "category": "required_field_conversion_failure",
        "detail": "cannot convert '1.5' in required column 'id' to int",
        "field": "id",
        "value": "1.5",
    }
    assert origin(fraction) == {"id": 1.5, "day": 7}
    assert rejection(absent)["category"] == "missing_required_field"
    assert rejection(array)["detail"] == "cannot convert '[1]' in column 'day' to date"
    assert values([good]) == [{"id": 2, "day": None, "$widened": None}]
    assert [r["$pos"] for r in (fraction, absent, array, good)] == [1, 2, 3, 4]


# Arrays inside records

_ORDERS = b"""\
{"id":1,"items":[{"sku":"A","id":9},{"sku":"B"}],"tags":["x",2]}
{"id":2,"items":[],"tags":[]}
{"id":3,"items":null,"tags":"t"}
{"id":4,"items":["s",null]}
"""


def test_arrays_are_exploded_or_joined(tmp_path: Path) -> None:
    spec = spec_of(
        JsonDialect(),
        {"id": "int", "tags": "string", "sku": "string"},
        array_paths=(ArrayPath("$.items"), ArrayPath("tags", "join", "|")),
    )
    expected = [
        {"id": 9, "tags": "x|2", "sku": "A", "$widened": None},
        {"id": 1, "tags": "x|2", "sku": "B", "$widened": None},
        {"id": 3, "tags": "t", "sku": None, "$widened": '{"items":null}'},
        {"id": 4, "tags": None, "sku": None, "$widened": '{"items":"\\"s"}'},
        {"id": 4, "tags": None, "sku": None, "$widened": '{"items":null}'},
    ]
    whole = read(tmp_path, spec, _ORDERS)
    assert values(whole) == expected
    assert [r["$pos"] for r in whole] == [1, 2, 3, 4, 5]


def test_several_arrays_give_all_combinations(tmp_path: Path) -> None:
    spec = spec_of(
        JsonDialect(),
        {"a": "int", "deep.b": "int"},
        array_paths=(ArrayPath("a"), ArrayPath("$.deep.b")),
    )
    records = read(tmp_path, spec, b'{"a":[1,2],"deep":{"b":[3,4],"c":5}}')
    assert [(r["a"], r["deep.b"]) for r in records] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert {r["$widened"] for r in records} == {'{"deep":{"c":5}}'}


# Files that cannot be read


@pytest.mark.parametrize(
    ("dialect", "content", "message"),
    [
        ({}, b'{"id":1}\n\n{"id":2,}\n', "line 3, column 8: trailing comma is not allowed"),
        ({}, b'{"id":1}\n[1]\n', "line 2 is no object but an array"),
        ({}, b'{"id":1}\n"x"\n', "line 2 is no object but a text"),
        ({}, b'[{"id":1},\n3]', "element 2 of the array is no object but a number"),
        ({}, b'[{"id":1},\n{"id"]', "line 2, column 6: "),
        ({}, b"hello", "JSON records begin with { or [, found 'h'"),
        ({}, b'{"id":1}\n{"id":"\xff"}\n', "line 2: byte 0xFF is not UTF-8"),
        ({}, '{"id":1}'.encode("utf-16"), "the file is UTF-16, not UTF-8"),
        ({}, b'{"id":1}\n{\n"id":2}', "line 2, column 2: "),
        ({"form": "array"}, b'{"id":1}', "expected an array of records, found an object"),
        ({"form": "ndjson"}, b'[{"id":1}]', "line 1 is no object but an array"),
        ({"form": "object"}, b'[{"id":1}]', "expected records, found an array"),
        ({"record_path": "$.b.c"}, b'{"a":1}', "'$.b.c' leads nowhere: there is no 'b'"),
        ({"record_path": "a"}, b'{"a":1}', "expected records at 'a', found a number"),
        ({"record_path": "a"}, b'{"a":[{},1]}', "element 2 of the array at 'a' is no object"),
    ],
)
def test_unreadable_files(
    tmp_path: Path, dialect: dict[str, Any], content: bytes, message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        _ids(tmp_path, content, JsonDialect(**dialect))
    assert message in caught.value.message
    assert caught.value.path == str(tmp_path / "0.data")


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    content = b'{"id":1}\n' * 50_000 + b'{"id":}\n'
    spec = spec_of(JsonDialect(), _ID)
    with pytest.raises(FormatError, match="line 50001, column 7"):
        read(tmp_path, spec, content, split_bytes=1000)


def test_undeclared_fields_may_be_refused(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"id": "int", "a.b": "int"}, undeclared="reject")
    with pytest.raises(FormatError, match=r"record 2 has the field 'a\.c\.d'"):
        read(tmp_path, spec, b'{"id":1,"a":{"b":1}}\n{"id":2,"a":{"c":{"d":1}}}\n')


# Splits

_RECORD = st.dictionaries(
    st.sampled_from(["id", "tags", "other"]),
    st.integers(-5, 5) | st.text(max_size=3) | st.lists(st.integers(0, 3), max_size=3),
)
_LINE = _RECORD.map(lambda record: json.dumps(record, ensure_ascii=False)) | st.sampled_from(
    ["", " ", "\r", "\t \r"]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(_LINE, max_size=12),
    st.booleans(),
    st.integers(1, 40),
    st.integers(1, 50),
    st.booleans(),
)
def test_splits_do_not_change_what_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    ends: bool,
    split_bytes: int,
    block_bytes: int,
    explode: bool,
) -> None:
    directory = tmp_path_factory.mktemp("splits")
    content = ("\n".join(lines) + "\n" * ends).encode()
    spec = spec_of(
        JsonDialect(form="ndjson"),
        {"id": "int"},
        array_paths=(ArrayPath("tags"),) if explode else (),
    )
    array = b"[" + b",".join(line.encode() for line in lines if line.strip()) + b"]"
    expected = read(
        directory,
        spec_of(JsonDialect(form="array"), {"id": "int"}, array_paths=spec.array_paths),
        array,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reader, "_BLOCK_BYTES", block_bytes)
        assert read(directory, spec, content, split_bytes=split_bytes) == expected
    assert [r["$pos"] for r in expected] == list(range(1, len(expected) + 1))
    if not explode:
        assert len(expected) == len(orjson.loads(array))
