"""Completion of command lines in shells, made of the parsers themselves."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from clinker.cli.command import Parser

_COMPLETED = {
    "CONFIG": shtab.FILE,
    "DIR": shtab.DIRECTORY,
    "FILE": shtab.FILE,
    "PATH": shtab.FILE,
    "PLACE": shtab.FILE,
    "SUBJECT": shtab.FILE,
}
"""What stands for a path in help texts, and how shells complete it."""


def completion(parser: Parser, shell: str) -> str:
    """A script for a shell that completes the command."""
    for action in _actions(parser):
        if isinstance(action.metavar, str) and action.metavar in _COMPLETED:
            action.complete = _COMPLETED[action.metavar]  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                yield from _actions(command)
