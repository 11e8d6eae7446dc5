"""Modules: finding, checking and inlining them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.cxl.check.modules import ModuleLibrary, parse_module
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import Checked, check, check_module
from clinker.cxl.run.evaluate import Record, RowProgram, Surroundings
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY, DATE, INT, STRING, Type
from clinker.cxl.values import Value
from clinker.diagnostics import Diagnostic, Source
from clinker.diagnostics.render import render_text

DATES = """
fn fiscal_year(d) = if d.month() < 4 then d.year() - 1 else d.year()
fn quarter(d) = match {
  d.month() <= 3 => 1,
  d.month() <= 6 => 2,
  d.month() <= 9 => 3,
  _ => 4
}
fn fiscal_quarter(d) = quarter(d.add_months(-3))
let fiscal_start_month = 4
let next_month = fiscal_start_month + 1
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "dates.cxl").write_text(DATES, encoding="utf-8")
    return tmp_path


def checked(text: str, rules: Path, columns: dict[str, Type]) -> Checked:
    context = Context(row=Row(columns), modules=ModuleLibrary(rules))
    return check(parse(Source("program.cxl", text)), context)


def run(text: str, rules: Path, record: Record) -> dict[str, Value]:
    found = checked(text, rules, dict.fromkeys(record, ANY))
    assert found.program, render_text(found.diagnostics)
    return RowProgram(found.program, Surroundings()).run(record).records[0].fields


def messages(diagnostics: list[Diagnostic]) -> list[str]:
    return [d.message for d in diagnostics]


def test_functions_and_constants(rules: Path) -> None:
    text = """
    use shared.dates as d
    emit fy = d::fiscal_year(when)
    emit q = d::fiscal_quarter(when)
    emit m = d::fiscal_start_month + d::next_month
    """
    assert run(text, rules, {"when": "2024-02-15"}) == {"fy": 2023, "q": 4, "m": 9}


def test_the_last_part_of_the_path_is_the_default_alias(rules: Path) -> None:
    text = "use shared.dates emit fy = dates::fiscal_year(#2024-05-01#)"
    assert run(text, rules, {}) == {"fy": 2024}


def test_functions_are_checked_with_the_types_of_each_call(rules: Path) -> None:
    text = "use shared.dates as d\nemit a = d::fiscal_year(hired)\nemit b = d::fiscal_year(id)"
    found = checked(text, rules, {"hired": DATE, "id": INT})
    errors = [d for d in found.diagnostics if d.is_error]
    assert {d.message for d in errors} == {
        "'month' expects Date or DateTime, got Int",
        "'year' expects Date or DateTime, got Int",
    }
    for error in errors:
        assert error.primary
        assert error.primary.location.source.name.endswith("dates.cxl")
        (caller,) = error.secondary
        assert caller.location.source.name == "program.cxl"
        assert caller.location.start.line == 3
        assert caller.text == "called here"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("use shared.date as d", "unknown module 'shared.date'"),
        (
            "use shared.dates as d emit a = d::fiscal_yaer(x)",
            "module 'd' has no function 'fiscal_yaer'",
        ),
        ("use shared.dates as d emit a = d::quarter", "module 'd' has no constant 'quarter'"),
        ("use shared.dates as d emit a = d::quarter(x, x)", "'quarter' takes 1 argument, got 2"),
        ("emit a = d::quarter(x)", "unknown module 'd'"),
        ("emit a = 1 use shared.dates", "'use' must come before all other statements"),
        ("fn f(a) = a", "functions are declared in modules, not in programs"),
    ],
)
def test_wrong_uses(rules: Path, text: str, message: str) -> None:
    found = checked(text, rules, {"x": STRING})
    assert found.program is None
    assert message in messages(found.diagnostics)[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn f(x) = f(x)", "'f' refers to itself"),
        ("fn f(x) = g(x) fn g(x) = f(x)", "these refer to each other: f → g → f"),
        ("let a = b let b = a", "these refer to each other: a → b → a"),
        ("fn f(x) = 1 fn f(y) = 2", "'f' is defined twice"),
        ("fn f(x, x) = 1", "the parameter 'x' is named twice"),
        ("emit a = 1", "'emit' is not allowed in a module"),
        ("fn f(x) = y", "unknown name 'y'"),
        ("fn f(x) = sum(x)", "'sum' is an aggregate function and needs a group of records"),
        ("fn f(x) = x.uper()", "unknown method 'uper'"),
    ],
)
def test_wrong_modules(text: str, message: str) -> None:
    assert messages(check_module(parse_module(Source("m.cxl", text))))[0] == message


def test_a_parameter_may_be_named_like_a_member() -> None:
    assert check_module(parse_module(Source("m.cxl", "let rate = 2 fn f(rate) = rate * 2"))) == []


def test_a_broken_module_is_reported_once(rules: Path) -> None:
    (rules / "bad.cxl").write_text("fn f(x) = x +", encoding="utf-8")
    found = checked("use bad emit a = bad::f(1) emit b = bad::f(2)", rules, {})
    assert messages(found.diagnostics) == ["expected expression, found end of input"]


def test_expansion_of_functions_is_bounded(rules: Path) -> None:
    doubling = "\n".join(f"fn f{n}(x) = f{n - 1}(x) + f{n - 1}(x)" for n in range(1, 40))
    (rules / "deep.cxl").write_text(f"fn f0(x) = x\n{doubling}\n", encoding="utf-8")
    found = checked("use deep emit a = deep::f39(1.0)", rules, {})
    assert found.program is None
    assert "expands to more than" in messages(found.diagnostics)[0]


@pytest.mark.parametrize(
    "module",
    [
        "let k0 = 1\n" + "\n".join(f"let k{n} = k{n - 1} - k{n - 1}" for n in range(1, 40)),
        "let k0 = 1\n" + "\n".join(f"let k{n} = k{n - 1} + 1" for n in range(1, 3000)),
    ],
    ids=["wide", "deep"],
)
def test_expansion_of_constants_is_bounded(rules: Path, module: str) -> None:
    (rules / "many.cxl").write_text(module, encoding="utf-8")
    name = module.rsplit("let ", 1)[1].split()[0]
    found = checked(f"use many emit a = many::{name}", rules, {})
    assert found.program is None
    assert "expand" in messages(found.diagnostics)[0]


@pytest.mark.parametrize("link", ["dates.cxl", "shared"])
def test_a_link_may_not_lead_out(tmp_path: Path, rules: Path, link: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / link).symlink_to(rules / "shared" / "dates.cxl" if "." in link else rules / "shared")
    name = "dates" if "." in link else "shared.dates"
    parsed = parse(Source("program.cxl", f"use {name} as d\nemit m = d::fiscal_start_month"))

    def codes(library: ModuleLibrary) -> list[str]:
        return [d.code for d in check(parsed, Context(modules=library)).diagnostics]

    assert codes(ModuleLibrary(folder, bound=folder)) == ["E-SEC-001"]
    assert codes(ModuleLibrary(folder, bound=tmp_path)) == []
    assert codes(ModuleLibrary(folder)) == []
