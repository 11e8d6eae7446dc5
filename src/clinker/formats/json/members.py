"""Arrays of maps taken apart: of every element just the members that are read, in columns.

What kind of value each member has is guessed from a few records; other records that do not bear it
out are `Unlike` them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from clinker.cxl.types import ANY, BOOL, FLOAT, INT, STRING, Type
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import MemberTypes, member_struct
from clinker.formats.common.tagging import tag_column

_GUESSES: Mapping[type, Type] = {bool: BOOL, int: INT, float: FLOAT, str: STRING}
_KINDS: Mapping[Type, type] = {type_.nullable(): kind for kind, type_ in _GUESSES.items()}
ValuesOf: TypeAlias = Callable[[Sequence[Any], str], list[Any]]
"""What tells the value that each element of an array has for a key, None if it has none."""


class Unlike(Exception):
    """An array or a member of one that is not of the guessed type."""


class MemberGuess:
    """What the members of the elements of some arrays seem to be."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._kinds: dict[str, set[type]] = {key: set() for key in keys}

    def look(self, arrays: Sequence[Any]) -> None:
        elements = chain.from_iterable(array for array in arrays if isinstance(array, list))
        maps = [element for element in elements if isinstance(element, dict)]
        for key, kinds in self._kinds.items():
            kinds.update(type(each.get(key)) for each in maps)

    def types(self) -> MemberTypes:
        return {key: _guess(kinds) for key, kinds in self._kinds.items()}


def _guess(kinds: set[type]) -> Type:
    """The type of values of these kinds, any type unless there is just one."""
    kinds = kinds - {type(None)}
    guess = _GUESSES.get(kinds.pop()) if len(kinds) == 1 else None
    return guess.nullable() if guess else ANY


def take_apart(arrays: Sequence[Any], types: MemberTypes, values_of: ValuesOf) -> pa.ListArray:
    """Arrays of structs of the members; `Unlike` if they do not fit that."""
    kinds = set(map(type, arrays))
    if not kinds <= {list, type(None)}:
        raise Unlike
    missing = None
    if type(None) in kinds:
        missing = pa.array([array is None for array in arrays])
        arrays = [array or [] for array in arrays]
    elements = list(chain.from_iterable(arrays))
    columns = [_column(values_of(elements, key), type_) for key, type_ in types.items()]
    structs = pa.StructArray.from_arrays(columns, fields=list(member_struct(types)))
    offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), structs, mask=missing)


def look_up(elements: Sequence[Any], key: str) -> list[Any]:
    """The value that each element has for a key; what is no map has no values."""
    try:
        return list(map(itemgetter(key), elements))
    except (KeyError, TypeError):
        return [each.get(key) if type(each) is dict else None for each in elements]


def _column(values: Sequence[Any], type_: Type) -> pa.Array:
    if type_ == ANY:
        return tag_column(values)
    kind = _KINDS[type_]
    # Only with numbers Arrow takes one kind for the other.
    if kind in (int, float) and not set(map(type, values)) <= {kind, type(None)}:
        raise Unlike
    try:
        return pa.array(values, arrow_type(type_))
    except (pa.ArrowTypeError, pa.ArrowInvalid, OverflowError):
        raise Unlike from None
