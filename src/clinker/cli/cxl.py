"""`cxl`: check, evaluate and format CXL programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TypeAlias

from clinker import __version__
from clinker.cli.command import CXL_IO, Parser, add_completion, add_format, run_command

_TRACE_LEVELS = ("trace", "debug", "info", "warn", "error")

_EPILOG = """\
exit codes:
   0  success, or only warnings
   1  errors in the program, or while it ran
   2  a file or a record that cannot be read
  64  wrong usage of the command line
  70  a defect of cxl
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    return run_command(command_parser(), argv, io_code=CXL_IO)


def command_parser() -> Parser:
    """The command line as a whole."""
    parser = Parser(
        prog="cxl",
        description="Check, evaluate and format CXL, the expression language of pipelines.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cxl {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_check(commands)
    _add_eval(commands)
    _add_fmt(commands)
    _add_functions(commands)
    add_completion(commands)
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def _add_check(commands: _Commands) -> None:
    command = commands.add_parser(
        "check",
        help="report everything wrong with a program",
        description="Parse, resolve and type-check a program or a module.",
    )
    command.add_argument("file", metavar="FILE", help="a .cxl file, or - for standard input")
    _add_context(command)
    add_format(command)


def _add_eval(commands: _Commands) -> None:
    command = commands.add_parser(
        "eval",
        help="run a program on one record and print the result as JSON",
        description="Evaluate a program on one record and print the emitted fields as JSON.",
    )
    command.add_argument("file", metavar="FILE", nargs="?", help="a .cxl file, or -")
    command.add_argument(
        "-e",
        "--expr",
        metavar="SOURCE",
        action="append",
        default=[],
        help="program text instead of a file; repeat it to add statements",
    )
    record = command.add_argument_group("input record")
    record.add_argument(
        "--field",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a field; whole numbers, decimals, true, false and null are recognized",
    )
    record.add_argument("--record", metavar="JSON", help="all fields as a JSON object")
    command.add_argument(
        "--var",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a value for $vars.NAME",
    )
    command.add_argument(
        "--trace",
        metavar="LEVEL",
        choices=_TRACE_LEVELS,
        help="show trace messages of this level and above: " + ", ".join(_TRACE_LEVELS),
    )
    _add_context(command)
    add_format(command)


def _add_fmt(commands: _Commands) -> None:
    command = commands.add_parser(
        "fmt",
        help="print programs in canonical format",
        description="Print programs in canonical format. Comments are kept.",
    )
    command.add_argument("files", metavar="FILE", nargs="+", help="a .cxl file, or -")
    mode = command.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="only tell which files are not formatted (exit 1)"
    )
    mode.add_argument("--write", action="store_true", help="rewrite the files in place")
    add_format(command)


def _add_functions(commands: _Commands) -> None:
    command = commands.add_parser(
        "functions",
        help="list the built-ins, or explain one",
        description="List the built-in methods and functions, or explain one with examples.",
    )
    command.add_argument("name", metavar="NAME", nargs="?", help="a built-in, such as pad_left")


def _add_context(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--schema", metavar="FILE", help="a YAML file of columns and types to check against"
    )
    command.add_argument(
        "--rules-path",
        metavar="DIR",
        default="rules",
        help="where `use` looks for modules (default: ./rules)",
    )
