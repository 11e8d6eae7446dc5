"""What the two commands share: how one runs, ends and reports."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, TextIO

from clinker.cli.signals import INTERRUPTED, Heeding
from clinker.cli.streams import OutputLost, take_standard_streams
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import print_diagnostics, render_json
from clinker.diagnostics.suggest import did_you_mean

OK = 0
CONFIGURATION = 1
IO = 4
CXL_IO = 2
"""What `cxl` ends with instead, which knows no dead letters."""
USAGE = 64
INTERNAL = 70

DETAILED = ("debug", "trace")
"""The log levels at which a mistake of ours is shown with its stack trace."""
SHELLS = ("bash", "zsh", "fish")
"""The shells that can complete command lines."""
_LONGEST = 300


class CommandError(Exception):
    """A command cannot go on; the message is for the user."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Wrong usage has a code of its own: the usual 2 means dead letters here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.set_defaults(parser=self)  # of commands within commands, the innermost is left

    def error(self, message: str) -> NoReturn:
        # All options at once would hide what is wrong with one of them.
        print(f"{self.prog}: error: {printable(message)}", file=sys.stderr)
        self.exit(USAGE, f"  help: {self.prog} --help shows what it takes\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Wrong usage: arguments that the command does not know."""
        message = f"unrecognized arguments: {' '.join(unknown)}"
        options = (text.partition("=")[0] for text in unknown if text.startswith("-"))
        helps = (did_you_mean(option, self._option_string_actions) for option in options)
        self.error("; ".join([message, *filter(None, helps)]))

    def take_from_environment(
        self, args: argparse.Namespace, variables: Mapping[str, str], found: Mapping[str, str]
    ) -> None:
        """Options that were not given, from the variables that stand for them."""
        for option, variable in variables.items():
            action, text = self._option_string_actions[option], found.get(variable)
            if text and getattr(args, action.dest) is None:
                try:
                    value = self._get_value(action, text)
                    self._check_value(action, value)
                except argparse.ArgumentError as problem:
                    self.error(f"environment variable {variable}: {problem.message}")
                setattr(args, action.dest, value)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as problem:
            help = did_you_mean(str(value), map(str, action.choices or ()))
            message = f"{problem.message}; {help}" if help else problem.message
            raise argparse.ArgumentError(action, message) from None


def run_command(
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    spell_out: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
    io_code: int = IO,
) -> int:
    """Run a command line, once `spell_out` has completed it, and return the exit code.

    It is `io_code` if standard output cannot be written to.

    Only the command at hand is imported.
    """
    is_process = argv is None  # who is called with arguments is part of another one
    if is_process and hasattr(signal, "SIGPIPE"):  # a reader that leaves ends the output quietly
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if is_process:
        take_standard_streams()
    elif isinstance(sys.stdout, io.TextIOWrapper):  # names of files may be any bytes
        sys.stdout.reconfigure(errors="backslashreplace")
    heeding = Heeding()
    try:
        return _run(parser, spell_out(sys.argv[1:] if argv is None else argv), io_code)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        heeding.end(with_process=is_process)


def _run(parser: argparse.ArgumentParser, words: Sequence[str], io_code: int) -> int:
    args, unknown = parser.parse_known_args(words)
    if unknown:
        args.parser.refuse(unknown)
    try:
        code: int = import_module(f"clinker.cli.{parser.prog}_{args.command}").run(args)
        if not sys.stdout.closed:  # as by a language server that was told to exit
            sys.stdout.flush()
    except CommandError as problem:
        tell_problem(args, str(problem))
        return problem.code
    except OutputLost as problem:
        tell_problem(args, str(problem))
        return io_code
    except Exception as problem:  # noqa: BLE001, nobody else is left to tell of it
        if getattr(args, "log_level", None) in DETAILED:
            import traceback

            traceback.print_exception(problem)
        tell_problem(args, internal_error(problem), report_it(args))
        return INTERNAL
    return code


def tell_problem(args: argparse.Namespace, message: str, help: str | None = None) -> None:
    """Why the command cannot go on."""
    if getattr(args, "log_format", None) == "json":
        from clinker.cli.log_lines import write_error

        write_error(message, help=help)
        return
    print(f"error: {message}", file=sys.stderr)
    if help:
        print(f"  help: {help}", file=sys.stderr)


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


def add_completion(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "completion",
        help="print a script that completes command lines in your shell",
        description="Print a script with which a shell completes commands, options and files.",
    )
    command.add_argument("shell", choices=SHELLS, help="the shell: " + ", ".join(SHELLS))


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
