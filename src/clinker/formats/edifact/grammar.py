"""How EDIFACT interchanges are built: messages, and delimiters that UNA tells or that are usual."""

from __future__ import annotations

from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.delimiters import check_delimiters
from clinker.formats.interchange.grammar import Elements, Grammar, Level, Opening, element_at
from clinker.formats.interchange.header import Delimiters

LEVEL_A = Delimiters(
    component=":", element="+", decimal=".", release="?", repetition="", terminator="'"
)
"""What counts where no UNA says something else."""
_ADVICE, _HEADER = b"UNA", b"UNB"
_ADVICE_BYTES = 9
_LEADING = 4
"""How many elements of the header stand before its reference."""
_GROUPED = "functional groups are not supported"


def find_opening(text: bytes, path: str) -> Opening | None:
    """The delimiters of an interchange."""
    if text.startswith(_ADVICE):
        return _read_advice(text, path)
    if len(text) <= len(_HEADER):
        return None
    if text[len(_HEADER) : len(_HEADER) + 1] != LEVEL_A.element.encode():
        raise FormatError(
            "UNB is not followed by '+', and there is no UNA segment before it that names other "
            "delimiters",
            path,
        )
    return Opening(LEVEL_A)


def _read_advice(text: bytes, path: str) -> Opening | None:
    if len(text) < _ADVICE_BYTES:
        return None
    characters = [chr(code) for code in text[len(_ADVICE) : _ADVICE_BYTES]]
    component, element, decimal, release, repetition, terminator = characters
    delimiters = Delimiters(
        component=component,
        element=element,
        decimal=decimal,
        release=release.strip(" "),
        repetition=repetition.strip(" "),
        terminator=terminator,
    )
    check_delimiters(delimiters, "UNA", path)
    return Opening(delimiters, _ADVICE_BYTES)


def _find_reference(elements: Elements) -> str:
    """The first element behind the leading ones; empty ones may stand before it."""
    return next(filter(None, elements[_LEADING:]), "")


GRAMMAR = Grammar(
    levels=(
        Level(
            name="interchange",
            opening="UNB",
            closing="UNZ",
            counted="messages",
            find_reference=_find_reference,
        ),
        Level(
            name="message",
            opening="UNH",
            closing="UNT",
            counted="segments",
            find_reference=lambda elements: element_at(elements, 1),
        ),
    ),
    find_opening=find_opening,
    begins_with=(_ADVICE, _HEADER),
    repeats=False,
    reference_column="msg_ref",
    type_column="msg_type",
    reference_element=1,
    type_element=2,
    refused={"UNG": _GROUPED, "UNE": _GROUPED},
)
