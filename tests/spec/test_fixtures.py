"""Every example of the user guide, and every error its text promises.

`fixtures/README.md` says how they are organized. `compile_fixture` is the only function that knows
how far a fixture is compiled; today it loads the configuration files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from clinker.config import (
    load_channel,
    load_composition,
    load_pipeline,
    load_schema_file,
    load_workspace,
)
from clinker.diagnostics import Diagnostic, errors

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


def compile_fixture(fixture: Fixture) -> list[Diagnostic]:
    """Everything there is to say about a fixture before it is run.

    To plug in the compiler, replace this body; `args`, `env` and `channel` are the fixture's own.
    """
    pipeline = fixture.pipeline
    found = list(load_pipeline(pipeline.read_bytes(), fixture.env, pipeline.name).diagnostics)
    if fixture.channel:
        found += load_channel(fixture.channel.read_bytes(), fixture.channel.name).diagnostics
    for path in fixture.files(".comp.yaml"):
        found += load_composition(path.read_bytes(), path.name).diagnostics
    for path in fixture.files(".schema.yaml"):
        found += load_schema_file(path.read_bytes(), path.name).diagnostics
    for path in fixture.files("clinker.toml"):
        found += load_workspace(path.read_bytes(), path.name).diagnostics
    return found


def brief(diagnostic: Diagnostic) -> str:
    where = f" at {diagnostic.primary.location.start}" if diagnostic.primary else ""
    return f"{diagnostic.code} {diagnostic.message}{where}"


@pytest.mark.parametrize("fixture", GOOD, ids=name_of)
def test_compiles(fixture: Fixture) -> None:
    found = compile_fixture(fixture)
    assert [brief(d) for d in errors(found)] == []
    expected = [*fixture.expect.get("warnings", []), *fixture.expect.get("may_warn", [])]
    assert [brief(d) for d in found if d.code not in expected] == []


@pytest.mark.parametrize("fixture", BAD, ids=name_of)
def test_does_not_crash(fixture: Fixture) -> None:
    for diagnostic in compile_fixture(fixture):
        assert diagnostic.code
        assert diagnostic.message


@pytest.mark.parametrize("fixture", ALL, ids=name_of)
def test_expectation_is_well_formed(fixture: Fixture) -> None:
    expect = fixture.expect
    assert expect.keys() <= KEYS
    assert expect["says"]
    assert expect["compiles"] == ("codes" not in expect)
    assert expect.get("checks", {}).keys() <= CHECKS
    assert fixture.pipeline.exists()
    assert fixture.channel is None or fixture.channel.exists()
