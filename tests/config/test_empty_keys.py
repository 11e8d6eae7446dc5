"""A key with nothing under it is as if it were not there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

import clinker.config  # noqa: F401, defines all models
from clinker.config import load_pipeline
from clinker.config.errors import known_keys
from clinker.config.formats import FORMATS, format_named
from clinker.config.interpolate import verbatim
from clinker.config.model import Model
from clinker.config.nodes.output import output_model
from clinker.config.nodes.source import source_model
from clinker.config.tree import plain
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Diagnostic, Source

for _name in FORMATS:
    source_model(format_named(_name))
    output_model(format_named(_name))


def models(base: type[Model] = Model) -> Iterator[type[Model]]:
    for model in base.__subclasses__():
        yield model
        yield from models(model)


def required(model: type[Model]) -> set[str]:
    fields = model.model_fields.items()
    return {info.alias or name for name, info in fields if info.is_required()}


def told(model: type[Model], text: str) -> list[str]:
    tree, _ = parse_yaml(verbatim(Source("p.yaml", text)))
    assert tree
    problems: list[Diagnostic] = []
    try:
        model.model_validate(plain(tree), context=problems)
    except ValidationError:
        assert problems
    return sorted(f"{problem.code} {problem.message}" for problem in problems)


@pytest.mark.parametrize("model", list(models()), ids=lambda model: model.__name__)
def test_every_key_that_may_be_left_out(model: type[Model]) -> None:
    for key in known_keys(model):
        if key not in required(model):
            assert told(model, f"{key}:\n") == told(model, "{}"), key


def test_a_whole_pipeline() -> None:
    text = """\
pipeline:
  name: p
  vars:
  memory:
  concurrency:
nodes:
  - type: source
    name: rows
    description:
    config:
      type: csv
      path: in.csv
      options:
      schema: [{ name: id, type: int, required: }]
      files:
      envelope:
  - type: output
    name: result
    input: rows
    config:
    format: csv
    path: out.csv
    mapping:
    options:
error_handling:
  strategy:
  dlq:
"""
    assert load_pipeline(text.encode(), {}).diagnostics == ()


def test_a_key_that_is_needed_needs_a_value() -> None:
    [problem] = load_pipeline(b"pipeline: { name: p }\nnodes:\n", {}).diagnostics
    assert (problem.code, problem.message) == ("E007", "expected a list, found nothing")
