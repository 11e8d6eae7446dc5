"""JSON Schemas of all files that users write, for editors.

The models know one form of everything; what `shorthand` lets users abbreviate is added here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clinker.config.case import CaseFile
from clinker.config.channel import Channel
from clinker.config.columns import ColumnFile
from clinker.config.composition import Composition
from clinker.config.layout import Layout
from clinker.config.model import Model
from clinker.config.nodes import NODE_MODELS
from clinker.config.pipeline import Pipeline
from clinker.config.workspace import Workspace

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def pipeline_json_schema() -> Schema:
    schema = _schema_of(Pipeline, "Clinker pipeline")
    _add_short_values(schema["$defs"])
    _add_short_nodes(schema["$defs"])
    return _described(schema)


def composition_json_schema() -> Schema:
    schema = _schema_of(Composition, "Clinker composition")
    definitions = schema["$defs"]
    _add_short_values(definitions)
    _add_short_nodes(definitions)
    for port in ("InputPort", "OutputPort"):
        _replace(definitions[port]["properties"], "schema", _columns())
    reference = definitions["OutputPort"]["properties"]["ref"]
    definitions["OutputPort"] = _any_of(definitions["OutputPort"], reference)
    word = definitions["ImportedVariable"]["properties"]["type"]
    definitions["ImportedVariable"] = _any_of(definitions["ImportedVariable"], word)
    definitions["OnePort"] = _one_port(definitions["Signature"])
    schema["properties"]["composition"] = {
        "$ref": "#/$defs/OnePort",
        "description": "what a composition with one input and one output takes and gives",
    }
    schema["required"] = ["nodes"]
    schema["anyOf"] = [{"required": ["_compose"]}, {"required": ["composition"]}]
    return _described(schema)


def channel_json_schema() -> Schema:
    schema = _schema_of(Channel, "Clinker channel")
    definitions = schema["$defs"]
    definitions["Variable"] = _any_of(_BARE, definitions["Variable"])
    return _described(schema)


def layout_json_schema() -> Schema:
    """Schema files: the layout of lines, or nothing but columns."""
    layout, columns = Layout.model_json_schema(by_alias=True), _columns()
    declared = ColumnFile.model_json_schema(by_alias=True)
    definitions = {**layout.pop("$defs"), **declared["$defs"]}
    under = {"schema": _described_as(declared["properties"]["schema"], columns)}
    file = {"type": "object", "properties": under, "required": ["schema"]}
    either = _any_of(layout, {**file, "additionalProperties": False}, columns)
    return _described(
        {"$schema": DIALECT, "title": "Clinker schema file", **either, "$defs": definitions}
    )


def workspace_json_schema() -> Schema:
    return _described(_schema_of(Workspace, "clinker.toml"))


def case_json_schema() -> Schema:
    schema = _schema_of(CaseFile, "Clinker test file")
    records = {
        "type": "array",
        "items": {"type": "object"},
        "description": "The records that the source reads.",
    }
    file = {"type": "string", "description": "The file that the source reads."}
    definitions = schema["$defs"]
    definitions["Given"] = _any_of(definitions["Given"], records, file)
    return _described(schema)


KINDS: Mapping[str, Callable[[], Schema]] = {
    "pipeline": pipeline_json_schema,
    "composition": composition_json_schema,
    "channel": channel_json_schema,
    "schema": layout_json_schema,
    "workspace": workspace_json_schema,
    "test": case_json_schema,
}
"""The schema of each kind of file."""


def _schema_of(model: type[Model], title: str) -> Schema:
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs")
    return {"$schema": DIALECT, **schema, "title": title, "$defs": definitions}


def _described(schema: Schema) -> Schema:
    """The schema with a description also of the words that say what a mapping is."""
    for part in (*schema["$defs"].values(), schema):
        for branch in (part, *part.get("anyOf", ())):
            for facts in branch.get("properties", {}).values():
                if "const" in facts and "description" not in facts:
                    facts["description"] = branch.get("description", "what this is")
    return schema


def every_property(schema: Any) -> Iterator[tuple[str, Schema]]:
    """All properties that a schema knows, wherever it does."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from properties.items()
        for part in schema.values():
            yield from every_property(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from every_property(part)


def _one_port(signature: Schema) -> Schema:
    """The header `composition` with `requires`, `produces` and `params`."""
    known = signature["properties"]
    columns = _columns()
    listed = {
        "type": "array",
        "items": {"type": "object", "required": ["name"], "properties": _NAMED},
    }
    return {
        "type": "object",
        "description": signature["description"],
        "properties": {
            **known,
            "requires": {**columns, "description": "the columns of its input"},
            "produces": {**columns, "description": "the columns of its output"},
            "params": {
                "anyOf": [known["config_schema"], listed],
                "description": known["config_schema"]["description"],
            },
        },
        "required": ["name"],
        "additionalProperties": False,
    }


_NAMED: Schema = {"name": {"type": "string", "description": "the parameter's name"}}
_BARE: Schema = {"type": ["string", "number", "boolean"]}


def _add_short_values(definitions: dict[str, Schema]) -> None:
    for name, key in (("OnUnmapped", "mode"), ("SortKey", "field")):
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
            "properties": {"named": {**names, "description": "the key fields that are carried"}},
            "required": ["named"],
            "additionalProperties": False,
        },
    )
    definitions["Metadata"] = _any_of({"enum": ["all", "none"]}, names)
    definitions["FileTransport"] = _any_of(definitions["FileTransport"], {"const": "file"})
    if "Variables" in definitions:
        definitions["Variables"] = _variables(definitions["Variables"]["properties"])
    for name, definition in definitions.items():
        properties = definition.get("properties", {})
        if name.endswith("Source"):
            _replace(properties, "schema", _columns())
        if "correlation_key" in properties:
            either = _any_of(properties["correlation_key"], {"type": "string"})
            _replace(properties, "correlation_key", either)


def _variables(known: Schema) -> Schema:
    declared = {"$ref": "#/$defs/Variable"}
    value = _any_of(_BARE, declared)
    block = {"type": "object", "additionalProperties": value}
    scope = _any_of(value, block)
    scopes = ("pipeline", "source", "record")
    return {
        "type": "object",
        "description": "Constants, and variables of the scopes pipeline, source and record.",
        "properties": {name: _described_as(known[name], scope) for name in scopes},
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


def _replace(properties: Schema, key: str, schema: Schema) -> None:
    """Another schema for a key, with the description it had."""
    properties[key] = _described_as(properties[key], schema)


def _described_as(known: Schema, schema: Schema) -> Schema:
    """A schema with the description that another one has."""
    return {**schema, "description": known["description"]} if "description" in known else schema


def _any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}
