"""Loading pipelines in tests, and what the loaders say in short form."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent, indent
from typing import Any

from clinker.config import Loaded, Pipeline, load_pipeline
from clinker.diagnostics import Diagnostic

SOURCE = """\
- type: source
  name: orders
  config:
    type: csv
    path: orders.csv
    schema:
      - { name: id, type: int }
      - { name: amount, type: float }
"""
CSV = "type: csv\npath: a.csv\nschema: { id: int }\n"


def brief(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """`code line:column message` of each."""
    lines = []
    for diagnostic in diagnostics:
        assert diagnostic.primary
        place = diagnostic.primary.location.start
        lines.append(f"{diagnostic.code} {place.line}:{place.column} {diagnostic.message}")
    return lines


def load(text: str) -> Loaded[Pipeline]:
    return load_pipeline(dedent(text).encode(), {})


def load_node(text: str) -> Loaded[Pipeline]:
    """A pipeline of one node; its first line is line 3, its first column column 3."""
    node = indent(dedent(text).strip("\n"), "  ")
    return load(f"pipeline: {{ name: p }}\nnodes:\n{node}\n")


def load_config(kind: str, text: str) -> Loaded[Pipeline]:
    """A node with the given `config`, which starts on line 7 in column 7."""
    config = indent(dedent(text).strip("\n"), "    ")
    header = {
        "source": "description: d",
        "merge": "inputs: [a, b]",
        "combine": "input: { a: x, b: y }",
    }.get(kind, "input: a")
    return load_node(f"- type: {kind}\n  name: n\n  {header}\n  config:\n{config}")


def accepted(loaded: Loaded[Pipeline]) -> Pipeline:
    assert loaded.value is not None, brief(loaded.diagnostics)
    return loaded.value


def accepted_config(kind: str, text: str) -> Any:
    (node,) = accepted(load_config(kind, text)).nodes
    return node.config
