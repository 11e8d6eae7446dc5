"""The pages about pipelines as a whole, the command and diagnostics are true.

A block `yaml pipeline` compiles without any finding, or with exactly those that its first lines
announce: `# error: E153`, `# warning: W012`. A first line `# channels/a.channel.yaml` names the
file: such blocks of a page lie beside each other, so that its pipelines find its compositions and
channels, and its sessions find them all; `toml workspace` is their `clinker.toml`. What
`text summary` shows is compared in `tests/cli/test_several.py`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from clinker.cli import clinker, cxl
from clinker.config import error_handling, load_channel, load_composition, load_pipeline
from clinker.config.channel import Channel, ChannelHeader, ChannelVariables, Overlay
from clinker.config.composition import (
    Composition,
    ImportedVariable,
    ImportedVariables,
    InputPort,
    OutputPort,
    Parameter,
    Resource,
    Signature,
)
from clinker.config.formats.xml import XmlReading
from clinker.config.model import Model
from clinker.config.nodes import CompositionNode, SourceNode
from clinker.config.nodes.source import Envelope, Extract, Section
from clinker.config.nodes.state import Assignment, StateConfig
from clinker.config.variables import RESERVED, Declaration, Variable, Variables
from clinker.diagnostics import Diagnostic, codes
from clinker.diagnostics.render import render_text
from clinker.plan.compile import compile_pipeline
from clinker.plan.graph.compositions import MAX_DEPTH, MAX_NODES
from clinker.plan.options import Options
from tests.docs import generate_codes
from tests.docs.console import commands
from tests.docs.pages import DOCS, ROOT, Block, blocks_of

ERRORS, VARIABLES, COMPOSITIONS, CHANNELS, DOCUMENTS = (
    DOCS / "pipelines" / f"{name}.md"
    for name in ("error-handling", "variables", "compositions", "channels", "documents")
)
CLI, CXL, DIAGNOSTICS = DOCS / "cli.md", DOCS / "cxl" / "cli.md", DOCS / "diagnostics.md"
BEGINNING = (DOCS / "concepts.md", DOCS / "install.md")
PAGES = (ERRORS, VARIABLES, COMPOSITIONS, CHANNELS, DOCUMENTS, CLI, DIAGNOSTICS, *BEGINNING)

_ANNOUNCED = re.compile(r"# (?:error|warning): (\S+)")
_FILE = re.compile(r"# (\S+\.yaml)")
_CODE = re.compile(r"\b(?:E-SEC-\d+|[EW]\d{3}[a-z]?|E15Y|CXL\d+)\b")
_INLINE = re.compile(r"`([^`]+)`")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def found(*flags: str) -> list[Block]:
    """The blocks of these kinds on the pages."""
    return [
        block
        for page in PAGES
        for block in blocks_of(page)
        if (block.language, *block.flags) == flags
    ]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    kinds = {(b.language, *b.flags) for page in PAGES for b in blocks_of(page)}
    tested = {("yaml", kind) for kind in ("pipeline", "fragment", "composition", "channel")}
    shown = ("session", "document", "file", "result", "typed", "summary")
    texts = {("text", kind) for kind in shown}
    assert kinds == tested | texts | {("toml", "workspace")}


# Files


class Remarks(NamedTuple):
    """What the first lines of a block say about it."""

    codes: list[str]
    file: str | None


def remarks(block: Block) -> Remarks:
    announced: list[str] = []
    file = None
    for line in block.text.splitlines():
        if code := _ANNOUNCED.fullmatch(line):
            announced.append(code[1])
        elif name := _FILE.fullmatch(line):
            file = name[1]
        else:
            break
    return Remarks(sorted(announced), file)


def lay_out(page: Path, directory: Path) -> None:
    """Write the named files of a page."""
    for block in blocks_of(page):
        file = remarks(block).file if block.language == "yaml" else None
        if block.language == "toml":
            file = "clinker.toml"
        if file:
            target = directory / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")


def expect(announced: list[str], diagnostics: list[Diagnostic]) -> None:
    assert sorted(d.code for d in diagnostics) == announced, render_text(diagnostics)


@pytest.mark.parametrize("block", found("yaml", "pipeline"), ids=str)
def test_a_pipeline_is_judged_as_the_page_says(block: Block, tmp_path: Path) -> None:
    lay_out(block.page, tmp_path)
    compiled = compile_pipeline(block.text.encode(), "pipeline.yaml", Options(tmp_path))
    expect(remarks(block).codes, compiled.diagnostics)


@pytest.mark.parametrize("block", found("yaml", "composition"), ids=str)
def test_a_composition_is_valid_and_used(block: Block) -> None:
    assert not load_composition(block.text.encode()).diagnostics
    file = remarks(block).file
    assert file
    users = [b for b in blocks_of(block.page) if b.flags == ("pipeline",)]
    assert any(f"use: {name}" in b.text for b in users for name in (file, Path(file).name))


@pytest.mark.parametrize("block", found("yaml", "channel"), ids=str)
def test_a_channel_fits_the_pipeline_of_its_page(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(block.page, tmp_path)
    assert not load_channel(block.text.encode()).diagnostics
    said = remarks(block)
    assert said.file
    options = Options(Path(), channel=Path(said.file))
    compiled = compile_pipeline(Path("orders.yaml").read_bytes(), "orders.yaml", options)
    expect(said.codes, compiled.diagnostics)


_SURROUNDINGS = """\
pipeline:
  name: docs
nodes:
- name: orders
  type: source
  config: { type: csv, path: orders.csv, schema: { order_id: int, amount: float } }
"""
_OUTPUT = """\
- name: result
  type: output
  input: %s
  config: { type: csv, path: result.csv }
"""


@pytest.mark.parametrize("block", found("yaml", "fragment"), ids=str)
def test_a_fragment_is_part_of_a_valid_pipeline(block: Block, tmp_path: Path) -> None:
    nodes = block.text if block.text.startswith("- ") else ""
    last = re.findall(r"^  name: (\w+)$", "  name: orders\n" + nodes, re.MULTILINE)[-1]
    text = _SURROUNDINGS + nodes + _OUTPUT % last + ("" if nodes else block.text)
    compiled = compile_pipeline(text.encode(), "pipeline.yaml", Options(tmp_path))
    expect([], compiled.diagnostics)


@pytest.mark.parametrize("block", found("text", "document"), ids=str)
def test_a_document_has_the_sections_of_the_pipeline_below_it(block: Block) -> None:
    below = next(b for b in blocks_of(block.page) if b.flags == ("pipeline",))
    pipeline = load_pipeline(below.text.encode(), {}).value
    assert pipeline
    source = pipeline.nodes[0]
    assert isinstance(source, SourceNode)
    assert source.config.envelope
    assert isinstance(source.config.options, XmlReading)
    root = ElementTree.fromstring(block.text)
    columns = [column.name for column in source.config.schema_columns]
    parts = [(source.config.options.record_path, columns)]
    for section in source.config.envelope.sections.values():
        parts.append((section.extract.xml_path, list(section.fields)))
    for path, fields in parts:
        assert path
        element = root.find(path.removeprefix(f"/{root.tag}/"))
        assert element is not None, path
        assert [child.tag for child in element] == fields


# Sessions


@pytest.mark.parametrize("block", found("text", "session"), ids=str)
def test_a_session_shows_what_the_page_says(
    block: Block,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    # What other runs were killed in is not what the page tells of.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
    lay_out(block.page, tmp_path)
    lay_out_data(tmp_path)
    exit_code = 0
    for command in commands(block.text):
        program, *args = command.words
        if command.words == ("echo", "$?"):
            assert command.expected == f"{exit_code}\n"
            continue
        assert program == "clinker"
        try:
            exit_code = clinker.main(args)
        except SystemExit as end:
            exit_code = int(end.code or 0)
        shown = "".join(capsys.readouterr())
        if not command.matches(shown):
            assert shown == command.expected


def lay_out_data(directory: Path) -> None:
    """The input files of the pipelines, and the metrics of a run."""
    for file in directory.glob("*.yaml"):
        pipeline = load_pipeline(file.read_bytes(), {}).value
        for node in pipeline.nodes if pipeline else ():
            if isinstance(node, SourceNode) and node.config.path:
                header = ",".join(column.name for column in node.config.schema_columns)
                (directory / node.config.path).write_text(f"{header}\n", encoding="utf-8")
    metrics = '{"schema_version": 3, "execution_id": "1", "pipeline_name": "orders"}'
    (directory / "spool").mkdir()
    (directory / "spool" / "run-1.json").write_text(metrics, encoding="utf-8")


# Tables


Row = tuple[str, ...]


@cache
def tables(page: Path, *header: str) -> list[list[Row]]:
    """The rows of all tables of a page with this header."""
    tables_: list[list[Row]] = []
    in_table = False
    for line in _FENCED.sub("", page.read_text("utf-8")).splitlines():
        cells = tuple(cell.strip() for cell in _CELL_BORDER.split(line)[1:-1])
        if cells == header:
            tables_.append([])
            in_table = True
        elif not cells:
            in_table = False
        elif in_table and set(cells[0]) != {"-"}:
            tables_[-1].append(cells)
    return tables_


def code_in(cell: str) -> list[str]:
    return _INLINE.findall(cell)


_KEYS: dict[Path, list[type[Model]]] = {
    ERRORS: [error_handling.ErrorHandling, error_handling.Dlq, error_handling.SourceDlq],
    VARIABLES: [Variables, Variable, Declaration, StateConfig, Assignment],
    COMPOSITIONS: [
        CompositionNode,
        Composition,
        Signature,
        InputPort,
        OutputPort,
        Parameter,
        Resource,
        ImportedVariables,
        ImportedVariable,
    ],
    CHANNELS: [Channel, ChannelHeader, Overlay, ChannelVariables],
    DOCUMENTS: [Envelope, Section, Extract],
}


def key_tables() -> Iterator[tuple[type[Model], list[Row]]]:
    for page, models in _KEYS.items():
        yield from zip(models, tables(page, "Key", "Meaning", "Default"), strict=True)


@pytest.mark.parametrize(
    ("model", "rows"), list(key_tables()), ids=lambda p: p.__name__ if isinstance(p, type) else ""
)
def test_the_keys_are_those_of_the_model(model: type[Model], rows: list[Row]) -> None:
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    if model is Variables:
        del fields["static"]  # in a pipeline, constants stand beside the scopes
    assert sorted(row[0] for row in rows) == sorted(f"`{key}`" for key in fields)
    for key, _, default in rows:
        info = fields[key.strip("`")]
        assert (default == "required") == info.is_required(), key
        if not info.is_required() and isinstance(info.default, bool | int | str):
            shown = str(info.default)
            shown = shown.lower() if isinstance(info.default, bool) else shown
            assert code_in(default) == [shown], key
        assert default, key


def test_the_reserved_names_are_those_of_the_engine() -> None:
    [rows] = tables(VARIABLES, "Scope", "Names")
    shown = {scope.strip("`"): sorted(code_in(names)) for scope, names in rows}
    assert shown == {scope: sorted(names) for scope, names in RESERVED.items() if names}


def test_the_choices_of_error_handling_are_complete() -> None:
    fields = error_handling.ErrorHandling.model_fields
    [strategies] = tables(ERRORS, "Strategy", "A failing record")
    [policies] = tables(ERRORS, "Policy", "The records of the source in a group are rejected if")
    for rows, field in ((strategies, "strategy"), (policies, "correlation_fanout_policy")):
        choices = fields[field].annotation
        assert [row[0].strip("`") for row in rows] == list(getattr(choices, "__args__", ()))


def test_the_limits_of_compositions_are_those_of_the_compiler() -> None:
    text = " ".join(COMPOSITIONS.read_text("utf-8").split())
    assert f"up to {MAX_DEPTH} deep and {MAX_NODES:,} nodes" in text


# The command


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    names = {name for action in parser._actions for name in action.option_strings}
    return names - {"-h", "--help", "--version"}


def commands_of(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, set[str]]]:
    """Every command by its full name, and its options."""
    nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not nested:
        yield name, options_of(parser)
    for action in nested:
        for word, command in action.choices.items():
            yield from commands_of(command, f"{name} {word}")


def documented_options(page: Path) -> dict[str, set[str]]:
    """The options in the tables under the heading of each command."""
    shown: dict[str, set[str]] = {}
    command = ""
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("## "):
            command = line.removeprefix("## ")
        elif line.startswith(("| `-", "| `clinker ")):
            cell = line.split(" | ")[0]
            names = [code.split()[0] for code in code_in(cell) if code.startswith("-")]
            shown.setdefault(command, set()).update(names)
    return shown


@pytest.mark.parametrize(
    ("page", "parser"),
    [(CLI, clinker.command_parser()), (CXL, cxl.command_parser())],
    ids=["clinker", "cxl"],
)
def test_the_options_are_those_of_the_command(page: Path, parser: argparse.ArgumentParser) -> None:
    expected = dict(commands_of(parser, parser.prog))
    headings = re.findall(rf"^## ({parser.prog} .*)$", page.read_text("utf-8"), re.MULTILINE)
    assert headings == list(expected)
    assert {name: documented_options(page).get(name, set()) for name in expected} == expected


@pytest.mark.parametrize(
    ("page", "parser"),
    [(CLI, clinker.command_parser()), (CXL, cxl.command_parser())],
    ids=["clinker", "cxl"],
)
def test_every_choice_of_an_option_is_named(page: Path, parser: argparse.ArgumentParser) -> None:
    rows = re.findall(r"^\| (.*?[^\\]) \| (.*) \|$", page.read_text("utf-8"), re.MULTILINE)
    for option, choices in choices_of(parser):
        told = [
            {word for code in code_in(f"{cell} {rest}") for word in re.findall(r"[\w-]+", code)}
            for cell, rest in rows
            if any(option in code.split() for code in code_in(cell))
        ]
        assert any(choices <= words for words in told), f"{option}: {choices}"


def choices_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, set[str]]]:
    """Every option that takes one of some words, and these words."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from choices_of(command)
        elif action.choices and action.option_strings:
            yield action.option_strings[-1], set(map(str, action.choices))


def test_the_environment_variables_are_those_of_the_command() -> None:
    [rows] = tables(CLI, "Variable", "Meaning")
    files = (ROOT / "src" / "clinker" / "cli").rglob("*.py")
    used = {name for file in files for name in re.findall(r"CLINKER_\w+", file.read_text("utf-8"))}
    assert {row[0].strip("`") for row in rows} == used


def test_the_exit_codes_are_those_of_the_command() -> None:
    [rows] = tables(CLI, "Code", "Meaning", "What to do")
    listed = re.findall(r"^ *(\d+)  ", clinker._EPILOG, re.MULTILINE)
    assert [row[0] for row in rows] == listed


# Codes


def test_the_list_of_codes_is_up_to_date() -> None:
    shown = DIAGNOSTICS.read_text("utf-8")
    assert shown == generate_codes.page(shown), "run python tests/docs/generate_codes.py"


def test_the_phases_are_complete() -> None:
    [rows] = tables(DIAGNOSTICS, "Phase", "When")
    assert [row[0] for row in rows] == [phase.value for phase in codes.Phase]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.name))
def test_every_code_that_is_named_exists(page: Path) -> None:
    prose = _FENCED.sub("", page.read_text("utf-8"))
    assert sorted(set(_CODE.findall(prose)) - set(codes.all_codes())) == []
