"""What the two commands share: how one runs, ends and reports."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, TextIO

from clinker.cli.signals import INTERRUPTED, Heeding
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import print_diagnostics, render_json

OK = 0
CONFIGURATION = 1
IO = 4
USAGE = 64
INTERNAL = 70

DETAILED = ("debug", "trace")
"""The log levels at which a mistake of ours is shown with its stack trace."""
_LONGEST = 300


class CommandError(Exception):
    """A command cannot go on; the message is for the user."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Wrong usage has a code of its own: the usual 2 means dead letters here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: error: {printable(message)}\n")


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run a command line and return the exit code. Only the command at hand is imported."""
    if hasattr(signal, "SIGPIPE"):  # a reader that leaves ends the output quietly
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may be any bytes
        sys.stdout.reconfigure(errors="backslashreplace")
    heeding = Heeding()
    try:
        return _run(parser, argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        # Only who has been called without arguments is the process.
        heeding.end(with_process=argv is None)


def _run(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    args = parser.parse_args(argv)
    try:
        code: int = import_module(f"clinker.cli.{parser.prog}_{args.command}").run(args)
    except CommandError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.code
    except Exception as problem:  # noqa: BLE001, nobody else is left to tell of it
        if getattr(args, "log_level", None) in DETAILED:
            import traceback

            traceback.print_exception(problem)
        print(f"error: {internal_error(problem)}", file=sys.stderr)
        print(f"  help: {report_it(args)}", file=sys.stderr)
        return INTERNAL
    return code


def internal_error(problem: BaseException) -> str:
    """What is said about a mistake of ours, in place of a stack trace."""
    text = printable(str(problem))
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"internal error: {type(problem).__name__}" + (f": {shown}" if shown else "")


def report_it(args: argparse.Namespace) -> str:
    """What to do about a mistake of ours."""
    help = "this is a defect of clinker; please report it"
    if getattr(args, "log_level", None) in (None, *DETAILED):
        return help
    return f"{help}; run again with --log-level debug to see where it is"


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
