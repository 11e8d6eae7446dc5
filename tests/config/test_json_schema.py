"""The JSON Schema accepts what the loader accepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clinker.config import load_pipeline
from clinker.config.interpolate import verbatim
from clinker.config.json_schema import pipeline_json_schema
from clinker.config.tree import Node, ScalarNode, SequenceNode
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source

DATA = Path(__file__).parent / "data"
PIPELINES = sorted(DATA.glob("*.yaml"))

ABBREVIATED = (DATA / "abbreviated.yaml").read_text()


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = pipeline_json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def data(text: str) -> Any:
    root, problems = parse_yaml(verbatim(Source("p", text)))
    assert root is not None, problems
    return _json(root)


def _json(node: Node) -> Any:
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [_json(item) for item in node.items]
    return {key: _json(entry.value) for key, entry in node.entries.items()}


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_accepts_whole_pipelines(validator: Draft202012Validator, path: Path) -> None:
    validator.validate(data(path.read_text()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: p", "nam: p"),
        ("type: merge", "type: murge"),
        ("mode: interleave", "mode: sideways"),
        ("format: csv", "format: csvv"),
        ("id: int", "id: 5"),
        ("default: b }", "defualt: b }"),
        ("on_unmapped: drop", "on_unmapped: dorp"),
        ("size: 1h", "size: 1 hour"),
        ("group_by: []", "group_bye: []"),
    ],
)
def test_refuses_what_the_loader_refuses(
    validator: Draft202012Validator, old: str, new: str
) -> None:
    changed = ABBREVIATED.replace(old, new, 1)
    assert changed != ABBREVIATED
    assert load_pipeline(changed.encode(), {}).value is None
    assert not validator.is_valid(data(changed))


def test_is_described() -> None:
    schema = pipeline_json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "Clinker pipeline"
    assert schema["properties"]["nodes"]["description"]
    assert schema["$defs"]["TransformNode"]["description"]


def undescribed(schema: Any) -> Iterator[str]:
    """The properties of sources, outputs and formats that an editor has nothing to say about."""
    for name, model in schema["$defs"].items():
        if name.endswith(("Source", "Output", "Reading", "Writing", "Transport", "Pagination")):
            for key, facts in model.get("properties", {}).items():
                if "description" not in facts and "const" not in facts:
                    yield f"{name}.{key}"


def test_all_that_reads_and_writes_is_described() -> None:
    assert not list(undescribed(pipeline_json_schema()))
