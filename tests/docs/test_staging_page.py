"""The page about staging is true: its example is played, its table names every setting."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from clinker.cli.clinker import main
from clinker.config.workspace import Staging
from tests.docs.console import Command, commands
from tests.docs.pages import DOCS, blocks_of
from tests.elsewhere import on_another_device

PAGE = DOCS / "running" / "staging.md"
DIRECTORY = "/var/lib/clinker/staging"
BLOCKS = list(blocks_of(PAGE))


def text(*kind: str) -> str:
    (found,) = (b.text for b in BLOCKS if (b.language, *b.flags) == kind)
    return found


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Path]:
    """A directory instead of that of the page, which other files of the page are set up for."""
    with on_another_device(tmp_path) as directory:
        (tmp_path / "clinker.toml").write_text(
            text("toml", "workspace").replace(DIRECTORY, str(directory))
        )
        (tmp_path / "pipeline.yaml").write_text(text("yaml", "pipeline"))
        for block in BLOCKS:
            if name := block.option("file"):
                (tmp_path / name).parent.mkdir(exist_ok=True)
                (tmp_path / name).write_text(block.text)
        yield directory


def test_the_example(tmp_path: Path, staging: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands(text("text", "session")):
        done = subprocess.run(
            [str(Path(sys.executable).with_name(command.words[0])), *command.words[1:]],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if not command.matches(done.stdout):
            assert done.stdout == command.expected
    assert main(["run", str(tmp_path / "pipeline.yaml"), "--explain"]) == 0
    shown = capsys.readouterr().out.replace(str(staging), DIRECTORY)
    expected = text("text", "explained")
    if not Command((), expected).matches(shown[shown.index(expected.splitlines()[0]) :]):
        assert shown == expected


def rows(heading: str) -> dict[str, str]:
    """The names in the first column of the first table below a heading, and the second column."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`|]+)` \| *([^|]*?) *\|", section, re.MULTILINE))


def test_every_setting_is_in_the_table() -> None:
    settings = rows("Settings")
    assert list(settings) == list(Staging.model_fields)
    for name, field in Staging.model_fields.items():
        if settings[name].startswith("`"):
            assert json.loads(settings[name].strip("`")) == field.default
        else:
            assert field.default in (None, ())


@pytest.mark.parametrize(
    ("heading", "name"),
    [("Copies of earlier runs", "on_existing"), ("The end of a run", "cleanup")],
)
def test_every_choice_is_in_its_table(heading: str, name: str) -> None:
    choices = set(rows(heading)) - {name}
    assert choices == set(get_args(Staging.model_fields[name].annotation))
