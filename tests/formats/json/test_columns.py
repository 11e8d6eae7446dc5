"""Lines read by Arrow give what they give one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.types import ANY, BOOL, DATE, DATETIME, FLOAT, INT, STRING, Type
from clinker.formats.common.coercion import Coercion
from clinker.formats.common.read_spec import Column
from clinker.formats.json.columns import ColumnsOfLines, LineColumns
from clinker.formats.json.fields import LineFields
from clinker.formats.json.members import Unlike
from clinker.formats.json.records import Records

SCALARS = {"s": STRING, "i": INT, "f": FLOAT, "b": BOOL, "d": DATE, "t": DATETIME}
COLUMNS = tuple(Column(name, type_.nullable()) for name, type_ in SCALARS.items())
ARRAY = Column("lines", ANY)
MEMBERS = {"lines": {"sku": STRING.nullable(), "n": INT.nullable(), "x": FLOAT.nullable()}}
WITHOUT_FLOATS = {"lines": {"sku": STRING.nullable(), "ok": BOOL.nullable()}}


def outcome(parts: Iterable[Records], columns: Iterable[Column], members: Any) -> Any:
    """All that a reader can ask of records."""
    found: list[Any] = []
    try:
        for records in parts:
            apart = {name: records.taken_apart(name, types) for name, types in members.items()}
            arrays = {name: array.to_pylist() for name, array in apart.items()}
            found += ({"apart": each} for each in _transposed(arrays, len(records)))
            for column in columns:
                if column.name in members:
                    continue
                coerced = records.coerced(column.name, Coercion(column.type))
                unfit = coerced.unfit if coerced.unfit is not None else [False] * len(records)
                raw = records.values(column.name)
                for at, value in enumerate(coerced.values.to_pylist()):
                    row = found[len(found) - len(records) + at]
                    row[column.name] = raw[at] if unfit[at] else repr(value)
            for at in range(len(records)):
                row = found[len(found) - len(records) + at]
                row["record"] = records.unreadable.get(at) or repr(records.whole(at))
    except Unlike:
        return "unlike"
    return found


def _transposed(arrays: dict[str, list[Any]], count: int) -> list[Any]:
    return [{name: repr(values[at]) for name, values in arrays.items()} for at in range(count)]


def both(data: bytes, columns: tuple[Column, ...], members: Any) -> tuple[Any, Any]:
    fields = LineFields(columns, members)
    return (
        outcome(fields.read(data), columns, members),
        outcome(fields._read_objects(data), columns, members),
    )


NUMBERS = (
    "0 1 -1 7 1.5 -2.25 1.0 1.50 -0 -0.0 0.00001 1e3 1E-3 1e999 12345678901234567 "
    "9223372036854775807 9223372036854775808 999999999999999.5 01 1. .5 +1 - 0x1 NaN -NaN nan Inf "
    "-Inf Infinity inf 1e 1e+ 1_0 0b1 1f 1n --1 1-1 1.2.3"
).split()
TEXTS = [
    *('""', '"a"', '"ä"', '"1.50"', '"12"', '"true"', '"2024-01-15"', '"2024-02-31"'),
    *('"01/02/2024"', '"2024-01-15T10:00:00Z"', r'"\u00e9"', r'"\ud83d\ude00"'),
    *(r'"\ud800"', r'"\udc00"', r'"\\"', r'"\""', r'"\x"', '"\t"', '"a', '"{}"', '"]["'),
    *(r'"\u12"', r'"\u00zz"', r'"\/"', r'"\a"', r'"\u0000"', '"\x00"', '"\x7f"', "'a'", "a"),
]
WORDS = ["null", "true", "false", "True", "nul", "tru", "undefined", "", "NULL"]
NESTED = [
    *(
        "[]",
        "{}",
        "[1]",
        '{"s":1}',
        "[1,]",
        "[,1]",
        "[1 2]",
        "{1:2}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
    ),
    *("[1}", '{"a":1]', "[", "[1]]", "//a", "/*a*/1", "1//a", "(1)", "<1>", "[" * 200 + "]" * 200),
]
_NUMBERS = st.sampled_from(NUMBERS)
_TEXTS = st.one_of(
    st.sampled_from(TEXTS),
    st.text(max_size=4).map(lambda text: f'"{text}"'),
)
_VALUES = st.one_of(
    _NUMBERS,
    _TEXTS,
    st.sampled_from(WORDS),
    st.sampled_from(NESTED),
)
_GOOD = {
    "s": _TEXTS,
    "i": st.integers(-(10**6), 10**6).map(str),
    "f": st.floats(-1e6, 1e6).map(lambda x: repr(round(x, 2))),
    "b": st.sampled_from(["true", "false"]),
    "d": st.dates().map(lambda day: f'"{day.isoformat()}"'),
    "t": st.datetimes().map(lambda time: f'"{time.isoformat()}"'),
    "sku": _TEXTS,
    "n": st.integers(0, 9).map(str),
    "x": st.sampled_from(["0.5", "1.25", "-3.75"]),
    "ok": st.sampled_from(["true", "false"]),
    "more": _VALUES,
}


@st.composite
def _objects(draw: st.DrawFn, keys: tuple[str, ...]) -> str:
    chosen = draw(st.lists(st.sampled_from(keys), max_size=6, unique=draw(st.integers(0, 9)) > 0))
    pairs = []
    for key in chosen:
        if key == "lines":
            element = st.one_of(_objects(("sku", "n", "x", "ok", "more")), st.just("null"))
            value = "[" + ",".join(draw(st.lists(element, max_size=3))) + "]"
        else:
            value = draw(_GOOD[key])
        if draw(st.integers(0, 19)) == 0:
            value = draw(_VALUES)
        elif draw(st.integers(0, 9)) == 0:
            value = "null"
        pairs.append(f'"{key}":{draw(st.sampled_from(["", " "]))}{value}')
    return "{" + ",".join(pairs) + "}"


_LINES = st.one_of(
    *[_objects((*SCALARS, "lines", "more"))] * 8,
    st.sampled_from(
        ["", " ", "\r", "{", "}", "{}{}", "{} {}", "null", "[]", '{"s":"a"', " {}", "x"]
    ),
)


@st.composite
def _files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(_LINES, min_size=1, max_size=5))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    return text.encode("utf-8", "surrogatepass") + draw(
        st.sampled_from([b"", b"", b'{"s":"\xff"}'])
    )


@pytest.mark.parametrize("value", [*NUMBERS, *TEXTS, *WORDS, *NESTED])
@pytest.mark.parametrize("key", ["s", "i", "f", "b", "d", "more"])
def test_every_value_is_what_it_is_on_a_single_line(key: str, value: str) -> None:
    data = f'{{"s":"a"}}\n{{"{key}":{value}}}\n{{"more":1}}\n'.encode()
    by_columns, by_lines = both(data, COLUMNS, {})
    assert by_columns == by_lines


@pytest.mark.parametrize("value", [*NUMBERS, *TEXTS, *WORDS, *NESTED])
@pytest.mark.parametrize("key", ["sku", "n", "x", "more"])
def test_every_member_is_what_it_is_on_a_single_line(key: str, value: str) -> None:
    data = f'{{"lines":[{{"n":1}},{{"{key}":{value}}}]}}'.encode()
    by_columns, by_lines = both(data, (ARRAY,), MEMBERS)
    assert by_columns == by_lines


@given(_files(), st.sampled_from([{}, MEMBERS, WITHOUT_FLOATS]))
@settings(max_examples=400, deadline=None)
def test_columns_are_those_of_single_lines(data: bytes, members: Any) -> None:
    by_columns, by_lines = both(data, (*COLUMNS, ARRAY) if members else COLUMNS, members)
    assert by_columns == by_lines


@given(st.lists(_objects((*SCALARS, "lines")), min_size=1).map("\n".join))
@settings(max_examples=200, deadline=None)
def test_single_columns_are_those_of_single_lines(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for column in COLUMNS:
        by_columns, by_lines = both(data, (column,), {})
        assert by_columns == by_lines


def read(data: bytes, members: Any = MEMBERS) -> ColumnsOfLines | None:
    columns = (*COLUMNS, ARRAY) if members else COLUMNS
    return LineColumns(columns, members).read(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"i":1}\n{"i":null,"more":{"i":[1.5]}}\n\n{"lines":[]}',
        b'{"s":"a","lines":[{"n":1,"x":1.5,"more":2},null,{}]}\r\n{"lines":null}\r\n',
        b'{"d":"2024-02-31","t":"","b":true}\n',
    ],
)
def test_plain_lines_are_read_at_once(data: bytes) -> None:
    assert read(data) is not None
    by_columns, by_lines = both(data, (*COLUMNS, ARRAY), MEMBERS)
    assert by_columns == by_lines


@pytest.mark.parametrize(
    "data",
    [
        b'{"lines":[{"x":1.5},{"x":2}]}',
        b'{"lines":[{"x":1.50}]}',
        b'{"i":1}{"i":2}',
        b'{"i":\n1}\n{"i":2}{"i":3}',
        b'{"i":1,"i":2}',
        b'{"i":-0}',
        b'{"i":1.5}',
        b'{"i":"1"}',
        b'{"s":1}',
        rb'{"s":"\udc00"}',
        b'{"s":"\xff"}',
        b' {"i":1}',
        b'{"more":' + b"[" * 1000 + b"]" * 1000 + b"}",
        b"\n\n",
    ],
)
def test_what_arrow_reads_in_another_way_is_left_to_others(data: bytes) -> None:
    assert read(data) is None


def test_floats_beyond_all_are_left_to_others() -> None:
    assert read(b'{"f":1e999}', {}) is None
    columns = read(b'{"f":1e30}', {})
    assert columns
    assert columns.coerced("f", Coercion(FLOAT)).values.to_pylist() == [1e30]


@pytest.mark.parametrize("type_", [ANY, STRING | INT])
def test_columns_of_several_types_are_left_to_others(type_: Type) -> None:
    assert LineColumns((Column("s", type_),), {}).read(b'{"s":"a"}') is None
    assert LineColumns((), {}).read(b'{"s":"a"}') is None


def test_after_some_refusals_it_is_not_tried_again() -> None:
    columns = LineColumns(COLUMNS, {})
    assert columns.read(b'{"s":"a"}')
    for _ in range(3):
        assert columns.read(b'{"s":1}') is None
    assert columns.read(b'{"s":"a"}') is None


def test_many_lines_are_read_in_their_order() -> None:
    data = b"".join(b'{"i":%d,"lines":[{"n":%d}]}\n' % (n, n) for n in range(50_000))
    fields = LineFields((*COLUMNS, ARRAY), MEMBERS)
    parts = list(fields.read(data))
    assert all(isinstance(part, ColumnsOfLines) for part in parts)
    numbers = np.concatenate([np.asarray(part.values("i")) for part in parts])
    assert (numbers == np.arange(50_000)).all()
