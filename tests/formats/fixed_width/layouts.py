"""Layouts for tests, written shortly."""

from __future__ import annotations

from typing import Any

from clinker.formats.fixed_width.dialect import FixedField, FixedWidthDialect, RecordLayout


def field(name: str, start: int, width: int, **settings: Any) -> FixedField:
    return FixedField(name=name, start=start, end=start + width, **settings)


def dialect(*fields: FixedField, **settings: Any) -> FixedWidthDialect:
    return FixedWidthDialect(records=(RecordLayout(fields=fields),), **settings)
