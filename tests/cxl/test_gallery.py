"""Wrong programs read well: a gallery of mistakes and of everything that is said about them.

A case is a file `gallery/<phase>/<name>.txt`:

    schema: amount=int, hired=nullable(date)
    --- program
    emit total = amoutn * 2
    --- diagnostics
    error[resolve]: unknown field 'amoutn' (at program.cxl:1)
    …

The lines before the program describe its surroundings, each at most once unless noted:

    schema: a=int, b=string     the columns of the input; `open` when any name is a column
    input orders: a=int         an input of a combine; one line for each
    kind: aggregate             or state, or condition for a lone Bool expression; default row
    group_by: a, b              the keys of an aggregate
    window: yes                 the transform has an analytic window
    vars: rate=float            the variables of `$vars`
    record: {"a": 1}            run the program on this record, with `cxl eval`
    module etl.clean:           a module, its text indented below; any number of them

`UPDATE_GALLERY=1 pytest tests/cxl/test_gallery.py` rewrites what is said in the files.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clinker.cli import cxl
from clinker.cli.cxl_check import findings
from clinker.cxl.lexer import MAX_SOURCE_BYTES
from clinker.cxl.modules import ModuleLibrary
from clinker.cxl.parser import MAX_EMIT_EACH_NESTING, MAX_NESTING, parse_expression
from clinker.cxl.resolve import OPEN_ROW, Context, ProgramKind, Row, WindowContext
from clinker.cxl.typecheck import check_expression
from clinker.cxl.types import BOOL, Type, parse_type
from clinker.diagnostics import Diagnostic, Source
from clinker.diagnostics.render import render_text

GALLERY = Path(__file__).parent / "gallery"
PHASES = ("check", "eval", "module", "parse", "resolve", "typecheck")
CASES = sorted(GALLERY.glob("*/*.txt"))
UPDATE = bool(os.environ.get("UPDATE_GALLERY"))

PROGRAM = "--- program\n"
DIAGNOSTICS = "--- diagnostics\n"
FILE = "program.cxl"
RULES = Path("rules")

_HEADER = re.compile(r"(?P<key>\w+)(?: (?P<name>[\w.]+))?:(?: (?P<value>.+))?")
_KINDS = {
    "row": ProgramKind.ROW,
    "aggregate": ProgramKind.AGGREGATE,
    "state": ProgramKind.STATE,
    "condition": ProgramKind.ROW,
}


@dataclass
class Case:
    """A wrong program, where it stands, and what is expected to be said about it."""

    head: str
    program: str
    expected: str
    settings: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, Row] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    def context(self) -> Context:
        settings = self.settings
        return Context(
            row=row(settings.get("schema", "")),
            qualifiers=self.inputs,
            kind=_KINDS[settings.get("kind", "row")],
            group_by=tuple(words(settings.get("group_by", ""))),
            window=WindowContext() if settings.get("window") == "yes" else None,
            modules=ModuleLibrary(RULES),
            vars=columns(settings.get("vars", "")),
        )


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def columns(text: str) -> Mapping[str, Type]:
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
    assert program_mark and diagnostics_mark, "a case has a program and diagnostics"
    case = Case(head, program, expected)
    for key, name, value in headers(head):
        if key == "module":
            case.modules[name] = value
        elif key == "input":
            case.inputs[name] = row(value)
        else:
            assert key in ("schema", "kind", "group_by", "window", "vars", "record"), key
            assert key not in case.settings, f"{key} is given twice"
            case.settings[key] = value
    return case


def headers(head: str) -> Iterator[tuple[str, str, str]]:
    """The settings in the head of a case; indented lines belong to the one above."""
    for block in re.split(r"\n(?=\S)", head.strip()):
        if block:
            line, _, below = block.partition("\n")
            found = _HEADER.fullmatch(line)
            assert found, f"not a setting: '{line}'"
            yield found["key"], found["name"] or "", found["value"] or textwrap.dedent(below) + "\n"


def said_about(case: Case, capsys: pytest.CaptureFixture[str]) -> str:
    """Everything reported about the program, as a user reads it."""
    for name, text in case.modules.items():
        file = RULES.joinpath(*name.split(".")).with_suffix(".cxl")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if "record" not in case.settings:
        return render_text(found_by_checking(case))
    Path(FILE).write_text(case.program, encoding="utf-8")
    assert cxl.main(["eval", FILE, "--record", case.settings["record"]]) == 1
    return capsys.readouterr().err


def found_by_checking(case: Case) -> list[Diagnostic]:
    source = Source(FILE, case.program)
    if case.settings.get("kind") == "condition":
        parsed = parse_expression(source)
        return check_expression(parsed, case.context(), BOOL, "the condition").diagnostics
    return findings(source, case.context())


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = read(path.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    said = said_about(case, capsys)
    assert said, "a case of the gallery is a program with something wrong"
    if UPDATE and said != case.expected:
        path.write_text(case.head + PROGRAM + case.program + DIAGNOSTICS + said, encoding="utf-8")
    else:
        assert said == case.expected
