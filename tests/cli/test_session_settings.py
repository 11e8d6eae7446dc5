"""Which engine a command line, the environment and the workspace choose."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from clinker.cli.command import CommandError
from clinker.cli.session_settings import session_settings
from clinker.engine.session.settings import SessionSettings
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

PIPELINE = b"""
pipeline: { name: p }
nodes:
  - type: source
    name: src
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - { type: output, name: out, input: src, config: { type: csv, path: out.csv } }
"""


def settings(folder: Path, conf: dict[str, str] | None = None, **args: str) -> SessionSettings:
    plan = compile_pipeline(PIPELINE, "p.yaml", Options(base_dir=folder)).plan
    assert plan
    options = {"engine": None, "master": None, "remote": None, "ship_env": False, **args}
    return session_settings(plan, Namespace(**options), conf or {}, debug=False)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLINKER_ENGINE", raising=False)
    monkeypatch.delenv("CLINKER_REMOTE", raising=False)


def test_options_come_before_the_environment_and_that_before_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings(tmp_path).engine == "spark"
    (tmp_path / "clinker.toml").write_text('[engine]\nname = "sail"\n')
    assert settings(tmp_path).engine == "sail"
    monkeypatch.setenv("CLINKER_ENGINE", "spark")
    assert settings(tmp_path).engine == "spark"
    assert settings(tmp_path, engine="sail").engine == "sail"


def test_a_cluster_or_a_server_is_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clinker.toml").write_text('[engine]\nname = "sail"\n')
    assert settings(tmp_path, master="yarn").engine == "spark"
    monkeypatch.setenv("CLINKER_REMOTE", "sc://here")
    found = settings(tmp_path)
    assert (found.engine, found.remote) == ("spark", "sc://here")
    assert settings(tmp_path, engine="sail").remote is None


@pytest.mark.parametrize(
    ("args", "conf", "variables", "message"),
    [
        ({"engine": "sail", "master": "yarn"}, {}, {}, "--master is for Spark: Sail runs on this"),
        ({"engine": "sail", "remote": "sc://x"}, {}, {}, "--remote is for Spark: Sail runs on"),
        ({"engine": "sail"}, {"spark.x": "1"}, {}, "--spark-conf is for Spark"),
        ({}, {}, {"CLINKER_ENGINE": "sali"}, "names no engine: 'sali'; did you mean 'sail'"),
        (
            {},
            {},
            {"CLINKER_ENGINE": "x\x1b"},
            r"names no engine: 'x\\x1b'; engines are spark, sail",
        ),
        (
            {},
            {},
            {"CLINKER_ENGINE": "sail", "CLINKER_REMOTE": "sc://x"},
            "CLINKER_ENGINE and CLINKER_REMOTE contradict each other",
        ),
    ],
)
def test_what_goes_together_with_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: dict[str, str],
    conf: dict[str, str],
    variables: dict[str, str],
    message: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CommandError, match=message) as caught:
        settings(tmp_path, conf, **args)
    assert caught.value.code == 64
