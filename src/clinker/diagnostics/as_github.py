"""Diagnostics as GitHub Actions reads them: annotations of the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from clinker.diagnostics.diagnostic import Diagnostic

_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """A workflow command for each, on a line of its own."""
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties: dict[str, object] = {}
    if diagnostic.primary:
        location = diagnostic.primary.location
        start, end = location.start, location.end
        properties = {"file": location.source.name, "line": start.line, "endLine": end.line}
        if start.line == end.line:  # columns over several lines are refused
            properties |= {"col": start.column, "endColumn": end.column}
    properties["title"] = diagnostic.code
    written = ",".join(f"{k}={str(v).translate(_IN_PROPERTIES)}" for k, v in properties.items())
    help = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    message = f"{diagnostic.message}{help}".translate(_ESCAPES)
    return f"::{diagnostic.severity} {written}::{message}"
