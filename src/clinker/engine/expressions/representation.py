"""Values in the forms that columns hold them in, as SQL: literals, kinds, and other forms."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING

from clinker.cxl.run.tagged import encode
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.tagged import number_sql
from clinker.cxl.sql.text import int_literal, tagged_float_sql, text_literal
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import Value
from clinker.formats.common.column_types import TAGGED, Representation, representation

if TYPE_CHECKING:
    from clinker.engine.expressions.scope import Scope

_MOMENTS = Kind.DATE | Kind.DATETIME
_NUMBERS = Kind.INT | Kind.FLOAT


# Literals


def literal(value: Value, type_: Type) -> str:
    """SQL for a value, in the form of `type_`."""
    form = representation(type_)
    if value is None:
        return null(form)
    if form.element and isinstance(value, list):
        items = ", ".join(literal(item, type_.element_type) for item in value)
        return f"CAST(array({items}) AS {form.ddl})"
    if form.is_tagged:
        tagged = encode(value)
        assert tagged is not None
        return text_literal(tagged)
    return _scalar(value)


def null(form: Representation) -> str:
    return f"CAST(NULL AS {form.ddl})"


def _scalar(value: Value) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return int_literal(value)
        case float():
            return f"{value!r}D" if math.isfinite(value) else f"CAST('{value}' AS DOUBLE)"
        case dt.datetime():
            return f"TIMESTAMP_NTZ'{value.isoformat(' ')}'"
        case dt.date():
            return f"DATE'{value.isoformat()}'"
        case str():
            return text_literal(value)
    raise AssertionError(value)


# Kinds of tagged values


def is_of_kind(text: str, kind: Kind, type_: Type) -> str:
    """Whether a tagged value of this type is of one of its kinds; null for null."""
    possible = type_.kinds & ~Kind.NULL
    match kind:
        case _ if possible == kind:
            return f"({text} IS NOT NULL)"
        case Kind.STRING:
            return f"startswith({text}, '\"')"
        case Kind.ARRAY:
            return f"startswith({text}, '[')"
        case Kind.MAP:
            return f"startswith({text}, '{{')"
        case Kind.BOOL:
            return f"({text} IN ('true', 'false'))"
        case Kind.DATE if kind == possible & _MOMENTS:
            return f"startswith({text}, '@')"
        case Kind.DATETIME if kind == possible & _MOMENTS:
            return f"startswith({text}, '@')"
        case Kind.DATE:
            return f"(startswith({text}, '@') AND length({text}) = 11)"
        case Kind.DATETIME:
            return f"(startswith({text}, '@') AND length({text}) > 11)"
        case Kind.INT if possible == _NUMBERS:
            return f"(NOT {_is_float(text)})"
        case Kind.FLOAT if possible == _NUMBERS:
            return _is_float(text)
        case Kind.INT:
            return f"({text} RLIKE '^-?[0-9]+$')"
        case Kind.FLOAT:
            return f"({text} RLIKE '^(#|-?([0-9]+[.]|I|N))')"
    raise AssertionError(kind)


CODES = {
    Kind.BOOL: "'B'",
    Kind.INT: "'I'",
    Kind.FLOAT: "'F'",
    Kind.STRING: "'S'",
    Kind.DATE: "'D'",
    Kind.DATETIME: "'T'",
    Kind.ARRAY: "'A'",
    Kind.MAP: "'M'",
}


def kind_code(text: str, type_: Type) -> str:
    """A letter that tells the kind of a tagged value of this type; null for null."""
    possible = type_.kinds & ~Kind.NULL
    number = f"WHEN {_is_float(text)} THEN 'F' WHEN {text} IS NOT NULL THEN 'I'"
    if possible == _NUMBERS:
        return f"CASE {number} END"
    return (
        f"CASE left({text}, 1) WHEN '\"' THEN 'S' WHEN '@' THEN if(length({text}) = 11, 'D', 'T')"
        f" WHEN '[' THEN 'A' WHEN '{{' THEN 'M' WHEN 't' THEN 'B' WHEN 'f' THEN 'B'"
        f" ELSE CASE {number} END END"
    )


def _is_float(number: str) -> str:
    """Whether a tagged number is a Float: it has a point, is as a file has it, or ends as `NaN` and
    `Infinity` do."""
    return f"(contains({number}, '.') OR startswith({number}, '#') OR right({number}, 1) > '9')"


# Conversions


def recast(scope: Scope, text: str, own: Type, wanted: Type) -> str:
    """A value of one type in the representation of a wider one."""
    source, target = representation(own), representation(wanted)
    if own.is_null:
        return literal(None, wanted)
    if source.kind and target.kind and source != target:
        return f"CAST({text} AS {target.ddl})"
    return convert(scope, text, source, target)


def convert(
    scope: Scope,
    text: str,
    source: Representation,
    target: Representation,
    where: str | None = None,
) -> str:
    """A value in another form; null where a tagged value is not of the kind that `target` holds.

    If that is known, `where` is the SQL that tells.
    """
    if source == target:
        return text
    if target.is_tagged:
        return to_tagged(scope, text, source)
    if source.is_tagged:
        return from_tagged(scope, text, target, where)
    assert source.element
    assert target.element
    inner, outer = source.element, target.element
    return scope.over(text, "transform", lambda x: convert(scope, x, inner, outer))


def to_tagged(scope: Scope, text: str, source: Representation) -> str:
    """The tagged text of a value."""
    if source.element:
        return _array_to_tagged(scope, text, source.element)
    match source.kind:
        case Kind.INT | Kind.BOOL:
            return f"CAST({text} AS STRING)"
        case Kind.FLOAT:
            return tagged_float_sql(scope.bind(text))
        case Kind.STRING:
            return f"concat('\"', {text})"
        case Kind.DATE:
            return f"concat('@', CAST({text} AS STRING))"
        case Kind.DATETIME:
            # Spark drops zeros at the end of a fraction.
            plain = scope.bind(f"CAST({text} AS STRING)")
            padded = f"if(contains({plain}, '.'), rpad({plain}, 26, '0'), {plain})"
            return f"concat('@', replace({padded}, ' ', 'T'))"
        case _:
            return text


def _array_to_tagged(scope: Scope, text: str, element: Representation) -> str:
    if element.kind is Kind.STRING and current_dialect().json_letters:
        tagged = scope.over(text, "transform", lambda x: f"concat('\"', {x})")
        return f"to_json({tagged})"
    array = scope.bind(text)
    items = scope.over(array, "transform", lambda x: json_fragment(scope, x, element))
    # For no array there is no text, though there is one of its (no) items.
    return f"if({array} IS NULL, NULL, concat('[', array_join({items}, ','), ']'))"


def json_fragment(scope: Scope, text: str, source: Representation) -> str:
    """What stands for a value inside the text of an array or a map."""
    match source.kind:
        case Kind.INT | Kind.BOOL:
            return f"coalesce(CAST({text} AS STRING), 'null')"
        case Kind.FLOAT | Kind.DATE | Kind.DATETIME:
            return f"coalesce(concat('\"', {to_tagged(scope, text, source)}, '\"'), 'null')"
        case Kind.STRING:
            return f"coalesce({_json_string(scope, text)}, 'null')"
    if source.element:
        return f"coalesce({to_tagged(scope, text, source)}, 'null')"
    tagged = scope.bind(text)
    return (
        f"CASE WHEN {tagged} IS NULL THEN 'null'"
        f" WHEN startswith({tagged}, '\"') THEN {_json_string(scope, f'substr({tagged}, 2)')}"
        f" WHEN {tagged} RLIKE '^([{{\\\\[tf]|-?[0-9]+$)' THEN {tagged}"
        f" ELSE concat('\"', {tagged}, '\"') END"
    )


def _json_string(scope: Scope, text: str) -> str:
    """The JSON string of a tagged text whose quotation mark is not yet there."""
    plain = f"regexp_replace(to_json(array(concat('\"', {text}))), '^.|.$', '')"
    if current_dialect().json_letters:
        return plain
    escaped = f"concat('\"', {text})"
    for character, escape in _ESCAPES.items():
        escaped = f"replace({escaped}, char({character}), {text_literal(escape)})"
    lettered = text_literal(_LETTERED)
    return f"if({text} RLIKE {lettered}, concat('\"', {escaped}, '\"'), {plain})"


_SHORT = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
_ESCAPES = {ord("\\"): r"\\", ord('"'): r"\""} | {
    number: _SHORT.get(number, f"\\u{number:04X}") for number in range(32)
}
"""How characters are written in the text of JSON, by their numbers, in the order of replacement."""
_LETTERED = r"[\x0b\x0e\x0f\x1a-\x1f]"
"""Control characters in whose numbers there are letters."""


def from_tagged(scope: Scope, text: str, target: Representation, where: str | None) -> str:
    """The value of a tagged text of the kind that `target` holds; null where it has another."""
    if target.element:
        items = f"from_json({text}, 'ARRAY<STRING>')"
        return convert(scope, items, Representation(element=TAGGED), target)
    match target.kind:
        case Kind.BOOL:
            return f"({text} = 'true')"
        case Kind.STRING:
            return f"substr({text}, 2)"
        # Where a value is of another kind the cast must not even be tried: it would raise inside,
        # which costs more than everything else together.
        case Kind.INT:
            return f"TRY_CAST(if({where or _looks_like_int(text)}, {text}, NULL) AS BIGINT)"
        case Kind.FLOAT:
            is_number = where or _looks_like_number(text)
            return f"TRY_CAST(if({is_number}, {number_sql(text)}, NULL) AS DOUBLE)"
        case _:
            moment = f"if(startswith({text}, '@'), substr({text}, 2), NULL)"
            return f"TRY_CAST({moment} AS {target.ddl})"


def _looks_like_int(text: str) -> str:
    return f"{text} RLIKE '^-?[0-9]+$'"


def _looks_like_number(text: str) -> str:
    return f"{text} RLIKE '^(#|-?[0-9IN])'"
