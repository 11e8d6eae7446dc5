"""What rejected records carry: values with their types, in one text.

The text is made of one small call of the engine, since it stands in the code that every record
runs through: code that grows too long is no longer compiled by Java, for all records.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

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
    return _read_all(text, _VALUES)


def carried_leaves(text: str) -> dict[str, Any]:
    """What the JSON of a tagged map has in place of these values, by name."""
    return _read_all(text, _LEAVES)


def _code(form: Representation) -> str:
    """How a value of this form is read again."""
    if form.element:
        return _ARRAY + _code(form.element)
    return form.ddl if form.kind else _TAGGED


_Readers: TypeAlias = Mapping[str, Callable[[Any], Any]]


def _read_all(text: str, readers: _Readers) -> dict[str, Any]:
    found = {}
    for key, value in orjson.loads(text[len(MARK) :]).items():
        code, _, name = key.partition(":")
        found[name] = _read(code, value, readers)
    return found


def _read(code: str, value: Any, readers: _Readers) -> Any:
    if value is None:
        return None
    if code.startswith(_ARRAY):
        return [_read(code[len(_ARRAY) :], item, readers) for item in value]
    return readers[code](value)


def _same(value: Any) -> Any:
    return value


_VALUES: _Readers = {
    "BOOLEAN": _same,
    "BIGINT": _same,
    "DOUBLE": float,
    "STRING": _same,
    "DATE": dt.date.fromisoformat,
    "TIMESTAMP_NTZ": dt.datetime.fromisoformat,
    _TAGGED: tagged.decode,
}
_LEAVES: _Readers = {
    "BOOLEAN": _same,
    "BIGINT": _same,
    "DOUBLE": lambda number: tagged.encode(float(number)),
    "STRING": lambda text: tagged.STRING + text,
    "DATE": lambda text: tagged.MOMENT + text,
    "TIMESTAMP_NTZ": lambda text: tagged.MOMENT + text.removesuffix(".000000"),
    _TAGGED: lambda text: orjson.loads(text) if text[0] in "[{" else text,
}
