"""JSON Schema of test files, for editors."""

from __future__ import annotations

from typing import Any

from clinker.config.case import CaseFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def case_json_schema() -> dict[str, Any]:
    schema = CaseFile.model_json_schema(by_alias=True)
    definitions: dict[str, Any] = schema.pop("$defs")
    records = {
        "type": "array",
        "items": {"type": "object"},
        "description": "The records that the source reads.",
    }
    file = {"type": "string", "description": "The file that the source reads."}
    definitions["Given"] = {"anyOf": [definitions["Given"], records, file]}
    return {"$schema": _DIALECT, **schema, "title": "Clinker test file", "$defs": definitions}
