"""The JSON Schema accepts what the loader accepts."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clinker.config import (
    Loaded,
    load_channel,
    load_columns,
    load_composition,
    load_pipeline,
    load_schema_file,
    load_workspace,
)
from clinker.config.interpolate import verbatim
from clinker.config.json_schema import KINDS, every_property, pipeline_json_schema
from clinker.config.tree import Node, ScalarNode, SequenceNode
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source
from clinker.editing.kinds import FileKind, kind_of
from tests.spec.cases import all_cases

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


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_is_described(kind: str) -> None:
    schema = KINDS[kind]()
    Draft202012Validator.check_schema(schema)
    properties = list(every_property(schema))
    assert properties
    assert [name for name, facts in properties if "description" not in facts] == []


def _files() -> Iterator[tuple[str, str, str]]:
    """The name, kind and text of each file in the examples, the guide and the tests."""
    for case in all_cases():
        for name, content in case.files.items():
            yield f"{case.name}/{name}", name, content.decode("utf-8-sig", "replace")
    for root in (Path(__file__).parents[2] / "src/clinker/examples", DATA):
        for path in root.rglob("*"):
            if path.suffix in (".yaml", ".toml"):
                yield str(path), path.name, path.read_text(encoding="utf-8")


LOADERS: dict[FileKind, list[Callable[[bytes], Loaded[Any]]]] = {
    FileKind.PIPELINE: [lambda content: load_pipeline(content, {})],
    FileKind.COMPOSITION: [load_composition],
    FileKind.CHANNEL: [load_channel],
    FileKind.SCHEMA: [load_schema_file, load_columns],
    FileKind.WORKSPACE: [load_workspace],
}


@pytest.mark.parametrize("kind", LOADERS)
def test_accepts_all_valid_files_that_there_are(kind: FileKind) -> None:
    validator = Draft202012Validator(KINDS[kind]())
    accepted = 0
    for label, name, text in _files():
        is_valid = any(load(text.encode()).value for load in LOADERS[kind])
        # What the environment gives a key is not known to an editor.
        if kind_of(Path(name), text) is kind and is_valid and "${" not in text:
            written = tomllib.loads(text) if name.endswith(".toml") else data(text)
            problems = [problem.message for problem in validator.iter_errors(written)]
            assert not problems, label
            accepted += 1
    assert accepted


COMPOSITION = """\
composition:
  name: c
  requires: { a: int }
  produces: { b: string }
  params: [{ name: rate, type: float, default: 0.5 }]
nodes:
  - { type: transform, name: t, input: input, cxl: emit b = "x" }
"""
CHANNEL = """\
channel: { name: acme, target: p.yaml }
config: { default: { rate: 2 }, fixed: { call.rate: 3 } }
vars:
  static: { limit: 5, since: { type: date, default: 2024-01-01 } }
  source: { orders: { region: EU } }
"""


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("composition", COMPOSITION),
        ("channel", CHANNEL),
        ("schema", "schema: { a: int, b: 'nullable(string)' }\n"),
        ("schema", "- { name: a, type: int }\n"),
        ("schema", "fields: [{ name: a, start: 0, width: 3 }]\n"),
    ],
)
def test_short_forms_of_other_files_are_accepted(kind: str, text: str) -> None:
    Draft202012Validator(KINDS[kind]()).validate(data(text))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("composition", COMPOSITION.replace("requires", "require")),
        ("composition", COMPOSITION.replace("type: transform", "type: transfrom")),
        ("channel", CHANNEL.replace("target", "tarket")),
        ("schema", "fields: [{ name: a, start: 0, widht: 3 }]\n"),
        ("schema", "- { name: a, type: itn }\n"),
    ],
)
def test_mistakes_in_other_files_are_refused(kind: str, text: str) -> None:
    assert not Draft202012Validator(KINDS[kind]()).is_valid(data(text))
