"""Every example of the user guide, and every error its text promises.

`fixtures/README.md` says how they are organized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from clinker.diagnostics import Diagnostic, errors
from clinker.plan.compile import Compiled, Plan, compile_pipeline
from clinker.plan.nodes.planned import PlannedCombine, PlannedRoute
from clinker.plan.options import Options

FIXTURES = Path(__file__).parent / "fixtures"

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


@dataclass(frozen=True)
class Fixture:
    folder: Path
    expect: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.folder.relative_to(FIXTURES).as_posix()

    @property
    def pipeline(self) -> Path:
        return self.folder / "pipeline.yaml"

    @property
    def channel(self) -> Path | None:
        channel = self.expect.get("channel")
        return self.folder / channel if channel else None

    @property
    def env(self) -> Mapping[str, str]:
        env: Mapping[str, str] = self.expect.get("env", {})
        return env

    def files(self, ending: str) -> Iterator[Path]:
        return (path for path in sorted(self.folder.rglob("*")) if path.name.endswith(ending))


def read_fixture(path: Path) -> Fixture:
    return Fixture(path.parent, YAML(typ="safe", pure=True).load(path))


ALL = [read_fixture(path) for path in sorted(FIXTURES.glob("*/*/expect.yaml"))]
GOOD = [fixture for fixture in ALL if fixture.expect["compiles"]]
BAD = [fixture for fixture in ALL if not fixture.expect["compiles"]]


def name_of(fixture: Fixture) -> str:
    return fixture.name


def compiled(fixture: Fixture) -> Compiled:
    args = fixture.expect.get("args", [])
    rules = args[args.index("--rules-path") + 1] if "--rules-path" in args else None
    options = Options(
        base_dir=fixture.folder,
        channel=fixture.channel,
        rules_path=fixture.folder / rules if rules else None,
        allow_absolute_paths="--allow-absolute-paths" in args,
        variables=dict(fixture.env),
    )
    pipeline = fixture.pipeline
    return compile_pipeline(pipeline.read_bytes(), pipeline.name, options)


def brief(diagnostic: Diagnostic) -> str:
    where = f" at {diagnostic.primary.location.start}" if diagnostic.primary else ""
    return f"{diagnostic.code} {diagnostic.message}{where}"


@pytest.mark.parametrize("fixture", GOOD, ids=name_of)
def test_compiles(fixture: Fixture) -> None:
    found = compiled(fixture).diagnostics
    assert [brief(d) for d in errors(found)] == []
    promised = fixture.expect.get("warnings", [])
    assert [code for code in promised if code not in [d.code for d in found]] == []
    expected = [*promised, *fixture.expect.get("may_warn", [])]
    texts = fixture.expect.get("warning_texts", [])
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
    for fixture in GOOD:
        expected = fixture.expect.get("checks", {}).get(check.__name__, {})
        plan = compiled(fixture).plan if expected else None
        for name, wanted in expected.items():
            assert plan
            checked += 1
            found = check(plan, name)
            if found != wanted:
                wrong.append((fixture.name, name, found, wanted))
    assert wrong == []
    assert checked


@pytest.mark.parametrize("fixture", BAD, ids=name_of)
def test_fails_as_promised(fixture: Fixture) -> None:
    found = [d.code for d in errors(compiled(fixture).diagnostics)]
    assert set(found) & set(fixture.expect["codes"]), found


@pytest.mark.parametrize("fixture", ALL, ids=name_of)
def test_expectation_is_well_formed(fixture: Fixture) -> None:
    expect = fixture.expect
    assert expect.keys() <= KEYS
    assert expect["says"]
    assert expect["compiles"] == ("codes" not in expect)
    assert expect.get("checks", {}).keys() <= CHECKS
    assert fixture.pipeline.exists()
    assert fixture.channel is None or fixture.channel.exists()
