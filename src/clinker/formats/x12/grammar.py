"""How X12 interchanges are built: three levels, and delimiters that stand in the first header."""

from __future__ import annotations

import re

from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.delimiters import check_delimiters
from clinker.formats.interchange.grammar import Grammar, Level, Opening, element_at
from clinker.formats.interchange.header import Delimiters

_TAG = b"ISA"
_ELEMENTS = 16
_REPETITION = 11
"""The element that tells the repetition separator, in versions that have one."""
_LONGEST_HEADER = 1 << 12


def find_opening(text: bytes, path: str) -> Opening | None:
    """The delimiters of an interchange, which its header tells by how it is written itself."""
    head = text[:_LONGEST_HEADER]
    element = head[3:4]
    places = [found.start() for found in re.finditer(re.escape(element), head)] if element else []
    if len(places) < _ELEMENTS or places[_ELEMENTS - 1] + 2 >= len(head):
        if len(head) == _LONGEST_HEADER:
            raise _no_header(len(places), path)
        return None
    last = places[_ELEMENTS - 1]
    names = [head[at : at + 1].decode("latin-1") for at in (3, last + 1, last + 2)]
    repetition = head[places[_REPETITION - 1] + 1 : places[_REPETITION]].decode("latin-1")
    delimiters = Delimiters(
        element=names[0],
        component=names[1],
        terminator=names[2],
        repetition=repetition if len(repetition) == 1 and not repetition.isalnum() else "",
    )
    check_delimiters(delimiters, "ISA", path)
    return Opening(delimiters)


def _no_header(found: int, path: str) -> FormatError:
    return FormatError(f"the ISA header has {found} elements, not {_ELEMENTS}", path)


GRAMMAR = Grammar(
    levels=(
        Level(
            name="interchange",
            opening="ISA",
            closing="IEA",
            counted="functional groups",
            find_reference=lambda elements: element_at(elements, 13),
            elements=_ELEMENTS,
        ),
        Level(
            name="functional group",
            opening="GS",
            closing="GE",
            counted="transaction sets",
            find_reference=lambda elements: element_at(elements, 6),
            section="functional_group",
        ),
        Level(
            name="transaction set",
            opening="ST",
            closing="SE",
            counted="segments",
            find_reference=lambda elements: element_at(elements, 2),
            section="transaction_set",
        ),
    ),
    find_opening=find_opening,
    begins_with=(_TAG,),
    repeats=True,
    reference_column="set_ref",
    type_column="set_type",
    reference_element=2,
    type_element=1,
    binary={b"BIN": 1, b"BDS": 2},
)
