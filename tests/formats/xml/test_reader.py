"""XML: given these bytes, expect those records."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.run.tagged import decode
from clinker.cxl.types import SCHEMA_TYPES
from clinker.formats.reading import ArrayPath, Column, FormatError, ReadSpec, Section
from clinker.formats.xml import reader as xml_reader
from clinker.formats.xml import survey
from clinker.formats.xml.dialect import XmlDialect
from tests.formats.reading import (
    Record,
    inventory_of,
    origin,
    origins_of,
    read,
    records_of,
    rejection,
    spec_of,
    values,
)

_SPLITS = (1 << 30, 200, 64, 1)


def _read(directory: Path, content: bytes, path: str | None, /, **options: Any) -> list[Record]:
    """The records, which are the same wherever the file is cut; undeclared fields as a map."""
    declared = options.pop("declared", {})
    dialect = {
        k: options.pop(k) for k in ("attribute_prefix", "namespace_handling") if k in options
    }
    spec = spec_of(XmlDialect(record_path=path, **dialect), declared, **options)
    results = [read(directory, spec, content, split_bytes=size) for size in _SPLITS]
    assert all(result == results[0] for result in results)
    records = values(results[0])
    for record in records:
        if "$widened" in record:
            record["$widened"] = decode(record["$widened"])
    return records


def _fields(directory: Path, content: str, path: str | None = "//x", **options: Any) -> list[Any]:
    return [r["$widened"] for r in _read(directory, content.encode(), path, **options)]


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("//x", "<r><a><x><i>1</i></x></a><x><i>2</i></x><y><i>9</i></y></r>", ["1", "2"]),
        (
            "/r/a/x",
            "<r><a><x><i>1</i></x></a><x><i>9</i></x><a><x><i>2</i></x></a></r>",
            ["1", "2"],
        ),
        ("r/a/x", "<r><a><x><i>1</i></x></a><b><x><i>9</i></x></b></r>", ["1"]),
        ("//a/x", "<r><a><x><i>1</i></x></a><b><x><i>9</i></x></b></r>", ["1"]),
        ("/r", "<r><i>1</i></r>", ["1"]),
        (None, "<r><i>1</i></r>", ["1"]),
        ("//x", "<r><x><i>1</i><x><i>2</i></x></x><x><i>3</i></x></r>", ["1", "2", "3"]),
        ("/x/r", "<r><x><i>1</i></x></r>", []),
        ("//x", "<r><!-- <x><i>9</i></x> --><x><i>1</i></x><?p <x> ?></r>", ["1"]),
        ("//x", "<r><x><i><![CDATA[<x>]]></i></x></r>", ["<x>"]),
        ("//x", "<r><a n='<!-->' /><x a=\"/>\"><i>1</i></x ></r>".replace("<!-->", ">"), ["1"]),
    ],
)
def test_records_are_the_elements_at_a_path(
    tmp_path: Path, path: str | None, content: str, expected: list[str]
) -> None:
    options: dict[str, Any] = {"declared": {"i": "string"}, "undeclared": "drop"}
    assert [r["i"] for r in _read(tmp_path, content.encode(), path, **options)] == expected


def test_elements_become_texts_maps_and_arrays(tmp_path: Path) -> None:
    content = """<r><x id="5" b=" c "> own <Addr t="h"><City> NYC </City></Addr>
      <Tag>a</Tag><e/><Tag>b</Tag><f></f><g k="v"/><h k="v">t</h>text </x></r>"""
    assert _fields(tmp_path, content) == [
        {
            "@id": "5",
            "@b": " c ",
            "Addr": {"@t": "h", "City": "NYC"},
            "Tag": ["a", "b"],
            "e": "",
            "f": "",
            "g": {"@k": "v"},
            "h": {"@k": "v", "#text": "t"},
            "#text": "own \n      text",
        }
    ]


def test_columns_are_paths(tmp_path: Path) -> None:
    content = b"""<r><x id="007"><Addr t="h"><City>NYC</City><Zip>00501</Zip></Addr>
    <t lang="en">T</t></x><x><Addr>plain</Addr><t/></x><x/></r>"""
    declared = {
        "@id": "string",
        "Addr.@t": "string",
        "Addr.City": "string",
        "Addr.Zip": "int",
        "t": "string",
        "t.@lang": "string",
        "Addr.#text": "string",
    }
    records = _read(tmp_path, content, "//x", declared=declared)
    assert [list(record.values()) for record in records] == [
        ["007", "h", "NYC", 501, "T", "en", None, None],
        [None, None, None, None, "", None, "plain", None],
        [None, None, None, None, None, None, None, None],
    ]


def test_one_occurrence_in_an_array_column_is_an_array_of_one(tmp_path: Path) -> None:
    content = b"<r><x><t>a</t></x><x><t>a</t><t>b</t></x><x/></r>"
    records = _read(tmp_path, content, "//x", declared={"t": "array"})
    assert [r["t"] for r in records] == [['"a'], ['"a', '"b'], None]


def test_map_columns_hold_elements(tmp_path: Path) -> None:
    content = b"<r><x><m><k>1</k></m></x><x><m>text</m></x><x><m/></x></r>"
    records = _read(tmp_path, content, "//x", declared={"m": "map"})
    maps = [decode(r["m"]) for r in records]
    assert maps == [{"k": "1"}, {"#text": "text"}, None]


def test_arrays_unfold(tmp_path: Path) -> None:
    content = b"""<r><x><id>1</id><l s="A">p</l><l s="B"/><t>u</t><t>v</t></x>
    <x><id>2</id><l s="C"/><t>w</t></x><x><id>3</id></x></r>"""
    declared = {"id": "int", "@s": "string", "t": "string"}
    paths = (ArrayPath("$.l"), ArrayPath("t", "join", "|"))
    records = _read(
        tmp_path, content, "//x", declared=declared, array_paths=paths, undeclared="drop"
    )
    assert [list(r.values()) for r in records] == [
        [1, "A", "u|v"],
        [1, "B", "u|v"],
        [2, "C", "w"],
        [3, None, None],
    ]


_NAMESPACES = """<r xmlns="d" xmlns:p="u" xmlns:q="u"><p:x p:a="1" q:b="2" xml:lang="en" c="3">
<i>4</i><p:i>5</p:i></p:x></r>"""


def test_names_lose_their_prefixes_and_may_collide(tmp_path: Path) -> None:
    assert _fields(tmp_path, _NAMESPACES, "//p:x") == [
        {"@a": "1", "@b": "2", "@lang": "en", "@c": "3", "i": ["4", "5"]}
    ]


def test_names_keep_their_prefixes_as_written(tmp_path: Path) -> None:
    assert _fields(tmp_path, _NAMESPACES, "//p:x", namespace_handling="qualify") == [
        {"@p:a": "1", "@q:b": "2", "@xml:lang": "en", "@c": "3", "i": "4", "p:i": "5"}
    ]
    assert _fields(tmp_path, _NAMESPACES, "//x", namespace_handling="qualify") == []


def test_namespaces_of_containers_hold_for_the_records_in_them(tmp_path: Path) -> None:
    content = """<r><a xmlns:n="http://www.w3.org/2001/XMLSchema-instance"><x><i n:nil="1"/></x></a>
    <a xmlns:n="other"><x><i n:nil="true"/></x></a></r>"""
    assert _fields(tmp_path, content) == [{"i": None}, {"i": {"@nil": "true"}}]


def test_the_prefix_of_attributes(tmp_path: Path) -> None:
    content = "<r><x a='1'><a>2</a></x></r>"
    assert _fields(tmp_path, content, attribute_prefix="_") == [{"_a": "1", "a": "2"}]
    assert _fields(tmp_path, content, attribute_prefix="") == [{"a": ["1", "2"]}]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-le", "cp1252"]
)
def test_encodings(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-le").removesuffix("-sig")
    content = f'<?xml version="1.0" encoding="{name}"?><r><é>ä&#8364;</é><é>{"ü" * 300_000}</é></r>'
    records = _read(tmp_path, content.encode(encoding), "/r/é", declared={"#text": "string"})
    assert [r["#text"] for r in records] == ["ä€", "ü" * 300_000]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<r><x></r>", "line 1, column 11: Opening and ending tag mismatch"),
        (b"<r>\n<x/>\n</r>\n<r/>", "line 4, column 1: Extra content"),
        (b"<r><x>&nbsp;</x></r>", "line 1, column 13: Entity 'nbsp' not defined"),
        (b"<r><x a='1' a='2'/></r>", "Attribute a redefined"),
        (b"<r><x>\xff</x></r>", "line 1"),
        (b"<r><x>\0</x></r>", "line 1"),
        (b"<r><x>", "line 1"),
        (b"", "no XML document"),
        (b" \n", "line 2"),
        (b"</r>", "line 1"),
        (b"<r></r></r>", "line 1"),
        (b"<a:r/>\n<r/>", "line 2, column 1: junk after document element"),
        (b"<r :=''></r><", "line 1, column 13"),
        (b"{}", "line 1"),
        (b"<!DOCTYPE r><r/>", "DTD"),
        (b"<?xml version='1.0' encoding='nonsense'?><r/>", "'nonsense', which is not known"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    spec = spec_of(XmlDialect(record_path="//x"), {})
    for split_bytes in _SPLITS:
        with pytest.raises(FormatError) as caught:
            inventory_of(tmp_path, spec, content, split_bytes=split_bytes)
        assert says in str(caught.value)


def _bomb() -> bytes:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE r [<!ENTITY e0 "ha">{entities}]><r>&e11;</r>'.encode()


@pytest.mark.parametrize(
    "content",
    [
        _bomb(),
        b'<!DOCTYPE r [<!ENTITY a "' + b"a" * 100_000 + b'">]><r>' + b"&a;" * 100_000 + b"</r>",
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>',
        b'<!DOCTYPE r SYSTEM "http://localhost:1/r.dtd"><r/>',
        b"<x>" * 10_000 + b"</x>" * 10_000,
        b"<r>" + b"<x>" * 10_000,
    ],
    ids=["laughs", "blow-up", "external entity", "external dtd", "deep", "deep and broken"],
)
def test_hostile_documents_are_refused_at_once(tmp_path: Path, content: bytes) -> None:
    began = time.process_time()
    with pytest.raises(FormatError):
        read(tmp_path, spec_of(XmlDialect(record_path="//x"), {}), content)
    assert time.process_time() - began < 2


def test_values_that_do_not_fit_reject_their_record(tmp_path: Path) -> None:
    spec = spec_of(XmlDialect(record_path="//x"), {"i": "int", "n": "string"}, undeclared="drop")
    rows = b"".join(b"<x><i>%d</i><n>a</n></x>" % n for n in range(20))
    content = b"<r>" + rows + b"<x><i>old</i><n>b</n></x><x><i>1</i><i>2</i></x></r>"
    inventory = inventory_of(tmp_path, spec, content)
    records = records_of(spec, inventory)
    assert [bool(record["$reject"]) for record in records] == [False] * 20 + [True, True]
    assert rejection(records[20])["detail"] == "cannot convert 'old' in column 'i' to int"
    assert origin(records[20]) == {"i": "old", "n": "b"}
    assert rejection(records[21])["value"] == '["1","2"]'
    assert origins_of(spec, inventory)[-2:] == [{"i": "old", "n": "b"}, {"i": ["1", "2"]}]


def test_undeclared_fields_may_be_refused(tmp_path: Path) -> None:
    rows = b"<x><i>1</i></x>" * 9
    content = b"<r>" + rows + b"<x><i>1</i><j><k>2</k></j></x></r>"
    spec = spec_of(XmlDialect(record_path="//x"), {"i": "int"}, undeclared="reject")
    with pytest.raises(FormatError, match=r"record 10 has the field 'j\.k'"):
        read(tmp_path, spec, content)


def test_warnings(tmp_path: Path) -> None:
    spec = spec_of(XmlDialect(record_path="//y"), {"i": "int", "q": "int"})
    warnings = inventory_of(tmp_path, spec, b"<r><x><i/></x></r>").warnings
    assert "declares column 'q', which its files do not have" in warnings[0]
    assert "'record_path: //y', so it has no records" in warnings[1]


# Envelopes


def _section(name: str, place: str, **fields: str) -> Section:
    return Section(name, place, tuple(Column(key, SCHEMA_TYPES[to]) for key, to in fields.items()))


_PAYMENTS = b"""<p n="7"><Head><id>B1</id><day>2026-01-02</day><deep><a k="v"/></deep></Head>
<x><i>1</i></x><Head><id>B2</id></Head><x><i>2</i></x><Sum>  <count>2</count><none/></Sum></p>"""


def test_sections_stand_anywhere(tmp_path: Path) -> None:
    sections = (
        _section("Head", "/p/Head", id="string", day="date", **{"deep.a.@k": "string"}),
        _section("Sum", "p/Sum", count="int", none="string", missing="int"),
        _section("Root", "/p", **{"@n": "int"}),
        _section("Gone", "/p/Gone", id="string"),
    )
    records = _read(
        tmp_path, _PAYMENTS, "/p/x", declared={"i": "int"}, undeclared="drop", sections=sections
    )
    assert [r["i"] for r in records] == [1, 2]
    told = {key.removeprefix("$doc."): value for key, value in records[1].items() if key != "i"}
    assert {key: str(value) for key, value in told.items() if value is not None} == {
        "Head.id": "B1",
        "Head.day": "2026-01-02",
        "Head.deep.a.@k": "v",
        "Sum.count": "2",
        "Root.@n": "7",
    }


def test_a_section_that_does_not_fit_is_an_unreadable_file(tmp_path: Path) -> None:
    spec = spec_of(
        XmlDialect(record_path="//x"), {}, sections=(_section("Head", "/p/Head", id="int"),)
    )
    with pytest.raises(FormatError, match="'B1' in field 'id' of section 'Head' to int"):
        inventory_of(tmp_path, spec, _PAYMENTS)


# The quick way and the exact one


_NAMES = st.sampled_from(["i", "s", "n", "Addr", "x.y", "p:s", "zz"])
_TEXTS = st.text(st.sampled_from("ab<>&\"' \t\n\r\u00e40"), max_size=6)


@st.composite
def _elements(draw: st.DrawFn, depth: int = 0) -> str:
    name = draw(_NAMES)
    attributes = {
        key: draw(_TEXTS) for key in draw(st.sets(st.sampled_from(["k", "p:k", "kk"]), max_size=2))
    }
    opening = name + "".join(
        f"{draw(st.sampled_from([' ', '  ']))}{key}={quoteattr(value)}"
        for key, value in attributes.items()
    )
    parts = [draw(_contents())]
    if depth < 2:
        for inner in draw(st.lists(_elements(depth + 1), max_size=2)):
            parts += [inner, draw(_contents())]
    content = "".join(parts)
    return f"<{opening}/>" if not content else f"<{opening}>{content}</{name}>"


@st.composite
def _contents(draw: st.DrawFn) -> str:
    text = escape(draw(_TEXTS))
    return draw(
        st.sampled_from(
            [text, "", "", "\n  ", f"<!-- <i> -->{text}", "<![CDATA[<i>]]>", "&#13;&#x20AC;", ">"]
        )
    )


@st.composite
def _documents(draw: st.DrawFn) -> bytes:
    plain = "<x k='1' kk='2'><i>1</i><s>a</s></x>".replace("'", '"')
    odd = draw(st.lists(st.lists(_elements(), max_size=4), max_size=5))
    rows = [f"<x>{''.join(children)}</x>" for children in odd]
    for _ in range(draw(st.integers(0, 8))):
        rows.insert(draw(st.integers(0, len(rows))), plain)
    return f"<r xmlns:p='u'>{draw(st.sampled_from(['', '<a/>', ' ']))}{''.join(rows)}</r>".encode()


_ODD_ONES = (
    "<x/>",
    "<x k='1'><i>1</i></x>",
    "<y><x><i>2</i></x></y>",
    "<x> <x><s/></x></x>",
    "<x><i><![CDATA[<x>]]></i></x>",
    "<a:x xmlns:a='b'/>",
    "<!-- <x> -->",
    "</a><a>",
    "text",
)


@st.composite
def _alike(draw: st.DrawFn) -> bytes:
    """Elements that differ in their texts only, most of the time, with an odd one among them."""
    name = draw(st.sampled_from(["x", "x", "x", "p:x"]))
    blanks = st.sampled_from(["", "", "\n", " \t", "\r\n  "])
    is_plain = draw(st.integers(0, 3)) > 0
    keys, names = ["k", "kk", "nil"], ["i", "s", "Addr", "xx", "p:n", "zz", "\u00e4"]
    if not is_plain:
        keys, names = [*keys, "p:k"], [*names, "p:s", "x", "p:x", "x.y"]
    attributes = draw(st.lists(st.sampled_from(keys), max_size=3, unique=True))
    children = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=is_plain))
    empty = {child for child in children if draw(st.integers(0, 5)) == 0}
    before, between, behind, gap = (draw(blanks) for _ in range(4))
    texts = draw(st.sampled_from([_TEXTS, _TEXTS, st.sampled_from(["1", "22", "", " 3", "b>"])]))
    rows = []
    for _ in range(draw(st.integers(1, 9))):
        opening = name + "".join(f" {key}={_quote(draw(texts))}" for key in attributes)
        inner = between.join(
            f"<{child}/>" if child in empty else f"<{child}>{escape(draw(texts))}</{child}>"
            for child in children
        )
        rows.append(f"<{opening}>{before}{inner}{behind}</{name}>{gap}")
    if not is_plain or draw(st.integers(0, 3)) == 0:
        odd = draw(st.sampled_from(_ODD_ONES))
        rows.insert(draw(st.integers(0, len(rows))), odd)
    return f"<r xmlns:p='u'>{gap}<a>{''.join(rows)}</a><Sum><n>1</n></Sum></r>".encode()


def _quote(text: str) -> str:
    return '"' + escape(text, {'"': "&quot;", "\n": "&#10;"}) + '"'


@settings(max_examples=100, deadline=None)
@given(
    _alike(),
    st.sampled_from(["//x", "/r/a/x", "/r/a/*", "//a/p:x"]),
    st.sampled_from(["keep", "drop", "reject"]),
    st.sampled_from(["strip", "qualify"]),
)
def test_what_is_alike_is_read_as_all_else(
    content: bytes, path: str, undeclared: Any, handling: Any
) -> None:
    dialect = XmlDialect(record_path=path, namespace_handling=handling)
    sections = (_section("Sum", "r/Sum", n="int"),)
    spec = spec_of(dialect, _DECLARED, undeclared=undeclared, sections=sections)
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        results = [_outcome(directory, spec, content, size) for size in _SPLITS]
        patch.setattr(xml_reader, "BLOCK_BYTES", 150)
        patch.setattr(survey, "BLOCK_BYTES", 110)
        results += [_outcome(directory, spec, content, size) for size in _SPLITS]
        patch.undo()
        patch.setattr(xml_reader, "FieldReader", _NeverQuick)
        patch.setattr(survey, "find_siblings", lambda *_: None)
        exact = [_outcome(directory, spec, content, size) for size in _SPLITS]
    assert results == exact * 2


@pytest.mark.parametrize("block_bytes", [60, 700, 5000])
@pytest.mark.parametrize(("levels", "is_refused"), [(250, False), (251, True)])
def test_an_element_among_its_like_may_be_too_deep(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block_bytes: int,
    levels: int,
    is_refused: bool,
) -> None:
    monkeypatch.setattr(survey, "BLOCK_BYTES", block_bytes)
    plain, inside = b"<x><i>1</i></x>" * 50, levels - 2
    deep = b"<x>" + b"<a>" * inside + b"</a>" * inside + b"</x>"
    spec = spec_of(XmlDialect(record_path="//x"), {"i": "int"}, undeclared="drop")
    outcome = _outcome(str(tmp_path), spec, b"<r>" + plain + deep + plain + b"</r>", 1 << 30)
    assert isinstance(outcome, str) == is_refused


def _outcome(directory: str, spec: ReadSpec, content: bytes, split_bytes: int) -> Any:
    """Where the file is cut, and the records; or what is wrong with them."""
    try:
        inventory = inventory_of(Path(directory), spec, content, split_bytes=split_bytes)
        splits = [(s.start, s.end, s.first_row, s.records) for s in inventory.splits]
        layouts = [layout.opened for layout in inventory.layouts]
        return splits, layouts, records_of(spec, inventory)
    except FormatError as problem:
        return str(problem)


_DECLARED = {
    "@k": "string",
    "i": "int",
    "s": "string",
    "s.@k": "string",
    "Addr.n": "string",
    "Addr.n.s": "string",
    "x.y": "string",
}


@settings(max_examples=300, deadline=None)
@given(_documents(), st.sampled_from(["keep", "drop"]), st.sampled_from(["strip", "qualify"]))
def test_both_ways_give_the_same(content: bytes, undeclared: Any, handling: Any) -> None:
    dialect = XmlDialect(record_path="//x", namespace_handling=handling)
    spec = spec_of(dialect, _DECLARED, undeclared=undeclared)
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        results = [read(Path(directory), spec, content, split_bytes=size) for size in _SPLITS]
        patch.setattr(xml_reader, "BLOCK_BYTES", 37)
        patch.setattr(survey, "BLOCK_BYTES", 23)
        results.append(read(Path(directory), spec, content, split_bytes=100))
        patch.setattr(xml_reader, "FieldReader", _NeverQuick)
        exact = read(Path(directory), spec, content)
    assert all(result == exact for result in results)


class _NeverQuick:
    is_able = False

    def __init__(self, *_: object) -> None:
        pass
