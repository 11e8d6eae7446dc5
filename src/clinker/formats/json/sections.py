"""Sections of JSON documents: objects around the records, found by pointers (RFC 6901)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from clinker.formats.common.documents import convert_sections
from clinker.formats.common.read_spec import Column, FormatError, ReadSpec, Section
from clinker.formats.common.unfolding import Record, find
from clinker.formats.json.records import no_object
from clinker.frozen import frozen

_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


@frozen(eq=False)
class Document:
    """What a file says besides its records."""

    value: Any = None
    """The whole document, but for the elements of the array that its records are in."""
    records_at: tuple[str, ...] | None = None
    """The keys that lead to this array; None where the value has everything."""
    elements: Mapping[str, Any] = field(default_factory=dict)
    """Those elements of it that sections are in, by their index as pointers write it."""


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The keys and indices that a pointer leads through."""
    tokens = pointer.split("/")[1:]
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def list_elements(spec: ReadSpec, records_at: Sequence[str]) -> Iterator[int]:
    """The elements of the array of records that sections are in."""
    depth = len(records_at)
    for section in spec.sections:
        tokens = split_pointer(section.place)
        if tokens[:depth] == tuple(records_at) and _INDEX.fullmatch("".join(tokens[depth:][:1])):
            yield int(tokens[depth])


def read_document(spec: ReadSpec, document: Document, path: str) -> dict[str, Any]:
    """What is wanted of a document; FormatError if a section is no object, or a field unfit."""
    found = {section.name: _find_section(section, document, path) for section in spec.sections}

    def raw(section: Section, column: Column) -> Any:
        return _find_field(section, found[section.name], column.name, document, path)

    return convert_sections(spec, raw, path)


def _find_section(section: Section, document: Document, path: str) -> Record:
    """The object that a section is; an empty one if the document has none, or null."""
    value = document.value
    tokens = split_pointer(section.place)
    for depth, token in enumerate(tokens):
        is_records = tokens[:depth] == document.records_at
        value = _enter(document.elements if is_records else value, token)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise no_object(f"section '{section.name}' at '{section.place}'", value, path)
    return value


def _enter(value: Any, token: str) -> Any:
    """What a value has under a key or an index, null if nothing."""
    match value:
        case list() if _INDEX.fullmatch(token):
            return value[int(token)] if int(token) < len(value) else None
        case dict():
            return value.get(token)
        case _:
            return None


def _find_field(section: Section, members: Record, name: str, document: Document, path: str) -> Any:
    """What a section has for a field: a member of this name, or the end of a path with dots."""
    steps = (name,) if name in members else tuple(name.split("."))
    value = find(members, steps)
    place = (*split_pointer(section.place), *steps)
    if value is not None and place == (document.records_at or ())[: len(place)]:
        raise FormatError(
            f"field '{name}' of section '{section.name}' holds the records of the file",
            path,
            "remove the field from the envelope",
        )
    return value
