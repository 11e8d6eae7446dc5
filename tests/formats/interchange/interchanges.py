"""Reading interchanges as a source would, and a reader that goes character by character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinker.cxl.types import SCHEMA_TYPES
from clinker.formats import FORMATS
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.reading import Column, FormatError, ReadSpec, Section
from tests.formats.reading import Record, read, spec_of

ELEMENTS = [f"e{number:02}" for number in range(1, 5)]


def interchange_spec(
    format: str,
    declared: Mapping[str, str] | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    section: str = "interchange",
    document: Sequence[str] = (),
    max_elements: int = 32,
    encoding: str = "utf-8",
    **more: Any,
) -> ReadSpec:
    """What a source reads; without a schema, all columns are text."""
    message = ("set_ref", "set_type") if format == "x12" else ("msg_ref", "msg_type")
    declared = declared or dict.fromkeys(("seg_id", *message, *ELEMENTS), "string")
    dialect = InterchangeDialect(max_elements=max_elements, encoding=encoding)
    sections: tuple[Section, ...] = ()
    if fields is not None:
        typed = tuple(Column(name, SCHEMA_TYPES[type_]) for name, type_ in fields.items())
        sections = (Section(section, "ISA" if format == "x12" else "UNB", typed),)
    spec = spec_of(dialect, declared, **more)
    return replace(spec, format=FORMATS[format], sections=sections, document=tuple(document))


def rows(records: Sequence[Record]) -> list[str]:
    """Records on one line each: the tag, the message or set, and the elements up to the last."""
    lines = []
    for record in records:
        texts = ["" if value is None else value for name, value in record.items() if name[0] != "$"]
        while texts[-1] == "":
            texts.pop()
        lines.append("|".join(texts))
    return lines


def failure(directory: Path, spec: ReadSpec, content: bytes) -> FormatError:
    """What is said about a file that cannot be read, however it is cut."""
    problems = []
    for split_bytes in (1 << 30, 1):
        try:
            read(directory, spec, content, split_bytes=split_bytes)
        except FormatError as problem:
            problems.append(problem)
        else:
            raise AssertionError("the file was read")
    assert problems[0].message == problems[1].message
    return problems[0]
