"""Diagnostics as SARIF 2.1.0, which code scanners and editors read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from clinker.diagnostics.codes import describe
from clinker.diagnostics.diagnostic import Diagnostic, Label
from clinker.diagnostics.source import Location

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render_sarif(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """A SARIF log of one run; columns count code points."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    run = {
        "tool": {
            "driver": {
                "name": "clinker",
                "semanticVersion": version,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, codes) for diagnostic in diagnostics],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    known = describe(code)
    if known is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "help": {"text": f"clinker explain {code} tells what it means and how to mend it."},
    }


def _result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    help = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity.value,
        "message": {"text": diagnostic.message + help},
    }
    if diagnostic.primary:
        result["locations"] = [_location(diagnostic.primary)]
    if diagnostic.secondary:
        result["relatedLocations"] = _related(diagnostic.secondary)
    return result


def _related(labels: Iterable[Label]) -> list[dict[str, Any]]:
    return [{"id": number, **_location(label)} for number, label in enumerate(labels, 1)]


def _location(label: Label) -> dict[str, Any]:
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(label.location)},
            "region": _region(label.location),
        }
    }
    return {**place, "message": {"text": label.text}} if label.text else place


def _region(location: Location) -> dict[str, int]:
    start, end = location.start, location.end
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def _uri(location: Location) -> str:
    path = PurePath(location.source.name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
