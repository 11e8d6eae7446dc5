"""Pages that are followed from top to bottom: each command prints what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.config.case import Case, Expectation, Given, Rejection
from clinker.config.model import Model
from tests.docs.console import commands
from tests.docs.pages import DOCS, blocks_of

CLINKER = str(Path(sys.executable).with_name("clinker"))
_PAGES = ("first-hour", "project", "testing", "running/ci", "running/tuning")
_MOST_COMMANDS = 10
_NAMED = re.compile(r"# (\S+\.yaml)\n")
_TABLE = re.compile(r"^<!-- keys: (?P<model>\w+) -->\n\n(?P<table>(?:\|.*\n)+)", re.MULTILINE)
_MODELS: dict[str, type[Model]] = {
    model.__name__: model for model in (Case, Given, Expectation, Rejection)
}


def _run(words: tuple[str, ...], cwd: Path) -> str:
    program, *args = words
    assert program in ("clinker", "cat")
    if program == "cat":
        return (cwd / args[0]).read_text("utf-8")
    ended = subprocess.run(
        [CLINKER, *args],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.stdout


@pytest.mark.parametrize("name", _PAGES)
def test_each_command_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    for block in blocks_of(DOCS / f"{name}.md"):
        named = _NAMED.match(block.text) if block.language == "yaml" else None
        file = block.option("file") or (named and named[1])
        if file:
            (tmp_path / file).write_text(block.text, "utf-8")
        elif "session" in block.flags:
            for command in commands(block.text):
                shown = _run(command.words, tmp_path)
                if not command.matches(shown):
                    assert shown == command.expected


def test_ten_commands_are_enough() -> None:
    typed = 0
    for block in blocks_of(DOCS / "first-hour.md"):
        if "typed" in block.flags:
            typed += len(block.text.splitlines())
        elif "session" in block.flags:
            typed += sum(command.words[0] == "clinker" for command in commands(block.text))
    assert typed <= _MOST_COMMANDS


@pytest.mark.parametrize("model", _MODELS.values(), ids=_MODELS)
def test_the_keys_of_tests_are_those_of_the_models(model: type[Model]) -> None:
    page = (DOCS / "testing.md").read_text("utf-8")
    [table] = [
        found["table"] for found in _TABLE.finditer(page) if found["model"] == model.__name__
    ]
    shown = [
        key for row in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    keys = [info.alias or name for name, info in model.model_fields.items()]
    assert sorted(shown) == sorted(keys)
