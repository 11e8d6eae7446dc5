"""CSV files: given these values, those bytes."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import pickle

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
from clinker.cxl.values import Value, float_text, text_of
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import Widened, WriteError
from clinker.formats.renderer import renderer
from tests.formats.records import Columns, batch, csv_text, spec


def test_a_header_and_a_line_per_record() -> None:
    columns: Columns = {"id": (INT, [1, 2]), "note": (STRING, ['say "hi", bye', None])}
    assert csv_text(columns) == 'id,note\n1,"say ""hi"", bye"\n2,\n'


def test_without_header() -> None:
    assert csv_text({"id": (INT, [1])}, include_header=False) == "1\n"


def test_no_records_leave_the_header() -> None:
    assert csv_text({"id": (INT, []), "a,b": (STRING, [])}) == 'id,"a,b"\n'
    assert csv_text({"id": (INT, [])}, include_header=False) == ""


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (INT, -(2**63), "-9223372036854775808"),
        (BOOL, True, "true"),
        (FLOAT, 88.0, "88"),
        (FLOAT, 0.1, "0.1"),
        (FLOAT, 1e-7, "0.0000001"),
        (FLOAT, 1e21, "1000000000000000000000"),
        (FLOAT, 123456789012345680.0, "123456789012345680"),
        (FLOAT, -0.0, "-0"),
        (FLOAT, math.nan, "NaN"),
        (FLOAT, math.inf, "inf"),
        (FLOAT, -math.inf, "-inf"),
        (STRING, "007", "007"),
        (STRING, " a ", " a "),
        (STRING, "a\rb", '"a\rb"'),
        (STRING, "a\nb", '"a\nb"'),
        (STRING, '"', '""""'),
        (STRING, "Zoë ✓", "Zoë ✓"),
        (DATE, dt.date(24, 1, 5), "0024-01-05"),
        (DATETIME, dt.datetime(2024, 1, 15, 10, 30), "2024-01-15T10:30:00"),
        (DATETIME, dt.datetime(1924, 1, 15, 10, 30, 0, 250000), "1924-01-15T10:30:00.250"),
        (DATETIME, dt.datetime(2024, 1, 15, 10, 30, 0, 1), "2024-01-15T10:30:00.000001"),
        (array_of(INT), [1, None, 3], '"[1,null,3]"'),
        (array_of(INT), [], "[]"),
        (array_of(STRING), ["x", 'y"'], '"[""x"",""y\\""""]"'),
        (array_of(array_of(FLOAT)), [[1.0], None, []], '"[[1.0],null,[]]"'),
        (array_of(DATE), [dt.date(2024, 1, 15)], '"[""2024-01-15""]"'),
        (ARRAY, [1, 2.0, {"k": "v"}], '"[1,2.0,{""k"":""v""}]"'),
        (NUMERIC, 7, "7"),
        (NUMERIC, 7.0, "7"),
        (NUMERIC, 10.0, "10"),
        (NUMERIC, 1e22, "10000000000000000000000"),
        (ANY, math.nan, "NaN"),
        (ANY, -math.inf, "-inf"),
        (ANY, "true", "true"),
        (ANY, "@x", "@x"),
        (ANY, False, "false"),
        (ANY, "", ""),
        (ANY, dt.date(2024, 1, 15), "2024-01-15"),
        (ANY, dt.datetime(2024, 1, 15, 10, 30, 0, 250000), "2024-01-15T10:30:00.250"),
        (ANY, dt.datetime(2024, 1, 15, 10, 30), "2024-01-15T10:30:00"),
        (ANY, ["a", None], '"[""a"",null]"'),
        (NULL, None, ""),
        (INT.nullable(), None, ""),
    ],
)
def test_values(kind: Type, value: Value, shown: str) -> None:
    assert csv_text({"a": (kind, [value]), "b": (INT, [0])}) == f"a,b\n{shown},0\n"


def test_kinds_may_change_from_record_to_record() -> None:
    values: list[Value] = [1, "1.0", None, 1.0, "a,b", True, dt.date(2024, 1, 15), [1]]
    lines = csv_text({"a": (ANY, values), "b": (INT, [0] * 8)}).splitlines()
    assert lines[1:] == ["1,0", "1.0,0", ",0", "1,0", '"a,b",0', "true,0", "2024-01-15,0", "[1],0"]


def test_a_record_of_one_empty_cell_is_not_an_empty_line() -> None:
    assert csv_text({"a": (STRING, ["x", "", None])}) == 'a\nx\n""\n""\n'


@pytest.mark.parametrize("delimiter", ["|", "\t", ";", "§", "-", "^", "]", "\\", "1"])
def test_delimiters(delimiter: str) -> None:
    columns: Columns = {"a": (STRING, [f"x{delimiter}y", "x,y"]), "b": (INT, [-1, -1])}
    number = "-1" if delimiter not in "-1" else '"-1"'
    assert csv_text(columns, delimiter=delimiter) == (
        f'a{delimiter}b\n"x{delimiter}y"{delimiter}{number}\nx,y{delimiter}{number}\n'
    )


def test_undeclared_fields_follow_the_columns() -> None:
    text = csv_text(
        {"id": (INT, [1, 2, 3])},
        widened=Widened(
            names=("x", "id", "y", "secret"),
            excluded=frozenset({"secret"}),
            renamed={"y": ("why",)},
        ),
        widened_values=[{"y": 2.0, "x": "a", "id": 9, "secret": 0}, None, {"x": [True]}],
    )
    assert text == "id,x,why\n1,a,2\n2,,\n3,[true],\n"


@pytest.mark.parametrize("kind", [ANY, MAP])
def test_a_map_has_no_place(kind: Type) -> None:
    columns: Columns = {"id": (INT, [1, 2]), "customer": (kind, [None, {"name": "x"}])}
    with pytest.raises(WriteError, match="cannot hold 'customer', which is a Map") as refusal:
        csv_text(columns)
    assert (refusal.value.code, refusal.value.record) == ("E078", 2)


def test_the_record_of_an_error_is_counted_over_all_batches() -> None:
    columns: Columns = {"customer": (ANY, [1, 2, {}])}
    form = renderer(spec(columns))
    with pytest.raises(WriteError) as refusal:
        list(render_all(form, [batch(columns).slice(0, 2), batch(columns).slice(2)]))
    assert refusal.value.record == 3
    copy = pickle.loads(pickle.dumps(refusal.value))
    assert (str(copy), copy.record, copy.code) == (str(refusal.value), 3, "E078")


def test_a_slice_of_a_batch() -> None:
    columns: Columns = {"a": (ANY, ["x", None, 2.0, "y"]), "b": (STRING, ["1", "2,", "3", None])}
    piece = renderer(spec(columns)).render(batch(columns).slice(1, 2))
    assert bytes(piece.body) == b',"2,"\n2,3\n'
    assert piece.ends().tolist() == [6, 10]


texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(texts, texts | st.none(), st.floats() | st.none()), max_size=8))
def test_what_is_written_is_read_back(rows: list[tuple[str, str | None, float | None]]) -> None:
    columns: Columns = {
        "a": (STRING, [row[0] for row in rows]),
        "b": (ANY, [row[1] for row in rows]),
        "c": (FLOAT, [row[2] for row in rows]),
    }
    written = csv_text(columns)
    read = list(csv.reader(io.StringIO(written, newline=""), strict=True))
    assert read == [["a", "b", "c"], *([text_of(value) for value in row] for row in rows)]


@given(st.lists(st.floats()))
def test_floats_are_shown_as_the_language_shows_them(numbers: list[float]) -> None:
    shown = [float_text(number) for number in numbers]
    for kind in (FLOAT, NUMERIC):
        lines = csv_text({"a": (kind, numbers)}).splitlines()
        assert lines[1:] == shown


def test_large_batches_are_rendered_piece_by_piece() -> None:
    long = "x" * 5_000_000
    columns: Columns = {"a": (STRING, [long] * 8)}
    pieces = list(render_all(renderer(spec(columns)), [batch(columns)]))
    assert [piece.records for piece in pieces] == [3, 3, 2]
    assert b"".join(bytes(piece.body) for piece in pieces) == (long + "\n").encode() * 8


def test_a_spec_can_be_sent_elsewhere() -> None:
    written = spec({"a": (array_of(INT), [])}, widened=Widened(names=("b",)))
    assert pickle.loads(pickle.dumps(written)) == written


def test_no_columns() -> None:
    none = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert bytes(renderer(spec({})).render(none).body) == b"\n\n"


def test_engines_may_hold_the_same_values_in_other_arrow_types() -> None:
    columns: Columns = {
        "a": (STRING, ["x,", None]),
        "b": (ANY, ["y", 2.0]),
        "c": (array_of(STRING), [["z"], None]),
        "d": (NULL, [None, None]),
        "e": (DATETIME, [dt.datetime(2024, 1, 15, 10, 30), None]),
    }
    whole = batch(columns)
    held = pa.RecordBatch.from_pydict(
        {
            "a": whole["a"].cast(pa.large_string()),
            "b": whole["b"].cast(pa.string_view()),
            "c": whole["c"].cast(pa.large_list(pa.large_string())),
            "d": pa.nulls(2),
            "e": whole["e"].cast(pa.timestamp("ns")),
        }
    )
    form = renderer(spec(columns))
    assert bytes(form.render(held).body) == bytes(form.render(whole).body)
