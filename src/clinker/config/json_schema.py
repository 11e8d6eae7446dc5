"""JSON Schema of the pipeline file, for editors.

The models know one form of everything; what `shorthand` lets users abbreviate is added here.
"""

from __future__ import annotations

from typing import Any

from clinker.config.nodes import NODE_MODELS
from clinker.config.pipeline import Pipeline

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def pipeline_json_schema() -> Schema:
    schema = Pipeline.model_json_schema(by_alias=True)
    definitions: dict[str, Schema] = schema.pop("$defs")
    _add_short_values(definitions)
    _add_short_nodes(definitions)
    schema["title"] = "Clinker pipeline"
    return {"$schema": DIALECT, **schema, "$defs": definitions}


def _add_short_values(definitions: dict[str, Schema]) -> None:
    for name in ("OnUnmapped", "SortKey"):
        key = "mode" if name == "OnUnmapped" else "field"
        word = definitions[name]["properties"][key]
        definitions[name] = _any_of(definitions[name], word)
    definitions["LayoutRef"] = _any_of(
        {"type": "string", "description": "The path of a .schema.yaml file."},
        {"$ref": "#/$defs/Layout"},
    )
    names = {"type": "array", "items": {"type": "string"}}
    definitions["PropagateCk"] = _any_of(
        {"enum": ["driver", "all"]},
        {
            "type": "object",
            "properties": {"named": names},
            "required": ["named"],
            "additionalProperties": False,
        },
    )
    definitions["Metadata"] = _any_of({"enum": ["all", "none"]}, names)
    definitions["FileTransport"] = _any_of(definitions["FileTransport"], {"const": "file"})
    definitions["Variables"] = _variables()
    for name, definition in definitions.items():
        properties = definition.get("properties", {})
        if name.endswith("Source"):
            properties["schema"] = _described_as(properties["schema"], _columns())
        if "correlation_key" in properties:
            listed = properties["correlation_key"]
            either = _any_of(listed, {"type": "string"})
            properties["correlation_key"] = _described_as(listed, either)


def _variables() -> Schema:
    declared = {"$ref": "#/$defs/Variable"}
    value = _any_of({"type": ["string", "number", "boolean"]}, declared)
    block = {"type": "object", "additionalProperties": value}
    scope = _any_of(value, block)
    return {
        "type": "object",
        "description": "Constants, and variables of the scopes pipeline, source and record.",
        "properties": {"pipeline": scope, "source": scope, "record": scope},
        "additionalProperties": value,
    }


def _columns() -> Schema:
    kind = {"type": ["string", "object"], "description": "The column's type."}
    return _any_of(
        {"type": "array", "items": {"$ref": "#/$defs/Column"}, "minItems": 1},
        {"type": "object", "additionalProperties": kind, "minProperties": 1},
    )


def _add_short_nodes(definitions: dict[str, Schema]) -> None:
    """A node may have its settings beside its name instead of in a `config` block."""
    for kind, model in NODE_MODELS.items():
        if kind == "composition":
            continue
        full = definitions[model.__name__]
        settings = [definitions[name] for name in _referenced(full["properties"]["config"])]
        short = [_beside_name(full, setting) for setting in settings]
        for setting in settings:
            _add_synonym(setting, "type", "format")
        for schema in (*settings, *short):
            _add_synonym(schema, "conditions", "routes")
        definitions[model.__name__] = {
            "title": full["title"],
            "description": full["description"],
            "anyOf": [full, *short],
        }


def _beside_name(node: Schema, config: Schema) -> Schema:
    header = {k: v for k, v in node["properties"].items() if k != "config"}
    settings = {"format" if k == "type" else k: v for k, v in config["properties"].items()}
    required = ["format" if k == "type" else k for k in config.get("required", ())]
    return {
        **node,
        "properties": {**settings, **header},
        "required": [*(k for k in node["required"] if k != "config"), *required],
    }


def _add_synonym(schema: Schema, key: str, synonym: str) -> None:
    properties = schema["properties"]
    if key in properties:
        properties[synonym] = properties[key]
        schema["required"] = [k for k in schema["required"] if k != key]
        schema["anyOf"] = [{"required": [key]}, {"required": [synonym]}]


def _referenced(schema: Schema) -> list[str]:
    branches = schema.get("oneOf", [schema])
    return [branch["$ref"].rsplit("/", 1)[1] for branch in branches if "$ref" in branch]


def _described_as(known: Schema, schema: Schema) -> Schema:
    """A schema with the description that another one has."""
    return {**schema, "description": known["description"]} if "description" in known else schema


def _any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}
