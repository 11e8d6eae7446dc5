"""The commands that are shown for production are those that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest

from clinker.cli.clinker import command_parser
from tests.docs.pages import DOCS

PAGE = "\n".join(
    (DOCS / "running" / f"{name}.md").read_text("utf-8") for name in ("production", "ci")
)
_COMMAND = re.compile(
    r"(?:^|\s|/bin/)clinker (check|fmt|run|metrics|recover|test|warmup)\b"
    r"(.*?)(?=\n|`|'$|;| && | \|)"
)


def commands() -> list[str]:
    text = PAGE.replace("\\\n", " ").replace("'\n", "\n")
    return [f"{name}{rest}" for name, rest in _COMMAND.findall(text)]


def test_commands_are_found() -> None:
    assert len(commands()) > 7


@pytest.mark.parametrize("command", commands())
def test_a_command_is_one(command: str) -> None:
    words = shlex.split(re.sub(r"2>.*", "", command))
    args = command_parser().parse_args(words)
    assert args.command == words[0]
