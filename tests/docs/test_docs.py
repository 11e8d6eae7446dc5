"""The documentation is true: every example in it runs, and every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinker.cxl.check.modules import MAX_MODULE_BYTES, ModuleLibrary, module_from
from clinker.cxl.check.resolve import Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check, check_module
from clinker.cxl.run.evaluate import DEFAULT_MAX_EXPANSION
from clinker.cxl.syntax.expressions import MAX_NESTING
from clinker.cxl.syntax.format import format_program
from clinker.cxl.syntax.lexer import KEYWORDS, MAX_SOURCE_BYTES, STATEMENT_KEYWORDS
from clinker.cxl.syntax.parser import MAX_EMIT_EACH_NESTING, Parsed, parse, parse_expression
from clinker.cxl.types import ANY
from clinker.cxl.values import MAX_INT, MIN_INT
from clinker.diagnostics import Diagnostic, Source
from tests.docs import generate_builtins
from tests.docs.console import Command, Terminal, commands
from tests.docs.pages import (
    DOCS,
    EXAMPLES,
    ROOT,
    Block,
    anchors_of,
    blocks,
    code_in_last_column,
    links_of,
    pages,
)
from tests.docs.tables import WorkedExample, read_table, run_node, worked_examples, write_table

_ANNOTATION = re.compile(r"(?:#|--) (?P<severity>error|warning): (?P<message>.*)")
_PROGRAMS = sorted(EXAMPLES.rglob("*.cxl"))
_LANGUAGES = {"cxl", "console", "yaml", "toml", "csv", "text", "json", "lua", "python"}


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    others = [str(b) for b in blocks() if b.language not in _LANGUAGES]
    assert not others


# Terminal sessions


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example programs, as the current directory."""
    copy = tmp_path / "cxl"
    shutil.copytree(EXAMPLES, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("COLUMNS", "80")
    return copy


@pytest.mark.parametrize("block", blocks("console"), ids=str)
@pytest.mark.usefixtures("examples")
def test_a_session_shows_what_the_page_says(block: Block) -> None:
    terminal = Terminal()
    for command in commands(block.text):
        shown = terminal.run(command.words)
        if not command.matches(shown):
            assert shown == command.expected


def test_a_session_is_read_as_a_terminal_shows_it() -> None:
    session = "$ cxl a 'b\nc' \\\n  d\nx\ny\n$ echo $?\n1\n"
    assert commands(session) == [
        Command(("cxl", "a", "b\nc", "d"), "x\ny\n"),
        Command(("echo", "$?"), "1\n"),
    ]


def test_an_ellipsis_stands_for_what_differs() -> None:
    command = Command((), "at …\n…\nend\n")
    assert command.matches("at 12:30\nend\n")
    assert command.matches("at 12:30\nmore\nand more\nend\n")
    assert not command.matches("at 12:30\nthe end\n")
    assert not command.matches("at 12:30\n")


# Programs


@pytest.mark.parametrize("block", blocks("cxl"), ids=str)
def test_a_program_is_judged_as_the_page_says(block: Block) -> None:
    parsed = parse(Source(str(block), block.text))
    found = sorted((_line(d), d.severity.value, d.message) for d in _findings(block, parsed))
    assert found == sorted(_annotations(parsed))
    assert any(severity == "error" for _, severity, _ in found) == ("error" in block.flags)


@pytest.mark.parametrize("block", [b for b in blocks("cxl") if "error" not in b.flags], ids=str)
def test_a_program_is_in_canonical_format(block: Block) -> None:
    assert format_program(parse(Source(str(block), block.text))) == block.text


@pytest.mark.parametrize("block", [b for b in blocks("cxl", "json") if b.option("file")], ids=str)
def test_a_quoted_file_is_quoted_as_it_is(block: Block) -> None:
    assert block.text == (EXAMPLES / str(block.option("file"))).read_text("utf-8")


def _findings(block: Block, parsed: Parsed) -> list[Diagnostic]:
    if "module" in block.flags:
        return check_module(module_from(parsed))
    return check(parsed, _context(block)).diagnostics


def _context(block: Block) -> Context:
    """What `cxl check` would assume, and a group or a window where the block asks for one."""
    columns = (block.option("columns") or "").split(",")
    aggregate = "aggregate" in block.flags
    return Context(
        row=Row(dict.fromkeys(columns, ANY), is_open=True),
        kind=ProgramKind.AGGREGATE if aggregate else ProgramKind.ROW,
        group_by=tuple((block.option("by") or "").split(",")),
        window=WindowContext() if "window" in block.flags else None,
        modules=ModuleLibrary(EXAMPLES / "rules"),
        pipeline=None,
        source=None,
        record=None,
        vars=None,
        config=None,
    )


def _annotations(parsed: Parsed) -> Iterator[tuple[int, str, str]]:
    """What the remarks `# error: …` and `# warning: …` of a program announce for their lines."""
    for comment in parsed.comments:
        if found := _ANNOTATION.fullmatch(comment.text):
            line = parsed.source.position(comment.span.start).line
            yield line, found["severity"], found["message"]


def _line(diagnostic: Diagnostic) -> int:
    assert diagnostic.primary
    return diagnostic.primary.location.start.line


# Facts in prose and tables


def test_the_keywords_are_complete() -> None:
    [shown] = [b for b in blocks("text") if "keywords" in b.flags]
    assert shown.text.split() == sorted(KEYWORDS)


def test_the_limits_are_those_of_the_language() -> None:
    limits = [
        f"| a program | {MAX_SOURCE_BYTES // 1024} KiB",
        f"| a [module](modules.md) | {MAX_MODULE_BYTES // 1024**2} MiB",
        f"| nesting of expressions | {MAX_NESTING} levels",
        f"| nesting of `emit each` | {MAX_EMIT_EACH_NESTING} levels",
        f"| records from one record | {DEFAULT_MAX_EXPANSION:,}",
        f"| Int | {MIN_INT} to {MAX_INT} |",
    ]
    page = (DOCS / "cxl" / "language.md").read_text("utf-8")
    assert [limit for limit in limits if limit not in page] == []


@pytest.mark.parametrize("code", list(code_in_last_column("SQL", "CXL")))
def test_what_stands_for_sql_is_cxl(code: str) -> None:
    source = Source("docs", code.replace("…", "1"))
    is_program = code.split()[0] in STATEMENT_KEYWORDS
    parsed = parse(source) if is_program else parse_expression(source)
    assert not parsed.diagnostics


# Nodes


@pytest.mark.parametrize("example", worked_examples(), ids=lambda e: str(e.node))
def test_a_node_gives_the_table_below_it(example: WorkedExample) -> None:
    result = run_node(example.node.text, read_table(example.given.text))
    assert write_table(result) == example.result.text


# Example programs


@pytest.mark.parametrize("path", _PROGRAMS, ids=lambda p: str(p.relative_to(EXAMPLES)))
def test_an_example_is_valid_and_in_canonical_format(path: Path, examples: Path) -> None:
    shown = str(path.relative_to(EXAMPLES))
    terminal = Terminal()
    assert terminal.run(["cxl", "check", shown]) == f"ok: {shown} is valid\n"
    assert terminal.run(["cxl", "fmt", "--check", shown]) == ""


@pytest.mark.usefixtures("examples")
def test_the_demo_runs_through() -> None:
    script = (EXAMPLES / "demo.sh").read_text("utf-8")
    steps = [shlex.split(line) for line in script.splitlines() if line.startswith("cxl ")]
    terminal = Terminal()
    for step in steps:
        shown = terminal.run(step)
        assert terminal.exit_code == 0, shown


def test_every_example_is_shown_somewhere() -> None:
    text = "".join(page.read_text("utf-8") for page in pages())
    assert [p.name for p in _PROGRAMS if p.name not in text] == []


# Pages


def test_the_page_of_built_ins_is_up_to_date() -> None:
    shown = generate_builtins.PAGE.read_text("utf-8")
    hint = "run python tests/docs/generate_builtins.py"
    assert shown == generate_builtins.page(), hint


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links_of(page):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not fragment or fragment in anchors_of(target), link


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in links_of(index)}
    assert set(pages()) - listed == {index}
