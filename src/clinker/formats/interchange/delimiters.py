"""Characters that can be delimiters."""

from __future__ import annotations

from clinker.cxl.failure import shown
from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.header import Delimiters

_UNUSABLE = " "


def check_delimiters(delimiters: Delimiters, tag: str, path: str) -> None:
    """FormatError if what a segment declares cannot delimit anything."""
    roles = {
        "element separator": delimiters.element,
        "segment terminator": delimiters.terminator,
        "release character": delimiters.release,
    }
    used: dict[str, str] = {}
    for role, character in roles.items():
        if not character:
            continue
        if character.isalnum() or not character.isascii() or character in _UNUSABLE:
            raise FormatError(
                f"the {tag} segment makes '{shown(character)}' the {role}, which cannot be: "
                "it has too few elements, or is cut off",
                path,
            )
        if character in used:
            raise FormatError(
                f"the {tag} segment makes '{shown(character)}' both {used[character]} and {role}",
                path,
            )
        used[character] = role
