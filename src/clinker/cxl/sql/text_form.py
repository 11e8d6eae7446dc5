"""The text form of values (`values.text_of`) as Spark SQL."""

from __future__ import annotations

from clinker.cxl.sql.tagged import TOKEN, tokens_sql
from clinker.cxl.sql.text import datetime_text_sql, float_text_sql
from clinker.cxl.types import Kind, Type

# The variables of lambdas. No field is called so, and no form brings operands into these lambdas.
_ITEM = "`$item{}`"


def text_form_sql(x: str, type_: Type) -> str:
    """The text form of the value `x`, a name or a literal, of this type; null for null."""
    return _text(x, type_, depth=0)


def _text(x: str, type_: Type, depth: int) -> str:
    match type_.kinds & ~Kind.NULL:
        case Kind.STRING:
            return x
        case Kind.INT | Kind.BOOL | Kind.DATE:
            return f"CAST({x} AS STRING)"
        case Kind.FLOAT:
            return float_text_sql(x)
        case Kind.DATETIME:
            return datetime_text_sql(x)
        case Kind.ARRAY:
            return _array_text(x, type_.element_type, depth)
        case Kind.MAP:
            return _nested_text(x)
        case _:
            return (
                f"CASE WHEN startswith({x}, '[') OR startswith({x}, '{{') THEN {_nested_text(x)}"
                f" ELSE {_scalar_text(x)} END"
            )


def joined_sql(array: str, element: Type, delimiter: str) -> str:
    """The text forms of all elements, null as nothing, with a delimiter between them."""
    return _joined(array, element, delimiter, depth=0)


def _joined(array: str, element: Type, delimiter: str, depth: int) -> str:
    item = _ITEM.format(depth)
    text = _text(item, element, depth + 1)
    texts = array if text == item else f"transform({array}, {item} -> {text})"
    return f"array_join({texts}, {delimiter}, '')"


def _array_text(array: str, element: Type, depth: int) -> str:
    items = _joined(array, element, "', '", depth)
    return f"concat('[', {items}, ']')"


def _scalar_text(tagged: str) -> str:
    """The text form of a tagged text that is neither an array nor a map."""
    # A fraction that ends in zeros loses three of its six digits.
    shown = f"if({tagged} LIKE '%.___000', 24, 27)"
    return (
        f"CASE WHEN startswith({tagged}, '\"') THEN substr({tagged}, 2)"
        f" WHEN startswith({tagged}, '@') THEN replace(substr({tagged}, 2, {shown} - 1), 'T', ' ')"
        f" WHEN startswith({tagged}, '#') THEN substr({tagged}, 2)"
        f" WHEN endswith({tagged}, '.0') THEN left({tagged}, length({tagged}) - 2)"
        f" WHEN endswith({tagged}, 'Infinity') THEN replace({tagged}, 'Infinity', 'inf')"
        f" ELSE {tagged} END"
    )


def _nested_text(tagged: str) -> str:
    """The text form of a tagged array or map: that of its tokens one after the other."""
    token = TOKEN
    plain = f"substr({token}, 2, length({token}) - 2)"
    text = (
        f"CASE WHEN endswith({token}, '\":')"
        f" THEN concat({_unescaped(f'left({token}, length({token}) - 1)')}, ': ')"
        f" WHEN startswith({token}, '\"\\\\\"') THEN substr({_unescaped(token)}, 2)"
        f" WHEN startswith({token}, '\"') THEN {_scalar_text(plain)}"
        f" WHEN {token} = ',' THEN ', ' WHEN {token} = 'null' THEN '' ELSE {token} END"
    )
    return f"array_join(transform({tokens_sql(tagged)}, {token} -> {text}), '')"


def _unescaped(string: str) -> str:
    return f"get_json_object(concat('[', {string}, ']'), '\\u0024[0]')"
