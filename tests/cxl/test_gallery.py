"""Wrong programs read well: a gallery of mistakes and of everything that is said about them.

A case is a file `gallery/<group>/<name>.txt`:

    schema: amount=int, hired=nullable(date)
    --- program
    emit total = amoutn * 2
    --- diagnostics
    error[resolve]: unknown field 'amoutn' (at program.cxl:1)
    …

The lines before the program describe where it stands:

    schema: a=int, b=string     the columns of the input; `open` when any name is a column
    input orders: a=int         an input of a combine, one line for each
    kind: aggregate             or state, or condition for a lone Bool expression; else row
    group_by: a, b              the keys of an aggregate
    window: yes                 the transform has an analytic window
    vars: rate=float            the variables of `$vars`
    record: {"a": 1}            run the program on this record, with `cxl eval`
    module etl.clean:           a module, its text indented below; any number of them

`UPDATE_GALLERY=1 pytest tests/cxl/test_gallery.py` rewrites what is said in the files.
"""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clinker.cli import cxl
from clinker.cxl.check.lone import check_lone
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import OPEN_ROW, Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check_expression
from clinker.cxl.syntax.expressions import MAX_NESTING
from clinker.cxl.syntax.lexer import MAX_SOURCE_BYTES
from clinker.cxl.syntax.parser import MAX_EMIT_EACH_NESTING, parse_expression
from clinker.cxl.types import BOOL, Type, parse_type
from clinker.diagnostics import Diagnostic, Source
from clinker.diagnostics.render import render_text

GALLERY = Path(__file__).parent / "gallery"
CASES = sorted(GALLERY.glob("*/*.txt"))
UPDATE = bool(os.environ.get("UPDATE_GALLERY"))

# Groups named after a phase of the compiler, and the others.
PHASES = {"parse", "resolve", "typecheck", "eval"}
GROUPS = PHASES | {"aggregate", "combine", "condition", "module", "recovery", "window"}

PROGRAM = "--- program\n"
DIAGNOSTICS = "--- diagnostics\n"
FILE = "program.cxl"
RULES = Path("rules")
SETTINGS = {"schema", "kind", "group_by", "window", "vars", "record"}
KINDS = {
    "row": ProgramKind.ROW,
    "aggregate": ProgramKind.AGGREGATE,
    "state": ProgramKind.STATE,
    "condition": ProgramKind.ROW,
}

_HEADER = re.compile(r"(?P<key>\w+)(?: (?P<name>[\w.]+))?:(?: (?P<value>.+))?")


@dataclass
class Case:
    """A wrong program, where it stands, and what is to be said about it."""

    head: str
    program: str
    expected: str
    settings: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, Row] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.settings.get("kind", "row")

    def context(self) -> Context:
        return Context(
            row=row(self.settings.get("schema", "")),
            qualifiers=self.inputs,
            kind=KINDS[self.kind],
            group_by=tuple(words(self.settings.get("group_by", ""))),
            window=WindowContext() if self.settings.get("window") == "yes" else None,
            modules=ModuleLibrary(RULES),
            vars=columns(self.settings.get("vars", "")),
        )


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def columns(text: str) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for column in words(text):
        name, _, written = column.partition("=")
        type_ = parse_type(written)
        assert type_, f"no type in '{column}'"
        found[name] = type_
    return found


def row(text: str) -> Row:
    return OPEN_ROW if text == "open" else Row(columns(text))


def read(text: str) -> Case:
    """The case in the text of a file; anything but the documented form is an error."""
    head, program_mark, rest = text.partition(PROGRAM)
    program, diagnostics_mark, expected = rest.partition(DIAGNOSTICS)
    assert program_mark, "the program is missing"
    assert diagnostics_mark, "the diagnostics are missing"
    case = Case(head, program, expected)
    for key, name, value in headers(head):
        if key == "module":
            case.modules[name] = value
        elif key == "input":
            case.inputs[name] = row(value)
        else:
            assert key in SETTINGS - case.settings.keys(), f"'{key}' is unknown or given twice"
            case.settings[key] = value
    return case


def headers(head: str) -> Iterator[tuple[str, str, str]]:
    """Key, name and value of each setting; indented lines belong to the one above."""
    for block in re.split(r"\n(?=\S)", head.strip()) if head else ():
        line, _, below = block.partition("\n")
        found = _HEADER.fullmatch(line)
        assert found, f"not a setting: '{line}'"
        yield found["key"], found["name"] or "", found["value"] or textwrap.dedent(below) + "\n"


def said_about(case: Case) -> str:
    """Everything reported about a program, as its author reads it; uses the current directory."""
    for name, text in case.modules.items():
        file = RULES.joinpath(*name.split(".")).with_suffix(".cxl")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if "record" not in case.settings:
        return render_text(found_by_checking(case))
    Path(FILE).write_text(case.program, encoding="utf-8")
    with redirect_stderr(io.StringIO()) as printed:
        code = cxl.main(["eval", FILE, "--record", case.settings["record"]])
    assert code == 1
    return printed.getvalue()


def found_by_checking(case: Case) -> list[Diagnostic]:
    source = Source(FILE, case.program)
    if case.kind == "condition":
        parsed = parse_expression(source)
        return check_expression(parsed, case.context(), BOOL, "the condition").diagnostics
    return check_lone(source, case.context())


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gallery")


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path, workshop: Path) -> None:
    case = read(path.read_text(encoding="utf-8"))
    place = workshop / path.parent.name / path.stem
    place.mkdir(parents=True)
    with chdir(place):
        said = said_about(case)
    if UPDATE and said and said != case.expected:
        case.expected = said
        path.write_text(case.head + PROGRAM + case.program + DIAGNOSTICS + said, encoding="utf-8")
    assert said == case.expected
    assert re.match(r"(error|warning)\[\w+\]: .", said), "nothing is wrong with this program"
    if path.parent.name in PHASES:
        assert f"[{path.parent.name}]: " in said, "this case belongs to another group"


def test_gallery_is_complete() -> None:
    """Every file is a case, and none of the groups got lost."""
    assert set(CASES) == {file for file in GALLERY.rglob("*") if file.is_file()}
    assert {case.parent.name for case in CASES} == GROUPS
    assert len(CASES) >= 250


# Programs too long for a file


def test_nesting_of_expressions() -> None:
    expression = "(" * MAX_NESTING + "1" + ")" * MAX_NESTING
    assert said_about(read(f"{PROGRAM}emit x = {expression}\n{DIAGNOSTICS}")) == (
        f"error[parse]: nesting too deep: expressions nest at most {MAX_NESTING} levels"
        " (at program.cxl:1)\n"
        f"    1 | …{'(' * 39}1{')' * 39}…\n"
        f"      | {' ' * 40}^\n"
        "  help: name parts of it with `let`\n"
    )


def test_nesting_of_emit_each() -> None:
    depth = MAX_EMIT_EACH_NESTING + 1
    program = "emit each x in xs {\n" * depth + "emit y = x\n" + "}\n" * depth
    said = said_about(read(f"schema: xs=array\n{PROGRAM}{program}{DIAGNOSTICS}"))
    assert said.startswith(
        f"error[parse]: nesting too deep: emit each blocks nest at most {depth - 1} levels"
        f" (at program.cxl:{depth})\n"
        f"   {depth} | emit each x in xs {{\n"
        "      | ^^^^\n"
    )


def test_size_of_program() -> None:
    program = "emit x = 1\n" * (MAX_SOURCE_BYTES // 11 + 1)
    assert said_about(read(f"{PROGRAM}{program}{DIAGNOSTICS}")) == (
        f"error[parse]: the program has {len(program)} bytes, more than the {MAX_SOURCE_BYTES}"
        " allowed (at program.cxl:1)\n"
        "    1 | emit x = 1\n"
        "      | ^\n"
        "  help: split it over several transforms or move shared code into a module\n"
    )
