"""The parts of a document around its records that are wanted of it."""

from __future__ import annotations

from typing import Any

from clinker.formats.common.documents import convert_sections
from clinker.formats.common.read_spec import Column, ReadSpec, Section
from clinker.formats.common.unfolding import Record, find
from clinker.formats.xml.dialect import XmlDialect, parse_path
from clinker.formats.xml.records import ElementReader, take_text
from clinker.formats.xml.search import ElementSearch, Found


class SectionSearch:
    """Looks for the first element of each section, in what stands outside of records."""

    def __init__(self, spec: ReadSpec, dialect: XmlDialect, path: str) -> None:
        self._spec = spec
        self._path = path
        self._reader = ElementReader(dialect)
        self._is_inside_records = dialect.record_path is None
        self._sought = {
            section.name: ElementSearch(
                parse_path(section.place.lstrip("/"), dialect.strips), strips=dialect.strips
            )
            for section in spec.sections
        }
        self._fields: dict[str, Record] = {}

    def look(self, found: Found) -> None:
        """The next part of the document, and the records in it."""
        if not self._sought:
            return
        text = found.tags.text[: found.end]
        if not self._is_inside_records:
            begins = [0, *found.ends.tolist()]
            ends = [*found.starts.tolist(), found.end]
            text = b"".join(text[b:e] for b, e in zip(begins, ends, strict=True))
        self.look_outside(text)

    def look_outside(self, text: bytes) -> None:
        """The next part of the document without the records in it."""
        for name, search in list(self._sought.items()):
            sections = self._reader.read(search.look(text))
            if sections:
                self._fields[name] = sections[0][0]
                del self._sought[name]

    def values(self) -> dict[str, Any]:
        """What is wanted of the document; FormatError if a field does not fit its type."""
        return convert_sections(self._spec, self._raw, self._path)

    def _raw(self, section: Section, field: Column) -> Any:
        value = find(self._fields.get(section.name, {}), field.name.split("."))
        while isinstance(value, list):
            value = value[0]
        return take_text(value) or None
