"""JSON files: given these values, those bytes."""

from __future__ import annotations

import datetime as dt
import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NULL,
    NUMERIC,
    STRING,
    Type,
    array_of,
)
from clinker.cxl.values import Value
from clinker.formats.common.writing import Widened
from clinker.formats.renderer import renderer
from tests.formats.records import Columns, batch, json_text, spec

RECORDS: Columns = {"a": (INT, [1, None]), "b": (STRING, ["x", None])}


def test_an_array_has_a_line_per_record() -> None:
    assert json_text(RECORDS) == '[\n{"a":1,"b":"x"},\n{"a":"","b":""}\n]\n'


def test_ndjson_ends_with_a_newline() -> None:
    assert json_text(RECORDS, form="ndjson") == '{"a":1,"b":"x"}\n{"a":"","b":""}\n'


def test_preserved_nulls() -> None:
    assert json_text(RECORDS, form="ndjson", preserve_nulls=True) == (
        '{"a":1,"b":"x"}\n{"a":null,"b":null}\n'
    )


def test_no_records() -> None:
    assert json_text({"a": (INT, [])}) == "[]\n"
    assert json_text({"a": (INT, [])}, form="ndjson") == ""


def test_pretty() -> None:
    columns: Columns = {
        "a": (INT, [1, 2]),
        "b": (ANY, [{"k": [1.0, "x", {}], "n": None}, []]),
        "c": (array_of(FLOAT), [[1e16], None]),
    }
    assert json_text(columns, pretty=True) == (
        "[\n"
        "{\n"
        '  "a": 1,\n'
        '  "b": {\n'
        '    "k": [\n'
        "      1.0,\n"
        '      "x",\n'
        "      {}\n"
        "    ],\n"
        '    "n": null\n'
        "  },\n"
        '  "c": [\n'
        "    1e+16\n"
        "  ]\n"
        "},\n"
        "{\n"
        '  "a": 2,\n'
        '  "b": [],\n'
        '  "c": ""\n'
        "}\n"
        "]\n"
    )


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (INT, 2**63 - 1, "9223372036854775807"),
        (BOOL, False, "false"),
        (FLOAT, 88.0, "88.0"),
        (FLOAT, -0.0, "-0.0"),
        (FLOAT, 0.00001, "0.00001"),
        (FLOAT, 0.000001, "1e-6"),
        (FLOAT, 1.5e-7, "1.5e-7"),
        (FLOAT, 1e15, "1000000000000000.0"),
        (FLOAT, 1e16, "1e+16"),
        (FLOAT, -1.25e300, "-1.25e+300"),
        (FLOAT, math.nan, "null"),
        (FLOAT, math.inf, "null"),
        (STRING, "Zoë/✓\x7f", '"Zoë/✓\x7f"'),
        (STRING, 'a"b\\c\n\x01', '"a\\"b\\\\c\\n\\u0001"'),
        (DATE, dt.date(2024, 1, 15), '"2024-01-15"'),
        (DATETIME, dt.datetime(2024, 1, 15, 10, 30, 0, 250000), '"2024-01-15T10:30:00.250"'),
        (DATETIME, dt.datetime(2024, 1, 15, 10, 30), '"2024-01-15T10:30:00"'),
        (array_of(STRING), ["x", None, 'y"'], '["x",null,"y\\""]'),
        (array_of(array_of(INT)), [[1, 2], [], None], "[[1,2],[],null]"),
        (array_of(NUMERIC), [1, 1.0], "[1,1.0]"),
        (ARRAY, [None, {"k": [True]}], '[null,{"k":[true]}]'),
        (MAP, {"z": 1, "a": 1.0}, '{"z":1,"a":1.0}'),
        (MAP, {"big": 1e16, "bad": math.nan, "s": "1.0"}, '{"big":1e+16,"bad":null,"s":"1.0"}'),
        (
            MAP,
            {"d": dt.date(2024, 1, 15), "t": dt.datetime(2024, 1, 15, 10, 30, 0, 500000)},
            '{"d":"2024-01-15","t":"2024-01-15T10:30:00.500"}',
        ),
        (NUMERIC, 7, "7"),
        (NUMERIC, 7.0, "7.0"),
        (NUMERIC, 1e16, "1e+16"),
        (NUMERIC, 1e-6, "1e-6"),
        (NUMERIC, math.inf, "null"),
        (ANY, "7", '"7"'),
        (ANY, "null", '"null"'),
        (ANY, True, "true"),
        (ANY, 'q"', '"q\\""'),
        (ANY, dt.date(2024, 1, 15), '"2024-01-15"'),
        (ANY, dt.datetime(2024, 1, 15, 10, 30, 0, 250000), '"2024-01-15T10:30:00.250"'),
        (NULL, None, '""'),
        (ARRAY, None, '""'),
    ],
)
def test_values(kind: Type, value: Value, shown: str) -> None:
    assert json_text({"k": (kind, [value])}, form="ndjson") == f'{{"k":{shown}}}\n'


def test_kinds_may_change_from_record_to_record() -> None:
    values: list[Value] = [1, "1.0", None, 1.0, '"', True, dt.date(2024, 1, 15), [1], {"a": 2}]
    written = json_text({"k": (ANY, values)}, preserve_nulls=True)
    expected = [*values[:6], "2024-01-15", *values[7:]]
    assert [record["k"] for record in json.loads(written)] == expected


def test_keys_are_escaped() -> None:
    assert json_text({'a"b': (INT, [1])}, form="ndjson") == '{"a\\"b":1}\n'


WIDENED: list[Value] = [{"x": "foo", "a": 9, "s": 1, "n": None}, None, {"m": {"k": [1.0]}}]


def test_undeclared_fields_follow_the_columns() -> None:
    text = json_text(
        {"a": (INT, [1, 2, 3])},
        form="ndjson",
        widened=Widened(excluded=frozenset({"s"}), renamed={"m": ("more",)}),
        widened_values=WIDENED,
    )
    assert text == '{"a":1,"x":"foo","n":""}\n{"a":2}\n{"a":3,"more":{"k":[1.0]}}\n'


def test_undeclared_fields_alone() -> None:
    widened = Widened(excluded=frozenset({"a", "s"}))
    form = renderer(spec({}, format="json", widened=widened, preserve_nulls=True))
    body = form.render(batch({}, WIDENED)).body
    assert bytes(body) == b'{"x":"foo","n":null},\n{},\n{"m":{"k":[1.0]}}'


def test_undeclared_fields_pretty() -> None:
    text = json_text(
        {"a": (INT, [1])}, pretty=True, widened=Widened(), widened_values=[{"m": [1], "z": 1.5}]
    )
    assert text == '[\n{\n  "a": 1,\n  "m": [\n    1\n  ],\n  "z": 1.5\n}\n]\n'


def test_records_end_before_the_separator() -> None:
    columns: Columns = {"a": (INT, [1, 22, 3])}
    piece = renderer(spec(columns, format="json")).render(batch(columns).slice(1))
    assert bytes(piece.body) == b'{"a":22},\n{"a":3}'
    assert piece.ends().tolist() == [8, 17]


def test_no_columns() -> None:
    none = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert bytes(renderer(spec({}, format="json")).render(none).body) == b"{},\n{}"


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=6)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(values, max_size=6), st.booleans())
def test_any_value_is_read_back(column: list[Value], pretty: bool) -> None:
    written = json_text({"k": (ANY, column)}, pretty=pretty, preserve_nulls=True)
    read = [record["k"] for record in json.loads(written)]
    # Equality takes 1 for 1.0 and True; their texts differ.
    assert repr(read) == repr(column)


@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8")), st.floats(allow_nan=False)), max_size=6
    )
)
def test_columns_are_read_back(rows: list[tuple[str, float]]) -> None:
    columns: Columns = {
        "s": (STRING, [text for text, _ in rows]),
        "f": (FLOAT, [number for _, number in rows]),
        "l": (array_of(STRING), [[text, text] for text, _ in rows]),
    }
    read = [json.loads(line) for line in json_text(columns, form="ndjson").split("\n")[:-1]]
    assert read == [
        {"s": text, "f": number if math.isfinite(number) else None, "l": [text, text]}
        for text, number in rows
    ]
