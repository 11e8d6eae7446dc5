"""The header of an interchange, as records carry it from a reader to a writer that echoes it."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from clinker.frozen import frozen


@frozen(kw_only=True)
class Delimiters:
    """The characters that structure an interchange; those it has no use for are empty."""

    element: str
    component: str
    terminator: str
    repetition: str = ""
    release: str = ""
    decimal: str = ""


@frozen
class Header:
    """The elements of the first segment, with the delimiters of all."""

    delimiters: Delimiters
    elements: tuple[str, ...]

    def to_text(self) -> str:
        return orjson.dumps(
            {"delimiters": asdict(self.delimiters), "elements": self.elements}
        ).decode()

    @staticmethod
    def from_text(text: str) -> Header:
        facts = orjson.loads(text)
        return Header(Delimiters(**facts["delimiters"]), tuple(facts["elements"]))
