"""The README and the example pipelines keep their promises."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clinker.cli import clinker, cxl

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = {"cxl": cxl.main, "clinker": clinker.main}


def sessions() -> list[tuple[str, str]]:
    """Every command shown in the README and what it prints."""
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", blocks, re.MULTILINE)
    return [(command, output.strip("\n")) for command, output in found]


@pytest.mark.parametrize(("command", "printed"), sessions())
def test_the_readme_shows_what_is_printed(
    command: str,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (pipeline,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "big_orders.yaml").write_text(pipeline)
    (tmp_path / "orders.csv").write_text("order_id,amount\n1,2\n")
    name, *args = shlex.split(command)
    COMMANDS[name](args)
    captured = capsys.readouterr()
    assert (captured.out + captured.err).strip("\n") == printed


def test_the_readme_shows_commands() -> None:
    assert {shlex.split(command)[0] for command, _ in sessions()} == {"cxl", "clinker"}


@pytest.mark.parametrize(
    "pipeline",
    sorted((ROOT / "src" / "clinker" / "examples").rglob("pipeline.yaml")),
    ids=lambda p: p.parent.name,
)
def test_example_pipelines_compile(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clinker.main(["run", str(pipeline), "--dry-run"]) == 0
    assert capsys.readouterr().err == ""
