"""A problem, where it is, and the way out."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Iterator

from clinker.diagnostics.source import Location
from clinker.frozen import frozen


class Severity(enum.StrEnum):
    ERROR = "error"
    WARNING = "warning"


@frozen
class Label:
    """A place a diagnostic points at, with what is to be said about it."""

    location: Location
    text: str = ""


@frozen
class Diagnostic:
    """One finding about what the user wrote."""

    code: str
    """Such as `E200`; there is a page for it."""
    message: str
    """What is wrong, in one line."""
    primary: Label | None = None
    """The place it is about."""
    secondary: tuple[Label, ...] = ()
    """Further places that matter."""
    help: str | None = None
    """The way out."""
    severity: Severity = Severity.ERROR

    def __repr__(self) -> str:
        place = self.primary.location if self.primary else None
        at = f" (at {place.source.name}:{place.start.line})" if place else ""
        return f"<{self.severity}[{self.code}]: {self.message}{at}>"

    @property
    def identity(self) -> object:
        """Equal for findings that say the same about the same place of a file."""
        place = self.primary and self.primary.location
        return (
            self.code,
            self.message,
            place and (os.path.realpath(place.source.name), place.span),
        )

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file and place, the way a user works through them."""

    def place(diagnostic: Diagnostic) -> tuple[str, int]:
        if diagnostic.primary is None:
            return ("", -1)
        location = diagnostic.primary.location
        return (location.source.name, location.span.start)

    return sorted(diagnostics, key=place)


def each_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What is found again where the same files are looked at again is told once."""
    first: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        first.setdefault(diagnostic.identity, diagnostic)
    return list(first.values())


def errors(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    return (d for d in diagnostics if d.is_error)
