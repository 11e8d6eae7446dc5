"""What rejected records carry: values with their types, in one text.

The text is made of one small call of the engine, since it stands in the code that every record
runs through: code that grows too long is no longer compiled by Java, for all records.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from clinker.cxl import tagged
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.engine.expressions import Representation, representation
from clinker.engine.expressions.representation import text_literal

MARK = "~"
"""What such a text begins with; tagged texts never do."""
_OPTIONS = (
    "map('ignoreNullFields', 'false', 'timestampNTZFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"
)
_ARRAY, _TAGGED = "[", "any"


def carried_sql(values: Iterable[tuple[str, str, Type]]) -> str:
    """The text of named values, each given by its name, its SQL and its type."""
    fields = [
        f"{text_literal(_code(representation(type_)) + ':' + name)}, {text}"
        for name, text, type_ in values
    ]
    if not fields:
        return f"'{MARK}{{}}'"
    return f"concat('{MARK}', to_json(named_struct({', '.join(fields)}), {_OPTIONS}))"


def is_carried(text: str) -> bool:
    return text.startswith(MARK)


def carried_values(text: str) -> dict[str, Value]:
    """The values of such a text, by name."""
    found: dict[str, Value] = {}
    for key, value in orjson.loads(text[len(MARK) :]).items():
        code, _, name = key.partition(":")
        found[name] = _read(code, value)
    return found


def _code(form: Representation) -> str:
    """How a value of this form is read again."""
    if form.element:
        return _ARRAY + _code(form.element)
    return form.ddl if form.kind else _TAGGED


def _read(code: str, value: Any) -> Value:
    if value is None:
        return None
    if code.startswith(_ARRAY):
        return [_read(code[len(_ARRAY) :], item) for item in value]
    return _READERS[code](value)


def _same(value: Any) -> Value:
    read: Value = value
    return read


_READERS: Mapping[str, Callable[[Any], Value]] = {
    "BOOLEAN": _same,
    "BIGINT": _same,
    "DOUBLE": float,
    "STRING": _same,
    "DATE": dt.date.fromisoformat,
    "TIMESTAMP_NTZ": dt.datetime.fromisoformat,
    _TAGGED: tagged.decode,
}
