"""SARIF logs have the structure of the specification, version 2.1.0."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span
from clinker.diagnostics.as_sarif import render_sarif

_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_AT_LEAST_ONE = {"type": "integer", "minimum": 1}
_LOCATION = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": -1},
        "message": _TEXT,
        "physicalLocation": {
            "type": "object",
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": "^[^ \\\\]+$"}},
                    "additionalProperties": False,
                },
                "region": {
                    "type": "object",
                    "properties": dict.fromkeys(
                        ("startLine", "startColumn", "endLine", "endColumn"), _AT_LEAST_ONE
                    ),
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
STRUCTURE: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": _TEXT,
                                                "help": _TEXT,
                                            },
                                            "additionalProperties": False,
                                        },
                                    },
                                },
                                "additionalProperties": False,
                            }
                        },
                        "additionalProperties": False,
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": _TEXT,
                                "locations": {"type": "array", "items": _LOCATION},
                                "relatedLocations": {
                                    "type": "array",
                                    "uniqueItems": True,
                                    "items": _LOCATION,
                                },
                            },
                            "additionalProperties": False,
                        },
                    },
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""The part of the specification's schema that is written, as strict as it can be."""


def log(*diagnostics: Diagnostic) -> Any:
    written = json.loads(render_sarif(diagnostics, "1.2.3"))
    Draft202012Validator(STRUCTURE).validate(written)
    return written


def test_an_empty_log_has_no_results() -> None:
    assert log()["runs"][0]["results"] == []


def test_findings_have_places_rules_and_levels() -> None:
    source = Source("sub dir/é.yaml", "a: 1\nbb: 2\n")
    first = Label(source.at(Span(0, 1)), "first here")
    finding = Diagnostic("E012", "twice", Label(source.at(Span(5, 7))), (first,), "keep one")
    nowhere = Diagnostic("W999", "odd", severity=Severity.WARNING)
    (run,) = log(finding, nowhere)["runs"]
    one, two = run["results"]
    assert one["message"]["text"] == "twice\nhelp: keep one"
    assert one["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "sub%20dir/%C3%A9.yaml"},
                "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 3},
            }
        }
    ]
    assert one["relatedLocations"][0]["message"]["text"] == "first here"
    assert (two["level"], "locations" in two) == ("warning", False)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["E012", "W999"]


def test_a_whole_path_is_a_file_address() -> None:
    source = Source("/data/p.yaml", "x\n")
    (run,) = log(Diagnostic("E000", "no", Label(source.at(Span(0, 1)))))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "file:///data/p.yaml"
