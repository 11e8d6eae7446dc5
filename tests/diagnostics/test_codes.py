"""Every code that can be printed has a page, and what the pages show is what happens."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import clinker
from clinker.config import (
    Loaded,
    load_channel,
    load_composition,
    load_pipeline,
    load_schema_file,
    load_workspace,
)
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import RowProgram, Surroundings
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY
from clinker.diagnostics import Diagnostic, Label, Severity, Source
from clinker.diagnostics.codes import (
    RETIRED,
    Phase,
    all_codes,
    as_plain_text,
    closest_codes,
    describe,
    page,
    print_page,
    why_retired,
    why_unknown,
)
from clinker.diagnostics.render import render_text
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

ABRIDGED = {"E051": "it takes 51 files"}
"""Codes whose example is too long to be shown in full."""

BESIDES = {"E101": {"E006"}, "E301": {"E305"}}
"""What is reported together with a code."""

CODE = re.compile(r"""["']((?:E\d{3}[a-e]?|W\d{3}|E15Y|E-SEC-\d{3}|CXL\d{4}))["']""")
SECTION = re.compile(r"^## (.+)\n", re.M)
FENCE = re.compile(r"^```(.*)\n([\s\S]*?)^```$", re.M)
PIPELINE = "pipeline.yaml"


@dataclass(frozen=True)
class Shown:
    """A file as a page shows it."""

    kind: str
    name: str
    text: str


def sections(code: str) -> dict[str, str]:
    text = page(code)
    assert text is not None
    _, *parts = SECTION.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def files_in(section: str) -> list[Shown]:
    return [_shown(info.split(), text) for info, text in FENCE.findall(section)]


def _shown(info: list[str], text: str) -> Shown:
    match info:
        case ["yaml"]:
            return Shown("pipeline", PIPELINE, text)
        case ["yaml", kind, name]:
            return Shown(kind, name, text)
        case ["toml"]:
            return Shown("workspace", "clinker.toml", text)
        case ["cxl"]:
            return Shown("program", "program.cxl", text)
        case ["json", "record"]:
            return Shown("record", "record.json", text)
        case _:
            return Shown(info[0], "", text)


def findings(files: list[Shown], directory: Path) -> list[Diagnostic]:
    """What there is to say about the files before any data is read."""
    kinds = {file.kind: file for file in files}
    if "pipeline" in kinds:
        return compiled(kinds, files, directory)
    if "program" in kinds:
        return evaluated(kinds["program"], kinds["record"])
    loaders: dict[str, Callable[[bytes, str], Loaded[Any]]] = {
        "channel": load_channel,
        "composition": load_composition,
        "schema": load_schema_file,
        "workspace": load_workspace,
    }
    (file,) = (file for file in files if file.kind in loaders)
    return list(loaders[file.kind](file.text.encode(), file.name).diagnostics)


def compiled(kinds: dict[str, Shown], files: list[Shown], directory: Path) -> list[Diagnostic]:
    for file in files:
        if file.name:
            (directory / file.name).write_text(file.text, encoding="utf-8")
    channel = directory / kinds["channel"].name if "channel" in kinds else None
    if "sh" in kinds:
        channel = directory / kinds["sh"].text.partition("--channel ")[2].strip()
    options = Options(base_dir=directory, channel=channel)
    return compile_pipeline(kinds["pipeline"].text.encode(), PIPELINE, options).diagnostics


def evaluated(program: Shown, record: Shown) -> list[Diagnostic]:
    values = json.loads(record.text)
    context = Context(row=Row(dict.fromkeys(values, ANY)), modules=ModuleLibrary(Path("rules")))
    checked = check(parse(Source(program.name, program.text)), context)
    if checked.program is None:
        return checked.diagnostics
    try:
        RowProgram(checked.program, Surroundings()).run(values)
    except Failure as failure:
        assert failure.location
        return [Diagnostic("eval", failure.detail, Label(failure.location))]
    return checked.diagnostics


def first_line(diagnostics: list[Diagnostic], directory: Path) -> str:
    return render_text(diagnostics).splitlines()[0].replace(f"{directory}/", "")


def needs_a_run(code: str) -> bool:
    described = describe(code)
    assert described
    return described.phase in (Phase.START, Phase.RUN) and code != "eval"


def codes_in_sources() -> Iterator[tuple[str, str]]:
    package = Path(clinker.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if path.name == "codes.py":
            continue
        for code in CODE.findall(path.read_text(encoding="utf-8")):
            yield code, str(path.relative_to(package))


def test_every_code_in_the_sources_is_registered() -> None:
    unknown = {(code, path) for code, path in codes_in_sources() if code not in all_codes()}
    assert not unknown, "add src/clinker/diagnostics/pages/<code>.md"


def test_retired_codes_are_gone() -> None:
    assert not RETIRED.keys() & set(all_codes())
    assert not RETIRED.keys() & {code for code, _ in codes_in_sources()}


@pytest.mark.parametrize("code", all_codes())
def test_every_page_is_complete(code: str) -> None:
    described = describe(code)
    assert described, "the page begins with '# code — title' and 'severity · phase'"
    assert described.name == code
    assert (described.severity is Severity.WARNING) == code.startswith("W")
    found = sections(code)
    assert list(found)[:4] == ["Meaning", "Example", "What is printed", "Fix"]
    assert set(list(found)[4:]) <= {"See also"}
    assert all(text.strip() for text in found.values())
    assert files_in(found["Example"])
    assert files_in(found["Fix"])
    (printed,) = files_in(found["What is printed"])
    assert printed.text.startswith(f"{described.severity}[{code}]: ")
    assert printed.text.count("\n") == 1


@pytest.mark.parametrize(
    "code", [c for c in all_codes() if not needs_a_run(c) and c not in ABRIDGED]
)
def test_the_example_gives_the_code_and_nothing_else(code: str, tmp_path: Path) -> None:
    found = findings(files_in(sections(code)["Example"]), tmp_path)
    assert {d.code for d in found} == {code} | BESIDES.get(code, set()), render_text(found)
    found = [d for d in found if d.code == code]
    assert all(d.is_error != code.startswith("W") for d in found)
    (printed,) = files_in(sections(code)["What is printed"])
    assert printed.text.rstrip("\n") == first_line(found, tmp_path)


@pytest.mark.parametrize("code", [code for code in all_codes() if needs_a_run(code)])
def test_what_only_a_run_can_find_compiles(code: str, tmp_path: Path) -> None:
    found = findings(files_in(sections(code)["Example"]), tmp_path)
    assert not found, render_text(found)


@pytest.mark.parametrize("code", all_codes())
def test_the_fix_works(code: str, tmp_path: Path) -> None:
    found = findings(files_in(sections(code)["Fix"]), tmp_path)
    assert not found, render_text(found)


@pytest.mark.parametrize("code", all_codes())
def test_the_page_says_when_the_code_is_found(code: str) -> None:
    described = describe(code)
    files = files_in(sections(code)["Example"])
    assert described
    for file in files:
        if file.kind == "pipeline":
            loaded = load_pipeline(file.text.encode(), {}).diagnostics
            assert (code in {d.code for d in loaded}) == (described.phase is Phase.LOAD)
    is_channel = {"pipeline", "channel"} <= {file.kind for file in files}
    assert (described.phase is Phase.CHANNEL) == (is_channel or files[-1].kind == "sh")


@pytest.mark.parametrize("written", ["E153", "e153", " E153 "])
def test_a_code_is_found_however_it_is_written(written: str) -> None:
    assert page(written) == page("E153")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("153", "E153"),
        ("2", "E002"),
        ("2", "W002"),
        ("E15", "E153"),
        ("E15X", "E15Y"),
        ("E-SEC-01", "E-SEC-001"),
        ("typcheck", "typecheck"),
    ],
)
def test_suggestions_for_unknown_codes(written: str, meant: str) -> None:
    assert page(written) is None
    assert meant in closest_codes(written)


def test_what_is_said_about_an_unknown_code() -> None:
    assert why_unknown("E30a").startswith("unknown diagnostic code 'E30a'; did you mean E30")
    assert closest_codes("nonsense") == []
    assert "E153, E154" in why_unknown("nonsense")
    assert why_retired("e307") == "E307 is no longer used: an input that names no node is E004"
    assert why_retired("E308") is None


def test_a_page_in_a_pipe_is_plain_text() -> None:
    text = page("E002")
    assert text
    pipe = io.StringIO()
    print_page(text, pipe)
    lines = pipe.getvalue().splitlines()
    assert lines[0] == "E002 — a node reads from itself"
    assert "    pipeline:" in lines
    assert not any(line.startswith(("#", "```")) for line in lines)
    assert as_plain_text(text) == pipe.getvalue()


def test_a_page_on_a_terminal_is_laid_out() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    text = page("E002")
    assert text
    terminal = Terminal()
    print_page(text, terminal)
    assert "\x1b[" in terminal.getvalue()
    assert "```" not in terminal.getvalue()


def test_importing_the_registry_reads_no_page_and_no_rich() -> None:
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import clinker.diagnostics.codes\n"
        "assert not [path for path in opened if path.endswith('.md')]\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich']\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
