"""Tagged arrays and maps as Spark SQL: taken apart and put together one level at a time."""

from __future__ import annotations

from clinker.cxl.run import tagged
from clinker.cxl.sql.text import tagged_float_sql
from clinker.cxl.types import Kind, Type

NO_TEXT = "CAST(NULL AS STRING)"
TOKEN = "`$token`"
"""The variable of lambdas over tokens. No field is called so, and no form brings operands into
these lambdas."""

# What nested values are written of: strings, a colon behind those that are keys, and the rest.
# Possessive, as Java would otherwise recurse for every character that is escaped.
_TOKENS = r"""r'"[^"\\]*+(?:\\.[^"\\]*+)*+":?+|[\[\]{},]|[^"\[\]{},]++'"""


def number_sql(text: str) -> str:
    """The digits of a tagged number, be they in canonical form or as a file has them."""
    return f"trim(LEADING '{tagged.WRITTEN}' FROM {text})"


def canonical_sql(nested: str) -> str:
    """A tagged array or map in which no number is as a file has it."""
    number = f"TRY_CAST(substr({TOKEN}, 3, length({TOKEN}) - 3) AS DOUBLE)"
    is_written = f"startswith({TOKEN}, '\"#') AND NOT endswith({TOKEN}, ':')"
    token = f"if({is_written}, concat('\"', {tagged_float_sql(number)}, '\"'), {TOKEN})"
    canonical = f"array_join(transform({tokens_sql(nested)}, {TOKEN} -> {token}), '')"
    return f"if(contains({nested}, '\"#'), {canonical}, {nested})"


def tokens_sql(nested: str) -> str:
    """The ARRAY of what a tagged array or map is written of, piece by piece."""
    return f"regexp_extract_all({nested}, {_TOKENS}, 0)"


def parsed_map_sql(text: str) -> str:
    """The MAP of a tagged map: its keys and tagged values."""
    return f"from_json({text}, 'MAP<STRING, STRING>')"


def parsed_array_sql(text: str) -> str:
    """The ARRAY of a tagged array: its tagged items."""
    return f"from_json({text}, 'ARRAY<STRING>')"


def key_json(key: str) -> str:
    """A key and the colon behind it, as they stand in the text of a map."""
    text = tagged.encode({key: 0})
    assert text is not None
    return text.removeprefix("{").removesuffix("0}")


def map_text_sql(entries: str) -> str:
    """The tagged map of an ARRAY of STRUCTs of `key` and tagged `value`."""
    written = f"concat({text_json_sql('entry.key')}, ':', {tagged_json_sql('entry.value')})"
    return joined_map_sql(f"transform({entries}, entry -> {written})")


def joined_map_sql(entries: str) -> str:
    """The tagged map of an ARRAY of keys and values that are JSON already."""
    return f"concat('{{', array_join({entries}, ','), '}}')"


def joined_array_sql(items: str) -> str:
    return f"concat('[', array_join({items}, ','), ']')"


def json_sql(text: str, type_: Type) -> str:
    """A value, in the form its type has in columns, as JSON in the text of an array or a map.

    `text` is a name, free to be repeated.
    """
    match type_.kinds & ~Kind.NULL:
        case Kind.INT | Kind.BOOL:
            return f"coalesce(CAST({text} AS STRING), 'null')"
        case Kind.STRING:
            tagged_text = f"concat('\"', {text})"
            return f"if({text} IS NULL, 'null', {text_json_sql(tagged_text)})"
        case Kind.FLOAT:
            return f"if({text} IS NULL, 'null', concat('\"', {tagged_float_sql(text)}, '\"'))"
        case Kind.DATE:
            return f"coalesce(concat('\"@', CAST({text} AS STRING), '\"'), 'null')"
        case Kind.DATETIME:
            # Spark drops zeros at the end of a fraction.
            plain = f"replace(CAST({text} AS STRING), ' ', 'T')"
            padded = f"if(contains({plain}, '.'), rpad({plain}, 26, '0'), {plain})"
            return f"coalesce(concat('\"@', {padded}, '\"'), 'null')"
        case Kind.ARRAY:
            return f"if({text} IS NULL, 'null', {_array_json(text, type_.element_type)})"
        case _:
            return tagged_json_sql(text)


def _array_json(text: str, element: Type) -> str:
    item = f"item{_depth(element)}"  # the lambdas of nested arrays need names of their own
    return joined_array_sql(f"transform({text}, {item} -> {json_sql(item, element)})")


def _depth(type_: Type) -> int:
    if type_.kinds & ~Kind.NULL == Kind.ARRAY:
        return 1 + _depth(type_.element_type)
    return 0


def text_json_sql(text: str) -> str:
    """A text as a JSON string: the array of it, without the brackets."""
    return f"trim(BOTH '[]' FROM to_json(array({text})))"


def tagged_json_sql(text: str) -> str:
    return (
        f"CASE WHEN {text} IS NULL THEN 'null'"
        f" WHEN startswith({text}, '\"') THEN {text_json_sql(text)}"
        f" WHEN left({text}, 1) IN ('{{', '[', 't', 'f') THEN {text}"
        f" WHEN contains({text}, '.') OR left({text}, 1) IN ('@', '#', 'N', 'I')"
        f" OR {text} = '-Infinity' THEN concat('\"', {text}, '\"')"
        f" ELSE {text} END"
    )
