"""The file of dead letters: records that were rejected, and why."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import orjson

from clinker.cxl.tagged import decode
from clinker.cxl.values import datetime_text, text_of
from clinker.formats.json_texts import nested_json
from clinker.formats.publication import Publication, Target
from clinker.formats.uuid7 import Uuid7Source
from clinker.frozen import frozen

_COLUMNS = (
    "_cxl_dlq_id",
    "_cxl_dlq_timestamp",
    "_cxl_dlq_source_file",
    "_cxl_dlq_source_name",
    "_cxl_dlq_source_row",
    "_cxl_dlq_stage",
    "_cxl_dlq_route",
    "_cxl_dlq_trigger",
)
_REASON_COLUMNS = (
    "_cxl_dlq_error_category",
    "_cxl_dlq_error_detail",
    "_cxl_dlq_triggering_field",
    "_cxl_dlq_triggering_value",
)
_NEEDS_QUOTES = re.compile('[,"\r\n]')


@frozen(kw_only=True)
class DeadLetter:
    """A rejected record."""

    source_file: str
    source_name: str
    source_row: int | None
    stage: str
    route: str = ""
    trigger: str = ""
    category: str
    detail: str
    field: str = ""
    value: str = ""
    origin: str | None
    """The fields as they came from the source: a tagged map."""


def stage_dead_letters(
    publication: Publication,
    target: Target,
    letters: Iterable[DeadLetter],
    *,
    source_columns: Sequence[str],
    include_reason: bool,
    include_source_row: bool,
) -> int:
    """Stage the file, unless there are no letters; the number of letters."""
    remaining = iter(letters)
    first = next(remaining, None)
    if first is None:
        return 0
    reasons = _REASON_COLUMNS if include_reason else ()
    fields = source_columns if include_source_row else ()
    ids = Uuid7Source()
    with publication.stage(target) as file:
        file.write(_line([*_COLUMNS, *reasons, *fields]))
        for letter in chain([first], remaining):
            cells = [str(ids.next()), _now(), *_place(letter)]
            if include_reason:
                cells += (letter.category, letter.detail, letter.field, letter.value)
            cells += _fields(letter.origin, fields)
            file.write(_line(cells))
            file.records += 1
        return file.records


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")


def _place(letter: DeadLetter) -> tuple[str, ...]:
    row = "" if letter.source_row is None else str(letter.source_row)
    return (
        letter.source_file,
        letter.source_name,
        row,
        letter.stage,
        letter.route,
        letter.trigger,
    )


def _fields(origin: str | None, names: Sequence[str]) -> Iterator[str]:
    values = orjson.loads(origin) if origin and names else {}
    return (_field_text(values.get(name)) for name in names)


def _field_text(tagged: Any) -> str:
    """What a cell shows of what a tagged map holds under a key."""
    if isinstance(tagged, list | dict):
        return nested_json(tagged)
    value = decode(tagged) if isinstance(tagged, str) else tagged
    return datetime_text(value, "T") if isinstance(value, dt.datetime) else text_of(value)


def _line(cells: Iterable[str]) -> bytes:
    return (",".join(map(_cell, cells)) + "\n").encode()


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
