"""XML files: given these values, those bytes."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from clinker.cxl.types import ANY, BOOL, DATE, DATETIME, FLOAT, INT, STRING, array_of
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import Split, Widened, WriteError
from clinker.formats.files.assembly import assemble, write_document
from clinker.formats.files.parts import write_part
from clinker.formats.files.publication import Publication, Target
from clinker.formats.renderer import renderer
from clinker.formats.xml.dialect import XmlDialect
from tests.formats.reading import read, spec_of
from tests.formats.records import Columns, batch, spec, xml_text

_XSI = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def test_an_element_for_every_record_and_column() -> None:
    columns: Columns = {"a": (INT, [1, 2]), "b": (STRING, ["x", ""])}
    assert xml_text(columns) == (
        "<Root><Record><a>1</a><b>x</b></Record><Record><a>2</a><b/></Record></Root>"
    )
    assert xml_text(columns, root_element="d", record_element="r").startswith("<d><r><a>1</a>")


def test_no_records() -> None:
    assert xml_text({"a": (INT, [])}) == "<Root/>"
    assert xml_text({"a": (INT, [])}, preserve_nulls=True) == "<Root/>"


def test_values_are_written_as_in_cells() -> None:
    columns: Columns = {
        "f": (FLOAT, [88.0]),
        "b": (BOOL, [True]),
        "d": (DATE, [dt.date(2024, 1, 15)]),
        "t": (DATETIME, [dt.datetime(2024, 1, 15, 10, 30, 0, 250_000)]),
        "n": (ANY, [1.0]),
    }
    assert xml_text(columns) == (
        "<Root><Record><f>88</f><b>true</b><d>2024-01-15</d><t>2024-01-15T10:30:00.250</t>"
        "<n>1</n></Record></Root>"
    )


def test_names_with_dots_share_their_parents() -> None:
    columns: Columns = {
        "Addr.City": (STRING, ["NYC"]),
        "id": (INT, [1]),
        "Addr.Zip": (STRING, ["1"]),
        "@k": (STRING, ['"<']),
        "Addr.@t": (STRING, ["h"]),
        "n.@u": (STRING, ["kg"]),
        "n.#text": (INT, [5]),
    }
    assert xml_text(columns) == (
        '<Root><Record k="&quot;&lt;"><Addr t="h"><City>NYC</City><Zip>1</Zip></Addr><id>1</id>'
        '<n u="kg">5</n></Record></Root>'
    )


def test_only_attributes() -> None:
    assert xml_text({"@a": (INT, [1, None])}) == '<Root><Record a="1"/><Record a=""/></Root>'
    written = xml_text({"@a": (INT, [1, None])}, preserve_nulls=True)
    assert written == '<Root><Record a="1"/><Record/></Root>'


def test_nulls() -> None:
    columns: Columns = {
        "a": (INT, [1, None]),
        "b.@c": (STRING, ["x", "y"]),
        "b": (STRING, ["t", None]),
    }
    assert xml_text(columns) == (
        '<Root><Record><a>1</a><b c="x">t</b></Record><Record><a/><b c="y"/></Record></Root>'
    )
    assert xml_text(columns, preserve_nulls=True) == (
        f'<Root{_XSI}><Record><a>1</a><b c="x">t</b></Record>'
        '<Record><a xsi:nil="true"/><b c="y" xsi:nil="true"/></Record></Root>'
    )
    assert xml_text({"a": (STRING, [' xsi:nil="true"/>'])}, preserve_nulls=True) == (
        '<Root><Record><a> xsi:nil="true"/&gt;</a></Record></Root>'
    )


def test_arrays_are_repeated_elements() -> None:
    columns: Columns = {
        "t": (array_of(STRING), [["a", "", None, "&"], [], None]),
        "u": (ANY, [["x", 1.0, None, True, [1]], "y", None]),
    }
    assert xml_text(columns) == (
        "<Root><Record><t>a</t><t/><t/><t>&amp;</t><u>x</u><u>1</u><u/><u>true</u><u>[1]</u></Record>"
        "<Record><u>y</u></Record><Record><t/><u/></Record></Root>"
    )


def test_undeclared_fields_are_written_where_they_are() -> None:
    widened = Widened(names=("@k", "b", "c"))
    values: list[Any] = [{"b": "x", "@k": "1"}, {"c": ["y", "z"]}, None, {"b": None}]
    written = xml_text({"a": (INT, [1, 2, 3, 4])}, widened=widened, widened_values=values)
    assert written == (
        '<Root><Record k="1"><a>1</a><b>x</b></Record><Record><a>2</a><c>y</c><c>z</c></Record>'
        "<Record><a>3</a></Record><Record><a>4</a><b/></Record></Root>"
    )


@pytest.mark.parametrize("name", ["full name", "1a", "", "a..b", "@", "a.@", "@a.b", "$x", "a:b"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(WriteError, match="no name that an element or an attribute can have"):
        xml_text({name: (INT, [1])})


@pytest.mark.parametrize(
    ("columns", "record"),
    [
        ({"a": (STRING, ["x", "\x01"])}, 2),
        ({"@a": (STRING, ["\ufffe"])}, 1),
        ({"a": (array_of(STRING), [[], ["x", "y"], ["z", "\x00"]])}, 3),
        ({"a": (ANY, ["x", ["\x1f"]])}, 2),
    ],
)
def test_characters_that_xml_cannot_hold(columns: Columns, record: int) -> None:
    with pytest.raises(WriteError, match=r"in column '@?a' has a character that XML") as caught:
        xml_text(columns)
    assert caught.value.record == record


@pytest.mark.parametrize("names", [("a", "a.#text"), ("b.a.#text", "b.a")])
def test_two_columns_are_not_the_text_of_one_element(names: tuple[str, str]) -> None:
    with pytest.raises(WriteError, match="would be the text of the same element") as caught:
        xml_text({name: (INT, [1]) for name in names})
    assert caught.value.code == "E079"


@pytest.mark.parametrize("value", [{"k": 1}, [{"k": 1}]])
def test_maps_are_refused(value: Any) -> None:
    with pytest.raises(WriteError, match="xml files cannot hold 'a', which is a Map") as caught:
        xml_text({"a": (ANY, [1, value])})
    assert (caught.value.code, caught.value.record) == ("E078", 2)


@pytest.mark.parametrize("are_parts", [False, True])
def test_every_file_of_a_split_declares_what_it_needs(tmp_path: Path, are_parts: bool) -> None:
    columns: Columns = {"a": (INT, [1, 2, None, 4, 5])}
    written = spec(columns, format="xml", split=Split(max_records=2), preserve_nulls=True)
    records = batch(columns)
    pieces: list[Any] = (
        [write_part(tmp_path, written, [records])]
        if are_parts
        else list(render_all(renderer(written), [records]))
    )
    with Publication("run") as publication:
        target = Target(path=tmp_path / "out.xml")
        assert assemble(publication, target, written, pieces, print) == 5
        publication.commit()
    texts = [(tmp_path / f"out_000{n}.xml").read_text() for n in (1, 2, 3)]
    assert texts == [
        "<Root><Record><a>1</a></Record><Record><a>2</a></Record></Root>",
        f'<Root{_XSI}><Record><a xsi:nil="true"/></Record><Record><a>4</a></Record></Root>',
        "<Root><Record><a>5</a></Record></Root>",
    ]


_TEXT = st.text(
    st.characters(exclude_categories=["Cs"]).filter(
        lambda c: c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff")
    )
)


@settings(deadline=None)
@given(st.lists(st.tuples(_TEXT, st.none() | _TEXT, st.none() | _TEXT), min_size=1))
def test_what_is_written_is_read_again(rows: list[tuple[str, str | None, str | None]]) -> None:
    """Up to the blanks around the text of an element."""
    names = ("a.b", "a", "@c")
    columns: Columns = {n: (STRING, [r[at] for r in rows]) for at, n in enumerate(names)}
    columns = {"a.b": columns["a.b"], "d": columns["a"], "@c": columns["@c"]}
    form = renderer(spec(columns, format="xml", preserve_nulls=True))
    file = io.BytesIO()
    write_document(file, form, render_all(form, [batch(columns)]))
    etree.fromstring(file.getvalue())
    reading = spec_of(XmlDialect(record_path="/Root/Record"), dict.fromkeys(columns, "string"))
    with TemporaryDirectory() as directory:
        again = read(Path(directory), reading, file.getvalue())
    blanks = " \t\r\n"
    assert [(r["a.b"], r["d"], r["@c"]) for r in again] == [
        (a.strip(blanks), None if b is None else b.strip(blanks), c) for a, b, c in rows
    ]
