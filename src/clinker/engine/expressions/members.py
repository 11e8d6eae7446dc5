"""Members of maps as SQL: a map is a tagged text; all that is read of one is found in one go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clinker.cxl.types import ANY, Type
from clinker.engine.expressions.representation import text_literal
from clinker.engine.expressions.scope import Scope
from clinker.formats.common.column_types import representation
from clinker.frozen import frozen


@frozen
class Struct:
    """The members of a map as a column."""

    column: str
    types: Mapping[str, Type]
    """In whose forms they are held."""

    def member(self, key: str) -> tuple[str, Type]:
        return f"{self.column}.`{key}`", self.types[key]


def struct_ddl(types: Mapping[str, Type]) -> str:
    """The type of a column of members."""
    fields = (f"`{key}` {representation(type_).ddl}" for key, type_ in types.items())
    return f"STRUCT<{', '.join(fields)}>"


def tagged_members(keys: Iterable[str]) -> Mapping[str, Type]:
    """Members of which nothing is known."""
    return dict.fromkeys(keys, ANY)


def struct_of(tagged: str, keys: Iterable[str], is_map: str | None) -> str:
    """The members of a tagged value; null where it is not, says `is_map`, a map."""
    return _parsed(tagged, struct_ddl(tagged_members(keys)), is_map)


def structs_of(scope: Scope, elements: str, keys: Sequence[str]) -> str:
    """The members of every element of an array; null for those that are no maps.

    If all are maps they are read in one go, since to begin takes as long as to read some.
    """
    ddl = struct_ddl(tagged_members(keys))
    all_maps = scope.over(elements, "forall", _is_map)
    every = _parsed(f"concat('[', array_join({elements}, ','), ']')", f"ARRAY<{ddl}>", all_maps)
    each = scope.over(elements, "transform", lambda x: _parsed(x, ddl, _is_map(x)))
    return f"coalesce({every}, {each})"


def _parsed(tagged: str, ddl: str, is_map: str | None) -> str:
    text = f"if({is_map}, {tagged}, NULL)" if is_map else tagged
    return f"from_json({text}, {text_literal(ddl)})"


def _is_map(tagged: str) -> str:
    return f"startswith({tagged}, '{{')"
