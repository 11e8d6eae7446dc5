"""Findings about what a user wrote: their model and how they are shown."""

from clinker.diagnostics.diagnostic import (
    Diagnostic,
    Label,
    Severity,
    each_once,
    errors,
    in_reading_order,
)
from clinker.diagnostics.source import EmbeddedSource, Location, Position, Source, Span

__all__ = [
    "Diagnostic",
    "EmbeddedSource",
    "Label",
    "Location",
    "Position",
    "Severity",
    "Source",
    "Span",
    "each_once",
    "errors",
    "in_reading_order",
]
