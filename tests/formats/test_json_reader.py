"""JSON: given these bytes, expect those records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.tagged import encode
from clinker.cxl.values import MAX_INT, MIN_INT
from clinker.formats import json_reader, json_records, json_survey
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
        (JsonDialect(record_path="$"), b'[{"id":1}]'),
        (JsonDialect(record_path="$.data", form="ndjson"), b'{"data":[{"id":1}]}'),
        (JsonDialect(record_path="$.data", form="ndjson"), b'{\n"data":[{"id":1}]}'),
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


@pytest.mark.parametrize("split_bytes", [1, 1 << 20])
@pytest.mark.parametrize("undeclared", ["keep", "drop"])
def test_every_line_may_hold_records(
    tmp_path: Path, undeclared: Literal["keep", "drop"], split_bytes: int
) -> None:
    spec = spec_of(
        JsonDialect(form="ndjson", record_path="$.page.items"),
        {"id": "int", "tag": "string"},
        undeclared=undeclared,
        array_paths=(ArrayPath("tag", "explode"),),
    )
    content = b"""{"page":{"items":[{"id":1,"tag":["a","b"]},{"id":2}]}}

{"page":{"items":[]},"id":9}
{"page":{"items":{"id":3,"tag":"c"}}}
"""
    records = records_of(spec, inventory_of(tmp_path, spec, content, split_bytes=split_bytes))
    assert [(r["id"], r["tag"]) for r in records] == [(1, "a"), (1, "b"), (2, None), (3, "c")]
    assert [r["$pos"] for r in records] == [1, 2, 3, 4]


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


def test_columns_are_not_missed_however_their_keys_are_written(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"a.b": "int", "größe": "int", "x/y": "int"})
    inventory = inventory_of(tmp_path, spec, b'[{"a.b":1,"gr\\u00f6\\u00dfe":2,"x\\/y":3}]')
    assert values(records_of(spec, inventory)) == [
        {"a.b": 1, "größe": 2, "x/y": 3, "$widened": None}
    ]
    assert inventory.warnings == ()


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


# However values are written

_TEXT = st.text(st.sampled_from('ae1.:,"\\\\/{}[] \n\x01\x1f\x7fé€😀'), max_size=6)
_NUMBER = (
    st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, -0.0, 2.5, 1e16, 1e20, -1e-5, 1e-7, 2**63 - 1, 2**63])
)
_VALUE = st.recursive(
    st.none() | st.booleans() | _NUMBER | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=8,
)
_ODD_NUMBERS = st.sampled_from(["2.50", "1E2", "-0", "1.0e-3", "12345678901234567890123", "1e0"])


@st.composite
def _lines(draw: st.DrawFn) -> str:
    """A record in one of the many ways in which JSON can say the same."""
    written = [
        json.dumps(key) + draw(st.sampled_from([":", ": ", "\t:"])) + text
        for key, text in draw(
            st.lists(
                st.tuples(
                    st.sampled_from(["any", "array", "map", "more"]),
                    _ODD_NUMBERS | _ODD_NUMBERS.map("[{}]".format) | st.builds(_dumped, _VALUE),
                ),
                max_size=5,
            )
        )
    ]
    return "{" + draw(st.sampled_from([",", ", "])).join(written) + "}" + draw(_BLANKS)


def _dumped(value: Any) -> str:
    ascii_only = "é" in str(value)
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":") if value else None)


_BLANKS = st.sampled_from(["", " ", "\r", "\n", "\n \t"])


@settings(max_examples=400)
@given(st.lists(_lines(), max_size=6), st.booleans(), st.booleans())
def test_values_are_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], has_mark: bool, ends: bool
) -> None:
    spec = spec_of(JsonDialect(form="ndjson"), {"any": "any", "array": "array", "map": "map"})
    content = ("\ufeff" * has_mark + "\n".join(lines) + "\n" * ends).encode()
    found = read(tmp_path_factory.mktemp("values"), spec, content)
    assert len(found) == len(lines)
    for line, record in zip(lines, found, strict=True):
        expected = json.loads(line, parse_int=_int_or_float)
        more = {"more": expected["more"]} if "more" in expected else None
        if record["$reject"]:
            assert origin(record) == orjson.loads(line)
            assert not isinstance(expected.get("array"), list | None) or not isinstance(
                expected.get("map"), dict | None
            )
            continue
        anything = expected.get("any")
        assert record["any"] == encode(None if anything == "" else anything)
        assert record["map"] == encode(_opened(expected.get("map")))
        array = _opened(expected.get("array"))
        assert record["array"] == (None if array is None else [encode(item) for item in array])
        assert record["$widened"] == encode(more)


def _int_or_float(digits: str) -> int | float:
    number = int(digits)
    return number if MIN_INT <= number <= MAX_INT else float(digits)


def _opened(value: Any) -> Any:
    """Texts hold arrays and maps as JSON; an empty one is null."""
    return (json.loads(value) if value else None) if isinstance(value, str) else value


# Reading only some fields

_DAMAGED = rb"""{"any":1
[1]
null
{"any":1} {"any":2}
{"any":NaN}
{"any":1,"other":tru}
{"any":"\ud800"}
""".splitlines()
_DAMAGE = st.sampled_from([*_DAMAGED, b"", b'{"other":"\xff"}', b'{"any":\n1}{}'])


@settings(max_examples=400)
@given(
    st.lists(_lines(), max_size=6),
    _DAMAGE,
    st.dictionaries(
        st.sampled_from(["any", "array", "map", "more"]),
        st.sampled_from(["any", "array", "map", "int", "float", "string", "bool", "date"]),
        min_size=1,
    ),
)
def test_single_fields_are_read_as_whole_records_are(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    damage: bytes,
    declared: dict[str, str],
) -> None:
    directory = tmp_path_factory.mktemp("fields")
    content = "\n".join(lines).encode() + b"\n" + damage

    def found(undeclared: Literal["keep", "drop"]) -> Any:
        spec = spec_of(JsonDialect(form="ndjson"), declared, undeclared=undeclared)
        try:
            records = read(directory, spec, content)
        except FormatError as error:
            return str(error)
        return [{name: record[name] for name in (*declared, "$reject")} for record in records]

    assert found("drop") == found("keep")


def test_numbers_that_are_skipped_may_be_too_large(tmp_path: Path) -> None:
    assert _ids(tmp_path, b'{"id":1}\n{"id":2,"other":1e400}') == [1, 2]
    with pytest.raises(FormatError, match="line 2, column 19: number is infinity"):
        _ids(tmp_path, b'{"id":1}\n{"id":"x","other":1e400}')


# Splits

_RECORD = st.dictionaries(
    st.sampled_from(["id", "tags", "other"]),
    st.integers(-5, 5) | st.text(max_size=3) | st.lists(st.integers(0, 3), max_size=3),
)
_LINE = _RECORD.map(lambda record: json.dumps(record, ensure_ascii=False)) | st.sampled_from(
    ["", " ", "\r", "\t \r"]
)


@settings(max_examples=200)
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
        patch.setattr(json_survey, "_BLOCK_BYTES", block_bytes)
        patch.setattr(json_reader, "_CACHED_RECORDS", 2)
        patch.setattr(json_reader, "_BATCH_PARTS", 2)
        patch.setattr(json_records, "_BLOCK_BYTES", block_bytes)
        assert read(directory, spec, content, split_bytes=split_bytes) == expected
    assert [r["$pos"] for r in expected] == list(range(1, len(expected) + 1))
    if not explode:
        assert len(expected) == len(orjson.loads(array))
