"""Projects to begin with: complete, valid, and never in the way of what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from clinker.cli.arguments.projects import EXAMPLES
from clinker.cli.clinker import main
from clinker.config import load_channel
from clinker.config.json_schema import case_json_schema
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from clinker.starting import START, Occupied, list_examples, make_project
from clinker.testing.suite import Suite
from tests.config.test_json_schema import data


@pytest.mark.parametrize("example", list_examples())
def test_what_is_made_runs_and_its_tests_pass(
    tmp_path: Path, session: Session, example: str
) -> None:
    files = make_project(tmp_path, example)
    [pipeline] = {*files} & {Path("pipeline.yaml"), Path("orders.yaml")}
    options = Options(base_dir=tmp_path)
    compiled = compile_pipeline((tmp_path / pipeline).read_bytes(), str(pipeline), options)
    assert compiled.plan, compiled.diagnostics
    report = run_in(compiled.plan, session, Quiet())
    assert report.counts.written > 0
    tests = [tmp_path / name for name in files if name.name.endswith("_test.yaml")]
    outcomes = list(Suite(files=tests, session=lambda _: session).run())
    assert [outcome.name for outcome in outcomes if not outcome.has_passed] == []
    assert bool(outcomes) == (example == START)


def test_channels_and_schemas_are_right(tmp_path: Path) -> None:
    make_project(tmp_path, START)
    channel = tmp_path / "channels/acme.channel.yaml"
    assert load_channel(channel.read_bytes(), "acme").value
    settings = json.loads((tmp_path / ".vscode/settings.json").read_text())
    for schema in settings["yaml.schemas"]:
        Draft202012Validator.check_schema(json.loads((tmp_path / schema).read_text()))
    validator = Draft202012Validator(case_json_schema())
    validator.validate(data((tmp_path / "orders_test.yaml").read_text()))


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text("mine")
    with pytest.raises(Occupied) as problem:
        make_project(tmp_path, START)
    assert problem.value.files == [Path("orders.yaml")]
    assert [path.name for path in tmp_path.iterdir()] == ["orders.yaml"]


def test_the_command_tells_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "a shop"
    assert main(["init", str(directory)]) == 0
    told = capsys.readouterr().out
    assert "  orders.yaml\n" in told
    assert f"  cd '{directory}'\n" in told
    assert main(["init", str(directory)]) == 4
    assert "nothing is overwritten" in capsys.readouterr().err


def test_the_command_names_all_examples() -> None:
    assert [*EXAMPLES] == list_examples()
