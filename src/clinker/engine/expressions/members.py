"""Members of maps as SQL.

A map is a tagged text, and to parse it is what takes time: all members that a program reads are
parsed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import ANY, Type
from clinker.engine.expressions.scope import Scope
from clinker.formats.common.column_types import representation
from clinker.frozen import frozen


@frozen
class Struct:
    """The members of a map as a column."""

    column: str
    types: Mapping[str, Type]
    """The types of the members, in whose forms they are held."""

    def member(self, key: str) -> tuple[str, Type]:
        return f"{self.column}.`{key}`", self.types[key]


def struct_ddl(types: Mapping[str, Type]) -> str:
    """The type of a column of members."""
    fields = (f"`{key}` {representation(type_).ddl}" for key, type_ in types.items())
    return f"STRUCT<{', '.join(fields)}>"


def tagged_members(keys: Iterable[str]) -> Mapping[str, Type]:
    """Members of unknown types."""
    return dict.fromkeys(keys, ANY)


def parse_members(tagged: str, keys: Iterable[str], is_map: str | None) -> str:
    """The members of a tagged value; null where `is_map` says that it is no map."""
    return _parse(tagged, struct_ddl(tagged_members(keys)), is_map)


def parse_members_of_each(scope: Scope, elements: str, keys: Sequence[str]) -> str:
    """The members of every element of an array; null for those that are no maps.

    If all are maps they are parsed as one array, as every call of the parser takes its time.
    """
    ddl = struct_ddl(tagged_members(keys))
    all_maps = scope.over(elements, "forall", _is_map)
    every = _parse(f"concat('[', array_join({elements}, ','), ']')", f"ARRAY<{ddl}>", all_maps)
    each = scope.over(elements, "transform", lambda x: _parse(x, ddl, _is_map(x)))
    return f"coalesce({every}, {each})"


def _parse(tagged: str, ddl: str, is_map: str | None) -> str:
    text = f"if({is_map}, {tagged}, NULL)" if is_map else tagged
    return f"from_json({text}, {text_literal(ddl)})"


def _is_map(tagged: str) -> str:
    return f"startswith({tagged}, '{{')"
