"""The pages about pipelines are true: every example compiles, every table of keys is complete.

What a code block is, its fence says:

- `yaml pipeline`: a whole pipeline.
- `yaml fragment`: some nodes, or a `pipeline:` block. The nodes they read from are added if they
  are among `SOURCES`, and an output is added for what nobody reads.
- `yaml layout file=…`: a layout file, there for all pipelines of the page.
- `text columns`, `text path`, `text printed`: what the example before it gives: the columns of
  nodes, the path of its output, the diagnostics.

An example whose first line is `# error: E005` or `# warning: W305` gives exactly these codes, any
other none.

A comment `<!-- keys: Model -->` before a table says that the table names every key of the model,
`prefix=Model` that it names them as `prefix.key`.
`<!-- words: NAME -->` says that the table names every one of some words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML

from clinker.config import Model, Pipeline
from clinker.config.error_handling import ErrorHandling
from clinker.config.errors import models_in
from clinker.config.formats import FORMATS, format_named
from clinker.config.load import load_schema_file
from clinker.config.nodes import NODE_MODELS, CompositionNode, OutputNode, StateNode
from clinker.config.nodes.output import output_model
from clinker.config.nodes.source import Envelope, source_model
from clinker.config.nodes.transform import CHECKS
from clinker.config.pipeline import Settings
from clinker.config.template import NAMING_TOKENS, PATH_TOKENS, Template
from clinker.config.variables import Declaration, Variables
from clinker.cxl.types import SCHEMA_TYPES
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import render_text
from clinker.plan.compile import DEFAULT_RULES_PATH, Compiled, compile_pipeline
from clinker.plan.files.paths import known_values, render
from clinker.plan.options import Options
from tests.docs.pages import DOCS, Block, blocks_of

NAMES = "overview sources transforms aggregates routes-and-merges combines outputs".split()
PAGES = [*(DOCS / "pipelines" / f"{name}.md" for name in NAMES), DOCS / "formats" / "rest.md"]

SOURCES = {
    "orders": "{order_id: int, customer: string, product: string, region: string, "
    "quantity: int, amount: float, ordered_on: date}",
    "returns": "{order_id: int, customer: string, product: string, region: string, "
    "quantity: int, amount: float, ordered_on: date}",
    "products": "{product: string, name: string, category: string, price: float}",
    "categories": "{category: string, tax: float}",
    "prices": "{product: string, valid_from: date, valid_to: date, price: float}",
    "baskets": "{order_id: int, items: array}",
    "clicks": "{user: string, at: date_time}\n    watermark: {column: at}",
}
"""What fragments may read from, and its columns."""

WORDS: Mapping[str, set[str]] = {
    "NODE_TYPES": set(NODE_MODELS),
    "COLUMN_TYPES": set(SCHEMA_TYPES),
    "CHECKS": set(CHECKS),
    "PATH_TOKENS": set(PATH_TOKENS),
    "NAMING_TOKENS": set(NAMING_TOKENS),
}

_KINDS = ("source", "transform", "aggregate", "route", "merge", "combine", "output")
_FILE = "pipeline.yaml"
_VARIABLES = {"API_TOKEN": "secret"}
_EXPECTED = re.compile(r"# (?:error|warning): (?P<codes>.*)\n")
_MARK = re.compile(r"^<!-- (?P<kind>keys|words): (?P<what>.+) -->\n\n(?P<table>(?:\|.*\n)+)", re.M)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`\n]+)`")


# Examples


@dataclass(frozen=True)
class Example:
    block: Block
    shown: tuple[Block, ...]
    """The blocks that tell what it gives."""

    def __str__(self) -> str:
        return str(self.block)


def examples() -> Iterator[Example]:
    for page in PAGES:
        found: list[tuple[Block, list[Block]]] = []
        for block in blocks_of(page):
            if block.language == "yaml" and block.flags in (("pipeline",), ("fragment",)):
                found.append((block, []))
            elif block.language == "text":
                found[-1][1].append(block)
        yield from (Example(block, tuple(shown)) for block, shown in found)


EXAMPLES = list(examples())


def whole_pipeline(block: Block) -> str:
    if block.flags == ("pipeline",):
        return block.text
    given = YAML(typ="safe", pure=True).load(block.text)
    if isinstance(given, dict):
        return block.text + "nodes:\n" + _source("orders") + _output("orders")
    nodes = {node["name"]: node for node in given}
    read = {ref for node in given for ref in _references(node)}
    sources = [_source(name) for name in SOURCES if name in read - nodes.keys()]
    ends = [name for name in nodes if name not in read and nodes[name]["type"] != "output"]
    outputs = [_output(name) for name in ends]
    return "".join(["pipeline: {name: docs}\nnodes:\n", *sources, block.text, *outputs])


def _references(node: Mapping[str, Any]) -> Iterator[str]:
    refs = node.get("input", node.get("inputs", ()))
    refs = [refs] if isinstance(refs, str) else refs
    yield from (ref.split(".")[0] for ref in (refs.values() if isinstance(refs, dict) else refs))
    window = node.get("config", {}).get("analytic_window", {})
    if "source" in window:
        yield window["source"]


def _source(name: str) -> str:
    return (
        f"- type: source\n  name: {name}\n  config:\n"
        f"    type: csv\n    path: {name}.csv\n    schema: {SOURCES[name]}\n"
    )


def _output(name: str) -> str:
    config = f"{{type: json, path: out/{name}.json}}"
    return f"- {{type: output, name: to_{name}, input: {name}, config: {config}}}\n"


def compiled(block: Block, directory: Path) -> Compiled:
    for layout in layouts(block.page):
        path = directory / str(layout.option("file"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(layout.text, "utf-8")
    options = Options(directory, variables=dict(_VARIABLES))
    return compile_pipeline(whole_pipeline(block).encode(), _FILE, options)


def layouts(page: Path) -> list[Block]:
    return [b for b in blocks_of(page) if b.language == "yaml" and b.flags[:1] == ("layout",)]


def _is_expected(block: Block, found: list[Diagnostic]) -> bool:
    expected = _EXPECTED.match(block.text)
    codes = expected["codes"].split() if expected else []
    return sorted(d.code for d in found) == sorted(codes)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_gives_what_the_page_says(example: Example, tmp_path: Path) -> None:
    result = compiled(example.block, tmp_path)
    assert _is_expected(example.block, result.diagnostics), render_text(result.diagnostics)
    for shown in example.shown:
        assert _SHOWN[shown.flags[0]](result, shown.text) == shown.text


def _columns(result: Compiled, shown: str) -> str:
    assert result.plan
    lines = []
    for line in shown.splitlines():
        name = line.partition(":")[0]
        written = result.plan.projections.get(name)
        columns = [c.name for c in written] if written else result.plan.nodes[name].row.columns
        lines.append(f"{name}: {', '.join(columns)}\n")
    return "".join(lines)


def _path(result: Compiled, _: str) -> str:
    assert result.plan
    (unit,) = (u for u in result.plan.graph if isinstance(u.node, OutputNode))
    assert isinstance(unit.node, OutputNode)
    values = known_values(result.plan.graph, unit, result.plan.options, "")
    return render(unit.node.config.path, values) + "\n"


def _printed(result: Compiled, _: str) -> str:
    return render_text(result.diagnostics)


_SHOWN = {"columns": _columns, "path": _path, "printed": _printed}


@pytest.mark.parametrize("block", [b for page in PAGES for b in layouts(page)], ids=str)
def test_a_layout_can_be_loaded(block: Block) -> None:
    assert block.option("file")
    loaded = load_schema_file(block.text.encode())
    assert loaded.value
    assert not loaded.diagnostics


def test_every_block_is_tested() -> None:
    kinds = {b.flags[0] if b.flags else b.language for page in PAGES for b in blocks_of(page)}
    assert kinds <= {"pipeline", "fragment", "layout", *_SHOWN}


# Tables


@dataclass(frozen=True)
class Table:
    page: Path
    kind: str
    what: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def named(self) -> set[str]:
        return {word for row in self.rows for word in _words(row[0])}

    def row(self, key: str) -> tuple[str, ...]:
        return next(row for row in self.rows if key in _words(row[0]))

    def __str__(self) -> str:
        return f"{self.page.stem}:{self.what.split()[0]}"


def _words(cell: str) -> list[str]:
    """The words a cell names; of a token such as `{seq:04}` its name."""
    return [re.sub(r"^\{(\w+).*\}$", r"\1", code) for code in _CODE.findall(cell)]


@cache
def tables() -> list[Table]:
    return [
        Table(page, mark["kind"], mark["what"], tuple(_rows(mark["table"])))
        for page in PAGES
        for mark in _MARK.finditer(page.read_text("utf-8"))
    ]


def _rows(table: str) -> Iterator[tuple[str, ...]]:
    for line in table.splitlines()[2:]:
        yield tuple(cell.strip() for cell in _CELL_BORDER.split(line)[1:-1])


_FORMATS = [format_named(name) for name in FORMATS]
_ROOTS = (
    Pipeline,
    Settings,
    *(NODE_MODELS[kind] for kind in _KINDS),
    *map(source_model, _FORMATS),
    *map(output_model, _FORMATS),
)
_ELSEWHERE = (Envelope, Declaration, Variables, ErrorHandling, CompositionNode, StateNode)
"""Models that other pages describe."""
_UNSEEN = {"LayoutRef", "PropagateCk", "Definition", "SourceConfig", "OutputConfig", "Model"}
"""Models of which users write short forms only, or nothing that has not been told: what sources,
outputs and options of all formats have in common."""
_NODES = {NODE_MODELS[kind].__name__ for kind in _KINDS} - {"TransformNode"}
"""Nodes have the same keys; the table of one of them is for all."""


@cache
def models() -> dict[str, type[Model]]:
    """Every model that these pages describe, by name."""
    found: dict[str, type[Model]] = {}
    left: list[Any] = list(_ROOTS)
    while left:
        model = left.pop()
        if model.__name__ not in found and model not in _ELSEWHERE:
            found[model.__name__] = model
            for field in model.model_fields.values():
                left += models_in(field.annotation)
    return found


KEY_TABLES = [table for table in tables() if table.kind == "keys"]


def keys_of(what: str) -> dict[str, tuple[FieldInfo, ...]]:
    """The keys that a table about `what` has to name, with their declaration in each model."""
    members = _members(what)
    parents = {prefix for prefix, _ in members}
    found: dict[str, tuple[FieldInfo, ...]] = {}
    for prefix, model in members:
        for name, field in models()[model].model_fields.items():
            key = ".".join(filter(None, (prefix, field.alias or name)))
            if key not in parents:
                found[key] = (*found.get(key, ()), field)
    return found


def _members(what: str) -> list[tuple[str, str]]:
    """The models of a table, each behind the prefix of its keys."""
    return [(prefix, model) for prefix, _, model in (m.rpartition("=") for m in what.split())]


@pytest.mark.parametrize("table", KEY_TABLES, ids=str)
def test_a_table_names_every_key(table: Table) -> None:
    assert table.named == keys_of(table.what).keys()


_BY_ANOTHER_RULE = {
    ("CsvSource", "schema"): "required",  # only a sketch without `config` may do without
    ("CombineConfig", "cxl"): "required",  # not with `match: collect`
    ("FileTransport", "kind"): "`file`",
    ("FileTransport", "pagination.strategy"): "`none`",
    ("FileTransport", "auth.scheme"): "`none`",
    ("CsvSource", "transport"): "`file`",
    ("Validation", "name"): "`field:check`",
    ("Settings", "memory.limit"): "512M",
    ("Layout", "fields"): "these, or `records`",
    ("LayoutField", "width"): "this, or `end`",
    ("Settings", "rules_path"): f"the directory `{DEFAULT_RULES_PATH}`",
}
"""Defaults that the models do not tell."""


@pytest.mark.parametrize("table", KEY_TABLES, ids=str)
def test_a_table_tells_the_defaults(table: Table) -> None:
    for name, fields in keys_of(table.what).items():
        shown = table.row(name)[-1]
        told = _BY_ANOTHER_RULE.get((table.what.split()[0], name))
        if told is not None:
            assert shown == told, name
            continue
        assert (shown == "required") == all(f.is_required() for f in fields), name
        defaults = {f"`{text}`" for field in fields if (text := _default_text(field))}
        assert defaults <= {shown}, name
        assert defaults or "`" not in shown, name


def _default_text(field: FieldInfo) -> str | None:
    """A default as the page shows it; None for those that are told in words."""
    if field.is_required():
        return None
    value = field.get_default(call_default_factory=True)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | Template) else None


@pytest.mark.parametrize("table", KEY_TABLES, ids=str)
def test_a_page_names_every_value_of_a_key(table: Table) -> None:
    text = set(_CODE.findall(table.page.read_text("utf-8")))
    for name, fields in keys_of(table.what).items():
        values = {value for field in fields for value in _literals(field.annotation)}
        assert values <= text, name


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (value for value in get_args(annotation) if isinstance(value, str))
    else:
        for member in get_args(annotation):
            yield from _literals(member)


def test_every_model_has_a_table() -> None:
    told = {name for table in KEY_TABLES for _, name in _members(table.what)}
    with_keys = {name for name, model in models().items() if model.model_fields}
    assert told == with_keys - _UNSEEN - _NODES


@pytest.mark.parametrize("table", [t for t in tables() if t.kind == "words"], ids=str)
def test_a_table_names_every_word(table: Table) -> None:
    assert table.named == WORDS[table.what]


def test_every_list_of_words_has_a_table() -> None:
    assert {t.what for t in tables() if t.kind == "words"} == WORDS.keys()
