"""X12 files: their segments as records, and what is said about those that are not sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.interchange.stream import SegmentStream
from clinker.formats.reading import FormatError, read_origins
from clinker.formats.x12.grammar import GRAMMAR
from tests.formats.interchange.interchanges import failure, interchange_spec, rows
from tests.formats.reading import inventory_of, origin, origins_of, read, records_of, rejection

ISA = "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240101*1200*U*00401*"
BODY = "GS*PO*S*R*20240101*1200*1*X*004010~ST*850*0001~BEG*00*SA*PO1~SE*3*0001~GE*1*1~"


def interchange(body: str = BODY, number: str = "000000001", groups: int = 1) -> bytes:
    return f"{ISA}{number}*0*P*:~{body}IEA*{groups}*{number}~".encode()


def one_set(*segments: str, count: int | None = None) -> bytes:
    lines = ["ST*850*0001", *segments, f"SE*{count or len(segments) + 2}*0001"]
    return interchange(f"GS*PO*S*R*20240101*1200*1*X*004010~{'~'.join(lines)}~GE*1*1~")


SPEC = interchange_spec("x12")
ROWS = ["ST|0001|850|850|0001", "BEG|0001|850|00|SA|PO1"]


def test_every_segment_of_a_set_is_a_record(tmp_path: Path) -> None:
    assert rows(read(tmp_path, SPEC, interchange())) == ROWS


@pytest.mark.parametrize(
    "content",
    [
        interchange().replace(b"~", b"~\n"),
        interchange().replace(b"~", b"~\r\n"),
        interchange().replace(b"~", b"~ \t\r\n\n  \x0b\x0c"),
        interchange().replace(b"~", b"~~"),
        interchange() + b"~\n~",
        interchange().replace(b"~", b"\n"),
        interchange().replace(b"~", b"\r\n"),
        interchange().replace(b"*", b"|").replace(b":", b"^"),
        interchange().replace(b"*", b"\x1d").replace(b"~", b"\x1c"),
        interchange().replace(b" ", b""),
        interchange().removesuffix(b"~"),
        interchange().removesuffix(b"~") + b"\n",
        interchange() + b"\n\n\n",
        b"\xef\xbb\xbf" + interchange(),
        b"\n" + interchange(),
        interchange().replace(b"SE*3", b"SE*003"),
        interchange().replace(b"IEA*1*000000001", b"IEA*1* 000000001 "),
    ],
)
def test_the_same_interchange_in_other_clothes(tmp_path: Path, content: bytes) -> None:
    for split_bytes in (1 << 30, 1, 30):
        assert rows(read(tmp_path, SPEC, content, split_bytes=split_bytes)) == ROWS


def test_line_breaks_in_an_element_are_kept(tmp_path: Path) -> None:
    records = read(tmp_path, SPEC, one_set("MSG*a\r\nb\n", "MSG*\nc"))
    assert [record["e01"] for record in records] == ["850", "a\r\nb\n", "\nc"]


def test_empty_and_absent_elements_are_null(tmp_path: Path) -> None:
    records = read(tmp_path, SPEC, one_set("N1**x*", "N2"))
    assert [[record[name] for name in ("e01", "e02", "e03")] for record in records[1:]] == [
        [None, "x", None],
        [None, None, None],
    ]


def test_components_stay_together(tmp_path: Path) -> None:
    assert rows(read(tmp_path, SPEC, one_set("SV1*HC:99213*40")))[1:] == [
        "SV1|0001|850|HC:99213|40"
    ]


def test_values_have_the_types_of_the_schema(tmp_path: Path) -> None:
    spec = interchange_spec("x12", {"seg_id": "string", "e01": "int"}, undeclared="drop")
    good, empty, bad = read(tmp_path, spec, one_set("A*1", "B", "C*x*y"))[1:]
    assert (good["e01"], empty["e01"], bad["e01"]) == (1, None, None)
    assert rejection(bad)["field"] == "e01"
    assert origin(bad) == {
        "seg_id": "C",
        "set_ref": "0001",
        "set_type": "850",
        "e01": "x",
        "e02": "y",
    }


def test_columns_that_no_segment_has_are_null_and_told(tmp_path: Path) -> None:
    spec = interchange_spec("x12", {"seg_id": "string", "amount": "int", "e33": "string"})
    inventory = inventory_of(tmp_path, spec, interchange())
    assert records_of(spec, inventory)[0]["amount"] is None
    assert inventory.warnings == (
        "source 'orders' declares columns 'amount', 'e33', which its files do not have: null",
    )


def test_undeclared_columns_that_hold_something_are_kept(tmp_path: Path) -> None:
    spec = interchange_spec("x12", {"seg_id": "string", "e01": "string"})
    inventory = inventory_of(tmp_path, spec, one_set("A*1**3*"), one_set("B*1"))
    assert inventory.undeclared == ("set_ref", "set_type", "e02", "e03")
    assert records_of(spec, inventory)[1] | {"$pos": 0} == {
        "seg_id": "A",
        "e01": "1",
        "$widened.set_ref": "0001",
        "$widened.set_type": "850",
        "$widened.e02": None,
        "$widened.e03": "3",
        "$pos": 0,
        "$reject": None,
    }


def test_undeclared_elements_may_be_refused(tmp_path: Path) -> None:
    spec = interchange_spec("x12", {"seg_id": "string", "e01": "string"}, undeclared="reject")
    problem = failure(tmp_path, spec, one_set("A*1**3*"))
    assert problem.message == "the schema does not declare columns 'e02', 'e03'"


def test_a_segment_may_not_have_more_elements_than_columns(tmp_path: Path) -> None:
    spec = interchange_spec("x12", max_elements=3)
    assert len(read(tmp_path, spec, one_set("A*1*2*3"))) == 2
    problem = failure(tmp_path, spec, one_set("A*1*2*3*"))
    assert problem.message == (
        "segment 4: A has 4 elements, more than the 3 that 'max_elements' allows"
    )


# Several interchanges


def test_interchanges_follow_each_other_in_delimiters_of_their_own(tmp_path: Path) -> None:
    spec = interchange_spec(
        "x12", {"seg_id": "string", "e03": "string"}, fields={"e13": "int"}, undeclared="drop",
        document=("interchange.e13", "functional_group.e06", "transaction_set.e02"),
    )  # fmt: skip
    second = interchange(number="000000002").replace(b"*", b"|").replace(b"~", b"!\n")
    third = interchange(number="000000003")
    content = interchange() + second + third
    for split_bytes in (1 << 30, 1, 100):
        records = read(tmp_path, spec, content, split_bytes=split_bytes)
        assert [record["e03"] for record in records] == [None, "PO1"] * 3
        assert [record["$doc.interchange.e13"] for record in records] == [1, 1, 2, 2, 3, 3]
        assert {record["$doc.functional_group.e06"] for record in records} == {"1"}
        assert {record["$doc.transaction_set.e02"] for record in records} == {"0001"}


def test_the_whole_header_is_there_for_those_who_write_it_again(tmp_path: Path) -> None:
    spec = interchange_spec("x12", fields={}, document=("interchange",))
    content = interchange().replace(b"*U*", b"*^*")
    header = Header.from_text(read(tmp_path, spec, content)[0]["$doc.interchange"])
    assert len(header.elements) == 16
    assert header.elements[5] == "SENDER         "
    assert header.delimiters.repetition == "^"
    assert header.delimiters.component == ":"


def test_the_innermost_section_of_a_name_counts(tmp_path: Path) -> None:
    spec = interchange_spec(
        "x12", fields={"e06": "int"}, section="functional_group", document=("functional_group.e06",)
    )
    assert read(tmp_path, spec, interchange())[0]["$doc.functional_group.e06"] == 1


def test_a_field_of_the_header_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    spec = interchange_spec("x12", fields={"e06": "int"})
    problem = failure(tmp_path, spec, interchange())
    assert problem.message == (
        "cannot convert 'SENDER         ' in field 'e06' of section 'interchange' to int"
    )


def test_an_interchange_may_hold_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, SPEC, interchange("", groups=0)) == []
    assert read(tmp_path, SPEC, interchange("GS*PO*S*R*1*1*1*X*4~GE*0*1~")) == []


# Binary data


@pytest.mark.parametrize("segment", ["BIN*9*a~b*SE*1~", "BDS*ASC*9*a~b*SE*1~"])
def test_binary_data_is_read_by_its_length(tmp_path: Path, segment: str) -> None:
    content = one_set("A*1", segment, "B*2~BIN*0", "C*BIN*", count=7)
    for split_bytes in (1 << 30, 1):
        records = read(tmp_path, SPEC, content, split_bytes=split_bytes)
        assert [record["seg_id"] for record in records] == ["ST", "A", segment[:3], "B", "BIN", "C"]
        assert "a~b*SE*1~" in records[2].values()


def test_binary_data_may_be_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    data = "~*" * 200_000
    records = read(tmp_path, SPEC, one_set(f"BIN*{len(data)}*{data}", "A"))
    assert records[1]["e02"] == data
    assert records[2]["seg_id"] == "A"


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        ("BIN*x*a", "BIN declares 'x' bytes of data, which is no number"),
        ("BIN*2*a", "BIN declares 2 bytes of data, but does not end behind them"),
        ("BIN*999999*a", "the file ends within the data of 'BIN*999999*a~SE*4*00'"),
    ],
)
def test_binary_data_of_another_length(tmp_path: Path, segment: str, message: str) -> None:
    assert failure(tmp_path, SPEC, one_set("A", segment)).message == f"segment 5: {message}"


def stream_of(blocks: Iterable[bytes], size: int) -> SegmentStream:
    delimiters = Delimiters(element="*", component=":", terminator="~")
    return SegmentStream(
        GRAMMAR, iter(blocks), "file", "utf-8", offset=0, size=size, run_bytes=1 << 10,
        delimiters=delimiters,
    )  # fmt: skip


def test_data_that_the_file_cannot_hold_is_not_read() -> None:
    asked: list[int] = []

    def blocks() -> Iterator[bytes]:
        yield b"BIN*999999999*"
        for number in range(1000):
            asked.append(number)
            yield b"a" * 1000

    with pytest.raises(FormatError, match="segment 1: the file ends within the data of 'BIN"):
        list(stream_of(blocks(), 1_000_014))
    assert len(asked) < 10


def test_data_has_a_longest_length() -> None:
    message = "segment 1: the data of 'BIN.5000000000.aaaaa' is longer than 1 GB"
    with pytest.raises(FormatError, match=message):
        list(stream_of([b"BIN*5000000000*", b"a" * 5000], 1 << 40))


# Files that are not sound


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SE*3", "SE*4", "segment 5: SE01 declares '4' segments, the transaction set has 3"),
        ("SE*3", "SE*x", "segment 5: SE01 declares 'x' segments, the transaction set has 3"),
        ("SE*3*0001", "SE", "segment 5: SE01 declares '' segments, the transaction set has 3"),
        (
            "SE*3*0001",
            "SE*3*0002",
            "segment 5: SE02 is '0002', but the transaction set was opened as '0001'",
        ),
        (
            "GE*1",
            "GE*2",
            "segment 6: GE01 declares '2' transaction sets, the functional group has 1",
        ),
        ("GE*1*1", "GE*1*2", "segment 6: GE02 is '2', but the functional group was opened as '1'"),
        (
            "IEA*1",
            "IEA*0",
            "segment 7: IEA01 declares '0' functional groups, the interchange has 1",
        ),
        (
            "IEA*1*0",
            "IEA*1*9",
            "segment 7: IEA02 is '900000001', but the interchange was opened as '000000001'",
        ),
        (
            "GS*PO",
            "TA1*x~GS*PO",
            "segment 2: TA1 stands outside of a transaction set, between no ST and SE",
        ),
        (
            "GS*PO*S*R*20240101*1200*1*X*004010~",
            "",
            "segment 2: ST stands outside of a functional group: no GS opens it",
        ),
        (
            "SE*3*0001~",
            "",
            "segment 5: GE stands where SE is expected: the transaction set that segment 3 opened "
            "is not closed",
        ),
        (
            "IEA*1*000000001~",
            "",
            "the file ends without IEA: the interchange that segment 1 opened is not closed",
        ),
        (
            "GE*1*1~IEA*1*000000001~",
            "",
            "the file ends without GE: the functional group that segment 2 opened is not closed",
        ),
        (
            "IEA*1*000000001~",
            "IEA*1*000000001~XYZ~",
            "segment 8: 'XYZ~' stands behind IEA, where only ISA may follow",
        ),
        ("ISA*00*", "ISB*00*", "the file begins with 'ISB*00*          *00', not with ISA"),
        (
            "*P*:~",
            "*P~",
            "the ISA segment makes 'O' the segment terminator, which cannot be: it has too few "
            "elements, or is cut off",
        ),
    ],
)
def test_what_is_not_sound_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    content = interchange().decode()
    assert old in content
    assert failure(tmp_path, SPEC, content.replace(old, new).encode()).message == message


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert failure(tmp_path, SPEC, b"").message == "the file is empty"
    assert failure(tmp_path, SPEC, b" \n").message == "the file is empty"


def test_a_header_that_goes_on_is_refused(tmp_path: Path) -> None:
    message = "the ISA header has 1 elements, not 16"
    assert failure(tmp_path, SPEC, b"ISA*" + b"x" * 10_000).message == message
    assert failure(tmp_path, SPEC, b"ISA*00*").message == "the file ends within 'ISA*00*'"


# Encodings


def test_another_encoding_must_be_named(tmp_path: Path) -> None:
    content = one_set("N1*Müller").decode().encode("latin-1")
    problem = failure(tmp_path, SPEC, content)
    assert "is not UTF-8" in problem.message
    assert problem.help and "encoding: latin-1" in problem.help


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "cp037", "utf-8-sig"])
def test_files_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    spec = interchange_spec("x12", encoding=encoding)
    content = one_set("N1*Müller*é", "N2*ß").decode().encode(encoding)
    for split_bytes in (1 << 30, 1):
        records = read(tmp_path, spec, content, split_bytes=split_bytes)
        assert rows(records)[1:] == ["N1|0001|850|Müller|é", "N2|0001|850|ß"]


# Splits


def test_what_records_were_can_be_looked_up(tmp_path: Path) -> None:
    content = one_set(*(f"N1*{number}" for number in range(50)))
    for split_bytes in (1 << 30, 100, 1):
        inventory = inventory_of(tmp_path, SPEC, content, split_bytes=split_bytes)
        found = origins_of(SPEC, inventory)
        assert len(found) == 51
        assert found[7] == {"seg_id": "N1", "set_ref": "0001", "set_type": "850", "e01": "6"}
    assert len(read_origins(SPEC, inventory, inventory.splits[0], [])) == 0


def test_a_large_set_is_cut_too(tmp_path: Path) -> None:
    content = one_set(*(f"N1*{number}" for number in range(20_000)))
    inventory = inventory_of(tmp_path, SPEC, content, split_bytes=50_000)
    assert len(inventory.splits) > 3
    records = records_of(SPEC, inventory)
    assert [record["e01"] for record in records[1:]] == [str(n) for n in range(20_000)]
    assert {record["set_ref"] for record in records} == {"0001"}
    assert [record["$pos"] for record in records] == list(range(1, 20_002))


def test_binary_data_is_not_looked_for_in_delimiters_of_another_interchange(tmp_path: Path) -> None:
    first = interchange("", number="000000002", groups=0).replace(b"~", b"\n")
    second = one_set("S\nBIN*5*a*b", "A*1")
    assert [record["seg_id"] for record in read(tmp_path, SPEC, first + second)] == [
        "ST",
        "S\nBIN",
        "A",
    ]
