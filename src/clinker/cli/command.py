"""What the two commands share: how one runs, ends and reports."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import TracebackType
from typing import TextIO

from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import print_diagnostics, render_json

OK = 0
CONFIGURATION = 1
USAGE = 2
IO = 4
INTERRUPTED = 130

_DETAILED = ("debug", "trace")
_REPORT = "this is a defect; please report it (`clinker run` tells more with --log-level debug)"


class CommandError(Exception):
    """A command cannot go on; the message is for the user."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run a command line and return the exit code. Only the command at hand is imported."""
    if hasattr(signal, "SIGPIPE"):  # a reader that leaves ends the output quietly
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _end_as_if_interrupted("SIGTERM", "SIGHUP")
    args = parser.parse_args(argv)
    if getattr(args, "log_level", None) not in _DETAILED:
        sys.excepthook = _confess
    try:
        code: int = import_module(f"clinker.cli.{parser.prog}_{args.command}").run(args)
    except CommandError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.code
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _end_as_if_interrupted(*names: str) -> None:
    """Let signals do what Ctrl-C does, unless whoever started the process had them ignored."""
    for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _confess(
    kind: type[BaseException], problem: BaseException, trace: TracebackType | None
) -> None:
    """What is said about a mistake of ours, in place of a stack trace."""
    print(f"error: internal error: {kind.__name__}: {problem}", file=sys.stderr)
    print(f"  help: {_REPORT}", file=sys.stderr)


def add_format(
    command: argparse._ActionsContainer,
    help: str = "how diagnostics are printed: for people, or as a JSON array",
) -> None:
    command.add_argument("--format", choices=("text", "json"), default="text", help=help)


def report(diagnostics: Sequence[Diagnostic], form: str, json_to: TextIO | None = None) -> bool:
    """Print diagnostics the way the user asked for; whether there was an error.

    JSON goes to standard output, unless that is where results go.
    """
    if form == "json":
        (json_to or sys.stdout).write(render_json(diagnostics))
    else:
        print_diagnostics(diagnostics)
    return any(d.is_error for d in diagnostics)
