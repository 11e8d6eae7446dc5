"""Sections of JSON documents: given these bytes and pointers, expect what `$doc` reads."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from clinker.cxl.types import SCHEMA_TYPES
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.json.sections import split_pointer
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    Section,
    input_file,
    take_inventory,
)
from tests.formats.reading import inventory_of, records_of, spec_of

_RECORDS = JsonDialect(record_path="records")


def _spec(
    pointer: str,
    fields: Mapping[str, str],
    dialect: JsonDialect = _RECORDS,
    wanted: tuple[str, ...] | None = None,
) -> ReadSpec:
    """A source with a section `s`, of which all fields are wanted or just some."""
    section = Section("s", pointer, tuple(Column(n, SCHEMA_TYPES[t]) for n, t in fields.items()))
    keys = tuple(f"s.{name}" for name in (fields if wanted is None else wanted))
    plain = spec_of(dialect, {"id": "int"}, undeclared="drop")
    return replace(plain, sections=(section,), document=keys)


def _documents(
    directory: Path, spec: ReadSpec, *contents: bytes, split_bytes: int = 1 << 30
) -> list[tuple[Any, ...]]:
    """For every record, its number and what its document says."""
    inventory = inventory_of(directory, spec, *contents, split_bytes=split_bytes)
    names = ["id", *inventory.document_schema.names]
    return [tuple(r[name] for name in names) for r in records_of(spec, inventory)]


def test_a_head_and_a_foot_stand_on_every_record_whatever_the_splits(tmp_path: Path) -> None:
    rows = b",\n".join(b'{"id": %d}' % number for number in range(7))
    content = b'{"Head": {"id": "A"}, "records": [%b], "Foot": {"count": 7}}' % rows
    head = _spec("/Head", {"id": "string"})
    spec = replace(
        head,
        sections=(*head.sections, Section("f", "/Foot", (Column("count", SCHEMA_TYPES["int"]),))),
        document=("s.id", "f.count"),
    )
    for split_bytes in (1 << 30, 60, 12):
        found = _documents(tmp_path, spec, content, split_bytes=split_bytes)
        assert found == [(number, "A", 7) for number in range(7)]


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", "top"),
        ("/a/b", "inner"),
        ("/with~1slash", "slash"),
        ("/with~0tilde", "tilde"),
        ("/~01", "tilde and one"),
        ("/", "empty key"),
        ("/list/1", "second"),
        ("/list/01", None),
        ("/list/2", None),
        ("/list/-", None),
        (f"/list/{'9' * 5000}", None),
        ("/nowhere", None),
        ("/a/b/x/y", None),
        ("/null", None),
        ("/records/1", "of a record"),
        ("/records/2", None),
    ],
)
def test_pointers(tmp_path: Path, pointer: str, expected: str | None) -> None:
    content = orjson.dumps(
        {
            "x": "top",
            "a": {"b": {"x": "inner"}},
            "with/slash": {"x": "slash"},
            "with~tilde": {"x": "tilde"},
            "~1": {"x": "tilde and one"},
            "": {"x": "empty key"},
            "list": [{}, {"x": "second"}],
            "null": None,
            "records": [{"id": 1}, {"id": 2, "x": "of a record"}],
        }
    )
    spec = _spec(pointer, {"x": "string"})
    for split_bytes in (1 << 30, 5):
        found = _documents(tmp_path, spec, content, split_bytes=split_bytes)
        assert found == [(1, expected), (2, expected)]


def test_split_pointer() -> None:
    assert split_pointer("") == ()
    assert split_pointer("/a~1b/~0~1/") == ("a/b", "~/", "")


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("string", b'"007"', "007"),
        ("string", b"1.10", "1.10"),
        ("string", b"[1, {}]", "[1,{}]"),
        ("int", b'"42"', 42),
        ("int", b"2.0", 2),
        ("int", b'""', None),
        ("int", b"null", None),
        ("float", b"3", 3.0),
        ("bool", b'"yes"', True),
        ("date", b'"2026-01-31"', dt.date(2026, 1, 31)),
        ("date_time", b'"2026-01-31T10:00:00Z"', dt.datetime(2026, 1, 31, 10)),
    ],
)
def test_fields_are_converted_like_columns(
    tmp_path: Path, type_: str, value: bytes, expected: Any
) -> None:
    content = b'{"s": {"x": %b}, "records": [{"id": 1}]}' % value
    assert _documents(tmp_path, _spec("/s", {"x": type_}), content) == [(1, expected)]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (b'{"a": {"b": 1}}', 1),
        (b'{"a": {"b": 1}, "a.b": 2}', 2),
        (b'{"a": 1}', None),
        (b"{}", None),
    ],
)
def test_a_field_with_dots_walks_maps(tmp_path: Path, section: bytes, expected: Any) -> None:
    content = b'{"s": %b, "records": [{"id": 1}]}' % section
    assert _documents(tmp_path, _spec("/s", {"a.b": "int"}), content) == [(1, expected)]


@pytest.mark.parametrize(
    ("pointer", "type_", "message"),
    [
        ("/s", "int", "cannot convert 'abc\\ndef' in field 'x' of section 's' to int"),
        ("/text", "int", "section 's' at '/text' is no object but a text"),
        ("/records", "int", "section 's' at '/records' is no object but an array"),
        ("/records/0", "int", "cannot convert 'no' in field 'x' of section 's' to int"),
        ("/deep", "string", "field 'x' of section 's' is nested too deeply"),
    ],
)
def test_what_does_not_fit_is_an_unreadable_file_wanted_or_not(
    tmp_path: Path, pointer: str, type_: str, message: str
) -> None:
    deep = b"[" * 300 + b"]" * 300
    content = b'{"s": {"x": "abc\\ndef"}, "text": "t", "deep": {"x": %b}, "records": [%b]}' % (
        deep,
        b'{"id": 1, "x": "no"}',
    )
    for wanted in (("x",), ()):
        spec = _spec(pointer, {"x": type_}, wanted=wanted)
        with pytest.raises(FormatError) as problem:
            inventory_of(tmp_path, spec, content)
        assert problem.value.message == message
        assert problem.value.path == str(tmp_path / "0.data")


@pytest.mark.parametrize("field", ["body", "body.records"])
def test_the_records_are_no_field(tmp_path: Path, field: str) -> None:
    spec = _spec("", {field: "string"}, JsonDialect(record_path="body.records"))
    with pytest.raises(FormatError, match=f"field '{field}' of section 's' holds the records"):
        inventory_of(tmp_path, spec, b'{"body": {"records": [{"id": 1}]}}')


def test_a_key_with_dots_is_not_the_path_of_the_records(tmp_path: Path) -> None:
    spec = _spec("", {"body.records": "int"}, JsonDialect(record_path="body.records"))
    content = b'{"body": {"records": [{"id": 1}]}, "body.records": 2}'
    assert _documents(tmp_path, spec, content) == [(1, 2)]


@pytest.mark.parametrize(
    ("content", "dialect", "pointer", "expected"),
    [
        # One object is the only record, and the document.
        (b'{\n"id": 1, "s": {"x": 5}}', JsonDialect(), "/s", [(1, 5)]),
        (b'{"id": 1, "s": {"x": 5}}', JsonDialect(), "/s", [(1, 5)]),
        (b'{"id": 1, "s": {"x": 5}}', JsonDialect(form="object"), "/s", [(1, 5)]),
        (b'{"r": {"id": 1}, "s": {"x": 5}}', JsonDialect(record_path="r"), "/s", [(1, 5)]),
        # An array has no keys, but elements.
        (b'[{"id": 1, "x": 5}, {"id": 2}]', JsonDialect(), "/0", [(1, 5), (2, 5)]),
        (b'[{"id": 1, "x": 5}, {"id": 2}]', JsonDialect(), "/s", [(1, None), (2, None)]),
        (b"", JsonDialect(), "/s", []),
    ],
)
def test_forms_of_files(
    tmp_path: Path,
    content: bytes,
    dialect: JsonDialect,
    pointer: str,
    expected: list[tuple[Any, ...]],
) -> None:
    assert _documents(tmp_path, _spec(pointer, {"x": "int"}, dialect), content) == expected


def test_lines_have_no_sections(tmp_path: Path) -> None:
    content = b'{"id": 1, "s": {"x": 5}}\n{"id": 2, "s": {"x": 6}}\n'
    spec = _spec("/s", {"x": "int"}, JsonDialect())
    assert _documents(tmp_path, spec, content) == [(1, None), (2, None)]
    assert inventory_of(tmp_path, spec, content).warnings == (
        "source 'orders' declares sections, which files with one object per line do not have: null",
    )
    # A damaged line is a rejected record, as without sections.
    spec = _spec("/s", {"x": "int"}, JsonDialect(form="ndjson"))
    assert _documents(tmp_path, spec, b'{"id": 1, "s": {"x": 5}\n') == [(None, None)]


def test_every_file_is_a_document_of_its_own(tmp_path: Path) -> None:
    contents = [b'{"s": {"x": %d}, "records": [{"id": %d}]}' % (n, n) for n in (1, 2)]
    found = _documents(tmp_path, _spec("/s", {"x": "int"}), *contents, b'{"records": [{"id": 3}]}')
    assert found == [(1, 1), (2, 2), (3, None)]


def test_without_files_the_columns_are_known(tmp_path: Path) -> None:
    inventory = take_inventory(_spec("/s", {"x": "date"}), (), 1)
    assert inventory.delivered.field("$doc.s.x").type == "date32[day]"


def test_a_large_file_is_not_held(tmp_path: Path) -> None:
    record = b'{"id": 1, "text": "%b"}' % (b"x" * 1000)
    content = b'{"s": {"x": 5}, "records": [%b]}' % b",".join([record] * 60_000)
    spec = _spec("/records/59999", {"id": "int"})
    inventory_of(tmp_path, spec, b'{"records": []}')  # what is imported once is no memory of ours
    (path := tmp_path / "0.data").write_bytes(content)
    tracemalloc.start()
    inventory = take_inventory(spec, [input_file(0, str(path))], 1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert inventory.documents == ({"$doc.s.id": 1},)
    assert peak < len(content) / 6
