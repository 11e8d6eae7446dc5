"""X12 files: given these segments, those bytes."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.types import ANY, INT, STRING, Type, array_of
from clinker.cxl.values import Value
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import OutputColumn, Widened, WriteError
from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.renderer import renderer
from tests.formats.interchange.writing import (
    ISA,
    USUAL,
    Segment,
    segment_batch,
    segment_spec,
    write,
    x12,
)
from tests.formats.records import Columns, batch

HEAD = (
    "ISA*00*          *00*          *ZZ*S              *ZZ*R              "
    "*240101*1200*U*00401*000000007*0*P*:~"
)
GROUP = "GS*PO*S*R*20240101*1200*1*X*004010~"


def body(text: str) -> str:
    """What stands inside the group."""
    assert text.startswith(HEAD + GROUP)
    sets, _, trailer = text.removeprefix(HEAD + GROUP).rpartition("GE*")
    assert trailer.endswith("*1~IEA*1*000000007~")
    return f"{sets}GE*{trailer.removesuffix('*1~IEA*1*000000007~')}"


def refused(dialect: object, segments: list[Segment], **options: object) -> WriteError:
    with pytest.raises(WriteError) as refusal:
        write(dialect, segments, **options)  # type: ignore[arg-type]
    return refusal.value


def test_three_tiers_with_their_counts() -> None:
    segments: list[Segment] = [
        ("ST", "0001", "850", "850", "0001"),
        ("BEG", "0001", "850", "00", "SA", "P1"),
        ("ST", "0002", "850", "850", "0002"),
        ("BEG", "0002", "850", "00", "SA", "P2"),
        ("PO1", "0002", "850", None, "3"),
    ]
    assert write(x12(), segments) == (
        f"{HEAD}{GROUP}ST*850*0001~BEG*00*SA*P1~SE*3*0001~"
        "ST*850*0002~BEG*00*SA*P2~PO1**3~SE*4*0002~GE*2*1~IEA*1*000000007~"
    )


def test_every_segment_may_be_on_a_line_of_its_own() -> None:
    text = write(x12(segment_newline=True), [("BEG", "1", "850", "00")])
    assert text.splitlines()[2:] == [
        "ST*850*1~",
        "BEG*00~",
        "SE*3*1~",
        "GE*1*1~",
        "IEA*1*000000007~",
    ]
    by_line = replace(ISA, delimiters=replace(USUAL, terminator="\n"))
    text = write(x12(header=by_line, segment_newline=True), [("BEG", "1", "850", "00")])
    assert text.endswith("ST*850*1\nBEG*00\nSE*3*1\nGE*1*1\nIEA*1*000000007\n")


def test_a_change_of_reference_begins_a_set() -> None:
    segments: list[Segment] = [("A", "1", "850"), ("B", "1", None), ("A", "2", "855")]
    assert body(write(x12(), segments)) == "ST*850*1~A~B~SE*4*1~ST*855*2~A~SE*3*2~GE*2"


def test_an_opening_begins_a_set_although_the_reference_is_the_same() -> None:
    segments: list[Segment] = [("ST", "1", "850"), ("A", "1"), ("ST", "1", "850"), ("B", "1")]
    assert body(write(x12(), segments)) == "ST*850*1~A~SE*3*1~ST*850*1~B~SE*3*1~GE*2"


def test_an_opening_keeps_all_its_elements() -> None:
    segments: list[Segment] = [("ST", "1", "837", "837", "1", "005010X222A1", None), ("A", "1")]
    assert body(write(x12(), segments)) == "ST*837*1*005010X222A1~A~SE*3*1~GE*1"


def test_references_may_stand_in_openings_only() -> None:
    segments: list[Segment] = [
        ("ST", None, None, "850", "7"),
        ("A",),
        ("B", "7"),
        ("ST", None, None, "850", "8"),
        ("A",),
    ]
    assert body(write(x12(), segments)) == "ST*850*7~A~B~SE*4*7~ST*850*8~A~SE*3*8~GE*2"


def test_sets_without_a_reference_are_numbered() -> None:
    segments: list[Segment] = [("A",), ("B", ""), ("ST",), ("C",), ("D", "X")]
    text = body(write(x12(set_type="850"), segments))
    assert text == "ST*850*0001~A~B~SE*4*0001~ST*850*0002~C~SE*3*0002~ST*850*X~D~SE*3*X~GE*3"


def test_other_service_segments_are_made_anew() -> None:
    segments: list[Segment] = [
        ("ISA", None, None, "00"),
        ("GS", None, None, "PO"),
        ("ST", "1", "850"),
        ("A", "1"),
        ("SE", "1", None, "99", "1"),
        ("GE", None, None, "9"),
        ("IEA",),
    ]
    assert body(write(x12(), segments)) == "ST*850*1~A~SE*3*1~GE*1"


def test_without_records_there_is_no_group() -> None:
    assert write(x12(), []) == f"{HEAD}IEA*0*000000007~"
    assert write(x12(), [("ISA",), ("IEA",)]) == f"{HEAD}IEA*0*000000007~"
    assert write(x12(header=None), [], headers=[]) == ""


def test_data_keeps_line_breaks_components_and_every_script() -> None:
    segments: list[Segment] = [("N1", "1", "850", "a\r\nb", "x:y:", "Łódź 東京", " ")]
    assert body(write(x12(), segments)) == "ST*850*1~N1*a\r\nb*x:y:*Łódź 東京* ~SE*3*1~GE*1"


def test_binary_data_has_the_length_that_it_declares() -> None:
    segments: list[Segment] = [("BIN", "1", "850", "04", "äö"), ("BIN", "1", "850", "0")]
    assert body(write(x12(), segments)) == "ST*850*1~BIN*04*äö~BIN*0~SE*4*1~GE*1"


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        (("N1", "1", "850", "a", None, "5*8"), "'e03' is '5*8', and '*' is a delimiter"),
        (("N1", "1", "850", "a~\x00"), r"'e01' is 'a~\x00', and '~' is a delimiter"),
        (("ST", "1*", "850"), "'set_ref' is '1*', and"),
        (("ST", "1", "850~"), "'set_type' is '850~', and"),
        (("ST", "1", "850", "850", "1", "x~"), "'e03' is 'x~', and"),
        (("A*", "1", "850"), "'seg_id' is 'A*', which cannot be the tag"),
        ((" A", "1", "850"), "'seg_id' is ' A', which cannot be the tag"),
        (("A\nB", "1", "850"), r"'seg_id' is 'A\nB', which cannot be the tag"),
        (("A\x01", "1", "850"), r"'seg_id' is 'A\x01', which cannot be the tag"),
        (("BIN", "1", "850", "5", "abc"), "BIN declares '5' bytes of data in 'e01', and has 3"),
        (("BIN", "1", "850", "", "a"), "BIN declares '' bytes of data in 'e01', and has 1"),
        (
            ("BDS", "1", "850", "ASC", "x", "ü"),
            "BDS declares 'x' bytes of data in 'e02', and has 2",
        ),
        (("", "1", "850"), "the record has no 'seg_id'"),
        ((None, "1", "850"), "the record has no 'seg_id'"),
        (("A", "2"), "a transaction set begins, and nothing tells its type"),
    ],
)
@pytest.mark.parametrize("pieces", [1, 3])
def test_what_would_be_read_otherwise_is_refused(
    segment: Segment, message: str, pieces: int
) -> None:
    good: list[Segment] = [("A", "1", "850"), ("B", "1", "850")]
    error = refused(x12(), [*good, segment, ("C", "1", "850")], pieces=pieces)
    assert error.record == 3
    assert error.code == "E063"
    assert message in error.message
    assert pickle.loads(pickle.dumps(error)).message == error.message


def test_a_column_that_segments_do_not_have() -> None:
    spec = segment_spec(x12(), 1, [OutputColumn("amount", STRING.nullable())])
    with pytest.raises(WriteError, match="no place for the column 'amount'") as refusal:
        renderer(spec).render(segment_batch(spec, [("A", "1", "850", "1", "2")]))
    assert (refusal.value.code, refusal.value.record) == ("E062", 1)


def test_hidden_names_are_left_out() -> None:
    spec = segment_spec(x12(), 1, [OutputColumn("$ck.id", STRING.nullable())])
    records = segment_batch(spec, [("A", "1", "850", "1", "2")])
    records = records.rename_columns([*records.schema.names[:-1], "$$ck.id"])
    assert renderer(spec).render(records).body.to_pybytes() == b"A*1~"


def test_undeclared_fields_have_their_places_too() -> None:
    spec = replace(segment_spec(x12(), 0), widened=Widened(renamed={"x": ("e02",)}))
    columns: Columns = {name: (STRING, ["A", "B"]) for name in ("seg_id", "set_ref", "set_type")}
    records = batch(columns, [{"e01": "1"}, {"x": 2.0}])
    assert renderer(spec).render(records).body.to_pybytes() == b"A*1~B**2~"
    with pytest.raises(WriteError, match="no place for the column 'y'") as refusal:
        list(render_all(renderer(spec), [records, batch(columns, [{}, {"y": None}])]))
    assert refusal.value.record == 4


def test_values_have_the_texts_that_cells_have() -> None:
    columns: Columns = {
        "seg_id": (STRING, ["A", "B"]),
        "e01": (INT, [7, None]),
        "e02": (ANY, [2.5, True]),
    }
    spec = replace(
        segment_spec(x12(), 0),
        columns=tuple(OutputColumn(name, kind) for name, (kind, _) in columns.items()),
    )
    assert renderer(spec).render(batch(columns)).body.to_pybytes() == b"A*7*2.5~B**true~"


@pytest.mark.parametrize(("kind", "value"), [(ANY, {"a": 1}), (ANY, [1]), (array_of(INT), [1])])
def test_maps_and_arrays_are_refused(kind: Type, value: Value) -> None:
    columns: Columns = {"seg_id": (STRING, ["A", "A"]), "e01": (kind, [None, value])}
    spec = replace(
        segment_spec(x12(), 0),
        columns=tuple(OutputColumn(name, kind) for name, (kind, _) in columns.items()),
    )
    with pytest.raises(WriteError, match="x12 files cannot hold 'e01'") as refusal:
        renderer(spec).render(batch(columns))
    assert (refusal.value.record, refusal.value.code) == (2, "E078")


# The header of the document that was read

OTHER = Header(
    Delimiters(element="|", component="^", terminator="\n", repetition="U"),
    (*ISA.elements[:12], "000000042", "0", "T", "^"),
)


def test_the_header_of_the_first_record_with_its_delimiters() -> None:
    segments: list[Segment] = [("A", "1", "850", "5*8~", "a^b")]
    text = write(x12(header=None), segments, headers=[OTHER.to_text()])
    assert text.startswith("ISA|00|") and "|000000042|0|T|^\nGS|PO|" in text
    assert text.endswith("ST|850|1\nA|5*8~|a^b\nSE|3|1\nGE|1|1\nIEA|1|000000042\n")


def test_records_without_a_header_are_refused() -> None:
    error = refused(
        x12(header=None), [("A", "1", "850")] * 2, headers=[ISA.to_text(), None], pieces=2
    )
    assert (error.record, error.code) == (2, "E064")


@pytest.mark.parametrize("pieces", [1, 2])
def test_records_of_several_interchanges(pieces: int) -> None:
    second = replace(ISA, elements=(*ISA.elements[:12], "000000008", "0", "P", ":"))
    segments: list[Segment] = [("A", "1", "850"), ("B", "1", "850")]
    warnings: list[str] = []
    headers = [ISA.to_text(), second.to_text()]
    text = write(x12(header=None), segments, headers=headers, pieces=pieces, warnings=warnings)
    assert body(text) == "ST*850*1~A~B~SE*4*1~GE*1"
    assert len(warnings) == 1 and "several interchanges" in warnings[0]
    headers[1] = OTHER.to_text()
    with pytest.raises(WriteError, match="other delimiters"):
        write(x12(header=None), segments, headers=headers, pieces=pieces)


def test_a_group_header_with_a_delimiter_of_the_document() -> None:
    dialect = x12(header=None, group_header=("PO", "S|T", "R", "", "", "1", "X", "004010"))
    error = refused(dialect, [("A", "1", "850")], headers=[OTHER.to_text()])
    assert "'GS02' is 'S|T'" in error.message


# Pieces

_TAGS = st.sampled_from(["ST", "SE", "GS", "BEG", "PO1", "N1"])
_ELEMENTS = st.lists(st.none() | st.text("ab:\r\n東", max_size=3), max_size=4)
SEGMENTS = st.lists(
    st.builds(
        lambda tag, reference, elements: (tag, reference, "850", *elements),
        _TAGS,
        st.sampled_from(["1", "2", "", None]),
        _ELEMENTS,
    ),
    max_size=12,
)


@given(SEGMENTS)
def test_it_does_not_matter_where_records_are_cut(segments: list[Segment]) -> None:
    whole = write(x12(), segments)
    assert [write(x12(), segments, pieces=pieces) for pieces in (3, 7)] == [whole, whole]


def test_parts_of_tasks_make_the_same_file(tmp_path: Path) -> None:
    segments: list[Segment] = [
        (tag, str(message), "850", "x" * message)
        for message in range(9)
        for tag in ("ST", "BEG", "PO1", "SE")
    ]
    whole = write(x12(), segments)
    for pieces in (1, 3, 7):
        assert write(x12(), segments, pieces=pieces, parts=tmp_path) == whole
