"""What rejected records carry: values with their types, in one text.

The text is made of one small call of the engine, since it stands in the code that every record
runs through: code that grows too long is no longer compiled by Java, for all records.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, TypeAlias

import orjson

from clinker.cxl.run import tagged
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import Value
from clinker.engine.expressions import Representation, representation
from clinker.formats.common.column_types import NATIVE

MARK = "~"
"""What such a text begins with; tagged texts never do."""
_OPTIONS = (
    "map('ignoreNullFields', 'false', 'timestampNTZFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"
)
_ARRAY, _TAGGED = "[", "any"
_UTC = "Z"
"""What some engines write behind times that are in no zone."""
_BOXED = "="
"""Before the code of a value that is alone in an array, so that null can be told from nothing."""


def payload_sql(values: Iterable[tuple[str, str, Type]]) -> str:
    """The text of named values, each given by its name, its SQL and its type."""
    box, form = ("", "{}") if current_dialect().json_nulls else (_BOXED, "array({})")
    fields = [
        f"{text_literal(box + _code(representation(type_)) + ':' + name)}, {form.format(text)}"
        for name, text, type_ in values
    ]
    if not fields:
        return f"'{MARK}{{}}'"
    return f"concat('{MARK}', to_json(named_struct({', '.join(fields)}), {_OPTIONS}))"


def is_payload(text: str) -> bool:
    return text.startswith(MARK)


def payload_values(text: str) -> dict[str, Value]:
    """The values of such a text, by name."""
    return _read_all(text, _value_reading)


def payload_leaves(text: str) -> dict[str, Any]:
    """What the JSON of a tagged map has in place of these values, by name."""
    return _read_all(text, _leaf_reading)


def _code(form: Representation) -> str:
    """How a value of this form is read again."""
    if form.element:
        return _ARRAY + _code(form.element)
    return form.ddl if form.kind else _TAGGED


def _same(value: Any) -> Any:
    return value


def _tagged_leaf(text: str) -> Any:
    """Ints, truth and what is nested are written without quotes."""
    return orjson.loads(text) if _UNQUOTED.match(text) else text


_UNQUOTED = re.compile(r"[\[{]|true$|false$|-?[0-9]+$")

_Read: TypeAlias = Callable[[Any], Any]
_Readers: TypeAlias = Mapping[Kind | None, _Read]
"""How values of each kind are read; None is that of tagged texts."""
_VALUES: _Readers = {
    Kind.BOOL: _same,
    Kind.INT: _same,
    Kind.FLOAT: float,
    Kind.STRING: _same,
    Kind.DATE: dt.date.fromisoformat,
    Kind.DATETIME: lambda text: dt.datetime.fromisoformat(text.removesuffix(_UTC)),
    None: tagged.decode,
}
_LEAVES: _Readers = {
    Kind.BOOL: _same,
    Kind.INT: _same,
    Kind.FLOAT: lambda number: tagged.encode(float(number)),
    Kind.STRING: lambda text: tagged.STRING + text,
    Kind.DATE: lambda text: tagged.MOMENT + text,
    Kind.DATETIME: lambda text: tagged.MOMENT + text.removesuffix(_UTC).removesuffix(".000000"),
    None: _tagged_leaf,
}
_KINDS: Mapping[str, Kind | None] = {_TAGGED: None} | {n.ddl: kind for kind, n in NATIVE.items()}
"""The kinds by their codes."""


def _reading(readers: _Readers, key: str) -> tuple[str, _Read]:
    """The name that stands in a key, and how its values are read."""
    code, _, name = key.partition(":")
    return name, _reader(readers, code)


def _reader(readers: _Readers, code: str) -> _Read:
    if code.startswith(_BOXED):
        read = _reader(readers, code.removeprefix(_BOXED))
        return lambda box: None if box[0] is None else read(box[0])
    if not code.startswith(_ARRAY):
        return readers[_KINDS[code]]
    read = _reader(readers, code.removeprefix(_ARRAY))
    return lambda items: [None if item is None else read(item) for item in items]


_value_reading = cache(partial(_reading, _VALUES))
_leaf_reading = cache(partial(_reading, _LEAVES))


def _read_all(text: str, reading: Callable[[str], tuple[str, _Read]]) -> dict[str, Any]:
    found = {}
    for key, value in orjson.loads(text[len(MARK) :]).items():
        name, read = reading(key)
        found[name] = None if value is None else read(value)
    return found
