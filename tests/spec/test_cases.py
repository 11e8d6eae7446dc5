"""Every example of the user guide, and every error its text promises.

`cases/README.md` says how they are organized.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clinker.diagnostics import Diagnostic, errors
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedCombine, PlannedRoute

from .cases import PIPELINE, Case, all_cases, bad_cases, compiled, good_cases, name_of, read_case

KEYS = {
    "says",
    "compiles",
    "codes",
    "warnings",
    "may_warn",
    "warning_texts",
    "channel",
    "args",
    "env",
    "why",
    "checks",
}
CHECKS = {
    "columns",
    "strategy",
    "output",
    "exit",
    "ports",
    "driver",
    "predicates",
    "correlation_keys",
    "retraction",
    "buffer",
    "workspace",
}


def brief(diagnostic: Diagnostic) -> str:
    where = f" at {diagnostic.primary.location.start}" if diagnostic.primary else ""
    return f"{diagnostic.code} {diagnostic.message}{where}"


@pytest.mark.parametrize("case", good_cases(), ids=name_of)
def test_compiles(case: Case) -> None:
    found = compiled(case).diagnostics
    assert [brief(d) for d in errors(found)] == []
    promised = case.expect.get("warnings", [])
    assert [code for code in promised if code not in [d.code for d in found]] == []
    expected = [*promised, *case.expect.get("may_warn", [])]
    texts = case.expect.get("warning_texts", [])
    surprising = [d for d in found if d.code not in expected]
    assert [brief(d) for d in surprising if not any(t in d.message for t in texts)] == []


def columns(plan: Plan, name: str) -> list[str]:
    call = plan.graph.calls.get(f"{name}/")
    if name in plan.projections:
        return [column.name for column in plan.projections[name]]
    node = plan.nodes[next(iter(call.outputs.values())).upstream if call else name]
    return list(node.row.columns)


def predicates(plan: Plan, name: str) -> dict[str, int]:
    kinds = ("equalities", "ranges", "residuals")
    return {k: sum(len(getattr(step, k)) for step in plan.joins[name].steps) for k in kinds}


def ports(plan: Plan, name: str) -> list[str]:
    node = plan.nodes[name]
    assert isinstance(node, PlannedRoute)
    return [*node.conditions, node.default]


def driver(plan: Plan, name: str) -> str:
    node = plan.nodes[name]
    assert isinstance(node, PlannedCombine)
    return node.driver


def correlation_keys(plan: Plan, name: str) -> list[str]:
    return list(plan.correlation.visible[name].fields)


def strategy(plan: Plan, name: str) -> str:
    return plan.orders.strategies[name].chosen


@pytest.mark.parametrize(
    "check",
    [columns, predicates, ports, driver, correlation_keys, strategy],
    ids=lambda check: check.__name__,
)
def test_plans_are_as_promised(check: Callable[[Plan, str], object]) -> None:
    wrong: list[object] = []
    checked = 0
    for case in good_cases():
        expected = case.expect.get("checks", {}).get(check.__name__, {})
        plan = compiled(case).plan if expected else None
        for name, wanted in expected.items():
            assert plan
            checked += 1
            found = check(plan, name)
            if found != wanted:
                wrong.append((case.name, name, found, wanted))
    assert wrong == []
    assert checked


@pytest.mark.parametrize("case", bad_cases(), ids=name_of)
def test_fails_as_promised(case: Case) -> None:
    found = [d.code for d in errors(compiled(case).diagnostics)]
    assert set(found) & set(case.expect["codes"]), found


@pytest.mark.parametrize("case", all_cases(), ids=name_of)
def test_expectation_is_well_formed(case: Case) -> None:
    expect = case.expect
    assert expect.keys() <= KEYS
    assert expect["says"]
    assert expect["compiles"] == ("codes" not in expect)
    assert expect.get("checks", {}).keys() <= CHECKS
    assert PIPELINE in case.files
    assert "channel" not in expect or expect["channel"] in case.files


def test_reading_a_case() -> None:
    case = read_case(
        "chapter/name",
        b"""says: "two -- or more -- files"
compiles: true
-- pipeline.yaml --
pipeline:
  name: p

-- data/s.csv --
-- 1
-- data/s.dat (crlf) --
a
b
-- data/empty.csv --
""",
    )
    assert case.expect == {"says": "two -- or more -- files", "compiles": True}
    assert list(case.files) == ["pipeline.yaml", "data/s.csv", "data/s.dat", "data/empty.csv"]
    assert case.pipeline == b"pipeline:\n  name: p\n\n"
    assert case.files["data/s.csv"] == b"-- 1\n"
    assert case.files["data/s.dat"] == b"a\r\nb\r\n"
    assert case.files["data/empty.csv"] == b""


def test_unpacking_a_case(tmp_path: Path) -> None:
    case = read_case("chapter/name", b"-- pipeline.yaml --\np\n-- a/b/s.csv (crlf) --\nid\n")
    case.unpack(tmp_path)
    for folder in (tmp_path, case.folder):
        assert (folder / "pipeline.yaml").read_bytes() == b"p\n"
        assert (folder / "a" / "b" / "s.csv").read_bytes() == b"id\r\n"
        assert len([path for path in folder.rglob("*") if path.is_file()]) == 2
