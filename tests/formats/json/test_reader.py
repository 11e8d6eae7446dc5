"""JSON: given these bytes, expect those records."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.run.tagged import encode
from clinker.cxl.values import MAX_INT, MIN_INT, WrittenFloat
from clinker.formats.common.json_numbers import Spelling, find_spelling
from clinker.formats.json import documents as json_documents
from clinker.formats.json import reader as json_reader
from clinker.formats.json import records as json_records
from clinker.formats.json import survey as json_survey
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.reading import (
    ArrayPath,
    FormatError,
    input_file,
    read_split,
    take_inventory,
)
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
            "t": ["1", '"y', "#2.0", '{"k":null}'],
            "$widened": '{"a":{"c":{"e":9}},"z":0}',
        },
        {"a.b": 2, "a.c.d": None, "m": None, "t": None, "$widened": '{"a":{"b":3,"c":5}}'},
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
        ({}, b'[{"id":1},\n3]', "element 2 of the array is no object but a number"),
        ({}, b'[{"id":1},\n{"id"}]', "line 2, column 6: "),
        ({}, b'[{"id":1},\n{"id":2}', "line 2, column 9: unexpected end of data"),
        ({}, b'[{"id":1},\n{"id":"2', "line 2, column 9: unexpected end of data"),
        ({}, b'[{"id":1},\n]', "line 1, column 11: a comma without an element"),
        ({}, b'[{"id":1},,{"id":2}]', "line 1, column 10: trailing comma is not allowed"),
        ({}, b'[{"id":1}\n{"id":2}]', "line 2, column 1: "),
        ({}, b'[{"id":1}}', "line 1, column 10: "),
        ({}, b'[{"id":1}]\n]', "line 2, column 1: unexpected content after document"),
        ({}, b'[{"id":"\xff"}]', "line 1: byte 0xFF is not UTF-8"),
        ({}, b'\xef\xbb\xbf[{"id":1}]\n\xc3\xa9', "line 2, column 1: unexpected content"),
        ({}, b"hello", "JSON records begin with { or [, found 'h'"),
        ({}, '{"id":1}'.encode("utf-16"), "the file is UTF-16, not UTF-8"),
        ({}, b'{\n"id":1,\n}', "line 2, column 7: trailing comma is not allowed"),
        ({"form": "array"}, b'{"id":1}', "expected an array of records, found an object"),
        ({"form": "object"}, b'[{"id":1}]', "expected records, found an array"),
        ({"record_path": "$.b.c"}, b'{"a":1}', "'$.b.c' leads nowhere: there is no 'b'"),
        ({"record_path": "a"}, b'{"a":1}', "expected records at 'a', found a number"),
        ({"record_path": "a"}, b'{"a":[{},1]}', "element 2 of the array at 'a' is no object"),
        ({"record_path": "a"}, b'{"a":[],"a":[{}]}', "there is more than one array at 'a'"),
        ({"record_path": "a"}, b'{"a":[{"id":1}],}', "line 1, column 16: trailing comma"),
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
    content = b"[\n" + b'{"id":1},\n' * 50_000 + b'{"id":}]\n'
    spec = spec_of(JsonDialect(), _ID)
    with pytest.raises(FormatError, match="line 50002, column 7"):
        read(tmp_path, spec, content, split_bytes=1000)


# Lines that are no records


@pytest.mark.parametrize("undeclared", ["keep", "drop"])
@pytest.mark.parametrize("split_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id":2,}', "row 2 is not JSON: trailing comma is not allowed at column 8"),
        (b"[1]", "row 2 is no object but an array"),
        (b'"x"', "row 2 is no object but a text"),
        (b"null", "row 2 is no object but null"),
        (b'{"id":NaN}', "row 2 is not JSON: unexpected character"),
        (b'{"id":-Infinity}', "row 2 is not JSON: no digit after sign"),
        (b'{"id":1} {"id":2}', "row 2 is not JSON: unexpected content after document"),
        (rb'{"id":"\ud800"}', "row 2 is not JSON: "),
        (b'{"id":"a\0b"}', "row 2 is not JSON: unexpected control character"),
        (b'{"id":1', "row 2 is not JSON: unexpected end of data at column 8"),
        (b'{"id":' + b"[" * 2000 + b"]" * 2000 + b"}", "row 2 is not JSON: "),
        (b"\0", "row 2 is not JSON: unexpected character"),
    ],
)
def test_a_line_that_is_no_record_is_rejected(
    tmp_path: Path,
    undeclared: Literal["keep", "drop"],
    split_bytes: int,
    line: bytes,
    problem: str,
) -> None:
    spec = spec_of(JsonDialect(), {"id": "int", "name": "string"}, undeclared=undeclared)
    content = b'{"id":1}\n' + line + b'\r\n{"id":3}'
    first, bad, last = read(tmp_path, spec, content, split_bytes=split_bytes)
    assert (first["id"], last["id"]) == (1, 3)
    assert (first["$reject"], last["$reject"]) == (None, None)
    assert rejection(bad)["category"] == "type_coercion_failure"
    assert rejection(bad)["detail"].startswith(problem)
    assert rejection(bad)["field"] is None
    assert rejection(bad)["value"] == line.decode()
    assert origin(bad) == {}
    assert bad["$pos"] == 2


def test_a_line_that_is_not_utf8_is_rejected(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), _ID, undeclared="drop")
    _, bad = read(tmp_path, spec, b'{"id":1}\n{"id":2,"x":"\xff"}\n')
    assert rejection(bad)["detail"] == "row 2 is not JSON: byte 0xFF at column 14 is not UTF-8"
    assert rejection(bad)["value"] == '{"id":2,"x":"\\xff"}'


def test_a_record_nested_too_deeply_is_rejected(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), _ID)
    deep = b'{"id":2,"x":' + b"[" * 300 + b"]" * 300 + b"}"
    first, bad, last = read(tmp_path, spec, b'{"id":1}\n' + deep + b'\n{"id":3}')
    assert (first["id"], last["id"]) == (1, 3)
    assert rejection(bad)["detail"] == "row 2 is nested more than 250 levels deep"
    with pytest.raises(FormatError, match="record 2 is nested more than 250 levels deep"):
        read(tmp_path, spec, b'[{"id":1},' + deep + b"]")


@pytest.mark.parametrize("split_bytes", [1, 1 << 20])
def test_a_line_without_records_at_the_path_is_rejected(tmp_path: Path, split_bytes: int) -> None:
    spec = spec_of(JsonDialect(form="ndjson", record_path="items"), _ID)
    content = b"""{"items":[{"id":1}]}
{"items":[{"id":2},{"id":3}]
{"other":[]}
{"items":[{"id":4},5]}
{"items":[{"id":6},{"id":7}]}
"""
    records = read(tmp_path, spec, content, split_bytes=split_bytes)
    assert [r["id"] for r in records] == [1, None, None, None, 6, 7]
    assert [rejection(r)["detail"] for r in records if r["$reject"]] == [
        "row 2 is not JSON: unexpected end of data at column 29",
        "row 3 holds no records: 'items' leads nowhere: there is no 'items'",
        "row 4 holds no records: element 2 of the array at 'items' is no object but a number",
    ]


def test_the_first_line_may_be_damaged(tmp_path: Path) -> None:
    records = read(tmp_path, spec_of(JsonDialect(), _ID), b'{"id":1,"x\n{"id":2}\n')
    assert [r["id"] for r in records] == [None, 2]
    one = read(tmp_path, spec_of(JsonDialect(), _ID), b'{"id":1,"x":\n{"id":2}\n}')
    assert [r["id"] for r in one] == [1]


# Numbers as they are written

_SPELLINGS = ["12345678901234567890123", "1.10", "1.0", "1e5", "-0", "1.0E+2", "0.000001", "1e400"]


@pytest.mark.parametrize("undeclared", ["keep", "drop"])
@pytest.mark.parametrize("number", [*_SPELLINGS, "-9223372036854775809", "9223372036854775808"])
def test_numbers_are_kept_as_written(
    tmp_path: Path, number: str, undeclared: Literal["keep", "drop"]
) -> None:
    declared = {"s": "string", "a": "any", "m": "map", "l": "array", "t": "string"}
    spec = spec_of(JsonDialect(), declared, undeclared=undeclared)
    content = '{"s":N,"a":N,"m":{"k":[N,1.5]},"l":[N,2],"t":[N],"more":N}'.replace("N", number)
    for text in (content, f"[{content},{content}]"):
        record = read(tmp_path, spec, text.encode())[0]
        assert record["s"] == number
        assert record["a"] == f"#{number}"
        assert record["m"] == f'{{"k":["#{number}","1.5"]}}'
        assert record["l"] == [f"#{number}", "2"]
        assert record["t"] == f"[{number}]"
        if undeclared == "keep":
            assert record["$widened"] == f'{{"more":"#{number}"}}'


@pytest.mark.parametrize("undeclared", ["keep", "drop"])
def test_numbers_of_typed_columns_are_values(
    tmp_path: Path, undeclared: Literal["keep", "drop"]
) -> None:
    declared = {"i": "int", "f": "float", "n": "numeric"}
    spec = spec_of(JsonDialect(), declared, undeclared=undeclared)
    whole = ("1.0", "1e5", "-0")
    lines = [f'{{"i":{n if n in whole else 1},"f":{n},"n":{n}}}' for n in _SPELLINGS]
    *records, infinite = read(tmp_path, spec, "\n".join(lines).encode())
    assert [record["i"] for record in records] == [1, 1, 1, 100000, 0, 1, 1]
    assert [record["f"] for record in records] == [float(n) for n in _SPELLINGS[:-1]]
    assert [record["n"] for record in records] == [encode(float(n)) for n in _SPELLINGS[:-1]]
    assert rejection(infinite)["value"] == "1e400"
    for unfit in ("12345678901234567890123", "1.10", "9223372036854775808"):
        (record,) = read(tmp_path, spec, f'{{"i":{unfit}}}'.encode())
        assert rejection(record)["detail"] == f"cannot convert '{unfit}' in column 'i' to int"


def test_empty_texts_stay_in_columns_of_any_type(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"a": "any", "i": "int", "s": "string"})
    (record,) = read(tmp_path, spec, b'{"a":"","i":"","s":"","x":""}')
    assert (record["a"], record["i"], record["s"]) == ('"', None, "")
    assert record["$widened"] == '{"x":"\\""}'


def test_the_last_of_equal_keys_counts(tmp_path: Path) -> None:
    for content in (b'{"id":1,"id":2}', b'[{"id":1,"id":2}]', b'{"id":1,"x":1.10,"id":2}'):
        assert _ids(tmp_path, content) == [2]


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
        expected = _as_written(line)
        more = {"more": expected["more"]} if "more" in expected else None
        if record["$reject"]:
            assert origin(record) == expected
            assert not isinstance(expected.get("array"), list | None) or not isinstance(
                expected.get("map"), dict | None
            )
            continue
        anything = expected.get("any")
        assert record["any"] == encode(anything)
        assert record["map"] == encode(_opened(expected.get("map")))
        array = _opened(expected.get("array"))
        assert record["array"] == (None if array is None else [encode(item) for item in array])
        assert record["$widened"] == encode(more)


def _as_written(text: str) -> Any:
    return json.loads(text, parse_int=_int, parse_float=_float)


def _int(digits: str) -> int | float:
    number = int(digits)
    is_int = MIN_INT <= number <= MAX_INT and digits != "-0"
    return number if is_int else WrittenFloat(digits)


def _float(digits: str) -> float:
    number = float(digits)
    return number if encode(number) == digits and number % 1 else WrittenFloat(digits)


def _opened(value: Any) -> Any:
    """Texts hold arrays and maps as JSON; an empty one is null."""
    return (_as_written(value) if value else None) if isinstance(value, str) else value


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
    assert _ids(tmp_path, b'{"id":1}\n{"id":"x","other":1e400}') == [1, None]


# Splits


@pytest.mark.parametrize("record_path", [None, "data.items"])
def test_an_array_is_never_in_memory_as_a_whole(tmp_path: Path, record_path: str | None) -> None:
    array = b"[" + b",".join(b'{"id":%d,"text":"%s"}' % (n, b"x" * 500) for n in range(40_000))
    content = array + b"]" if record_path is None else b'{"data":{"items":' + array + b"]}}"
    assert len(content) > 20e6
    (tmp_path / "large.json").write_bytes(content)
    file = input_file(0, str(tmp_path / "large.json"))
    spec = spec_of(JsonDialect(record_path=record_path), {"id": "int", "text": "string"})
    del array, content
    _ids(tmp_path, b'[{"id":1}]')  # Arrow imports what it needs
    tracemalloc.start()
    try:
        inventory = take_inventory(spec, [file], 1 << 20)
        assert sum(split.records or 0 for split in inventory.splits) == 40_000
        records = (
            batch.num_rows for s in inventory.splits for batch in read_split(spec, inventory, s)
        )
        assert sum(records) == 40_000
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


_DEEP = JsonDialect(record_path='/q"/r')
_RECORD = st.dictionaries(
    st.sampled_from(["id", "tags", "other"]),
    st.integers(-5, 5)
    | st.text('"\\\\{[,:]}a\u20ac', max_size=5)
    | st.lists(st.integers(0, 3), max_size=3),
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
        patch.setattr(json_documents, "_BLOCK_BYTES", block_bytes)
        patch.setattr(json_reader, "_CACHED_RECORDS", 2)
        patch.setattr(json_reader, "_BATCH_PARTS", 2)
        patch.setattr(json_records, "_BLOCK_BYTES", block_bytes)
        assert read(directory, spec, content, split_bytes=split_bytes) == expected
        for document, dialect in (
            (array, JsonDialect(form="array")),
            (b'{"x":{"r":[9]},"r":[\n{"r":1}],"q\\"":{"r":' + array + b"}}", _DEEP),
        ):
            in_array = spec_of(dialect, {"id": "int"}, array_paths=spec.array_paths)
            assert read(directory, in_array, document, split_bytes=split_bytes) == expected
    assert [r["$pos"] for r in expected] == list(range(1, len(expected) + 1))
    if not explode:
        assert len(expected) == len(orjson.loads(array))


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize(
    ("content", "array_paths", "split_bytes"),
    [
        (b'{"a": {"b": "1", "c": 2}, "n": 1.50}\n\n{"a": null}\n{"n": "x", "a.b": 3}\n', (), 20),
        (b'[{"a": {"b": "1", "c": 2}, "n": 1.50}, {"a": null}, {"n": "x", "a.b": 3}]', (), 20),
        (
            b'{"l": [{"a": {"b": "1", "c": 2}, "n": 1.5}, {"a": null}]}\n{"n": "x", "a.b": 3}\n',
            (ArrayPath("l"),),
            20,
        ),
    ],
    ids=["lines", "document", "unfolded"],
)
def test_records_are_looked_up(
    tmp_path: Path,
    content: bytes,
    array_paths: tuple[ArrayPath, ...],
    split_bytes: int,
    every: int,
) -> None:
    spec = spec_of(JsonDialect(), {"n": "float", "a.b": "int"}, array_paths=array_paths)
    inventory = inventory_of(tmp_path, spec, content, split_bytes=split_bytes)
    splits = [s if s.records else replace(s, records=3) for s in inventory.splits]
    found = origins_of(spec, replace(inventory, splits=tuple(splits)), every)
    expected = [{"a": {"c": 2}, "n": 1.5, "a.b": "1"}, {}, {"n": "x", "a.b": 3}]
    assert found == expected[every - 1 :: every]


# Speed


@pytest.mark.parametrize("text", ['"P-0"', '"1234567890123456789012"', '"a-0,b"'])
def test_what_only_looks_like_an_odd_number_is_read_at_full_speed(text: str) -> None:
    assert find_spelling(b'{"a":%s,"b":[1,-5]}' % text.encode()) is Spelling.PLAIN


@pytest.mark.parametrize("text", ["-0", " -0 ", "[-0]", "1234567890123456789012"])
def test_odd_numbers_are_seen_wherever_they_stand(text: str) -> None:
    for written in (text, f'{{"a":{text}}}', f"[1,{text},2]", f"[1, {text}\n]"):
        assert find_spelling(written.encode()) is Spelling.ODD_INTS
