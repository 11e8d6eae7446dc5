"""What interchanges say around their records, as columns of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from clinker.formats.common.documents import convert_sections
from clinker.formats.common.read_spec import DOCUMENT, Column, ReadSpec, Section
from clinker.formats.interchange.envelope import Context
from clinker.formats.interchange.grammar import Elements, Grammar, element_at
from clinker.formats.interchange.header import Header
from clinker.formats.interchange.segments import Places

_FIELD = re.compile("e([0-9]{2,4})")
_MOST_KEPT = 1000


class Documents:
    """Tells what records see as `$doc`; sections of inner levels hide others of their names."""

    def __init__(self, spec: ReadSpec, grammar: Grammar, path: str) -> None:
        self._spec = spec
        self._grammar = grammar
        self._path = path
        self._depths = {
            level.section: depth for depth, level in enumerate(grammar.levels) if level.section
        }
        self._headers = {section.name for section in spec.sections} - self._depths.keys()
        self._most_levels = max(
            (self._depth(section.name) + 1 for section in spec.sections), default=0
        )
        self._converted: dict[tuple[Elements, ...], dict[str, Any]] = {}

    @property
    def tags(self) -> frozenset[str]:
        """The segments behind which all is known that declared fields tell."""
        levels = self._grammar.levels[: self._most_levels]
        return frozenset(level.opening for level in levels[-1:])

    def check(self, context: Context) -> None:
        """FormatError if a declared field does not fit its type."""
        self._declared(context)

    def columns(self, contexts: Sequence[Context], which: Places) -> dict[str, pa.Array]:
        """The wanted columns of records, each of which stands in one of the contexts."""
        if not self._spec.document:
            return {}
        places = pa.array(which)
        return {
            field.name: pa.array(
                [self._value(field.name.removeprefix(DOCUMENT), each) for each in contexts],
                field.type,
            ).take(places)
            for field in self._spec.document_schema
        }

    def _value(self, key: str, context: Context) -> Any:
        if not context.opened:
            return None
        if key in self._headers:
            assert context.delimiters
            return Header(context.delimiters, context.opened[0]).to_text()
        declared = self._declared(context)
        if DOCUMENT + key in declared:
            return declared[DOCUMENT + key]
        section, _, name = key.rpartition(".")
        return self._raw(context, section, name)

    def _declared(self, context: Context) -> dict[str, Any]:
        opened = context.opened[: self._most_levels]
        if opened not in self._converted:
            if len(self._converted) == _MOST_KEPT:
                self._converted.clear()

            def raw(section: Section, field: Column) -> str | None:
                return self._raw(context, section.name, field.name)

            self._converted[opened] = convert_sections(self._spec, raw, self._path)
        return self._converted[opened]

    def _raw(self, context: Context, section: str, name: str) -> str | None:
        """An element of the segment that opened the level of a section."""
        field = _FIELD.fullmatch(name)
        depth = self._depth(section)
        if not field or depth >= len(context.opened):
            return None
        return element_at(context.opened[depth], int(field[1])) or None

    def _depth(self, section: str) -> int:
        return self._depths.get(section, 0)
