"""`clinker`: check, explain and run pipelines."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise

from clinker import __version__
from clinker.cli.arguments.files import add_check, add_fmt, add_lsp, add_schema
from clinker.cli.arguments.projects import add_infer, add_init, add_show, add_test
from clinker.cli.arguments.running import EXPLAIN_FORMATS, add_explain, add_run
from clinker.cli.arguments.upkeep import add_metrics, add_recover, add_warmup
from clinker.cli.arguments.values import FOREVER
from clinker.cli.command import Parser, add_completion, run_command
from clinker.imports import leave_out_pandas

_PIPELINE_FILES = (".yaml", ".yml")
_OPTIONAL_VALUES = {"--explain": EXPLAIN_FORMATS[0], "--wait": FOREVER}
"""What options mean that need no value."""

_EPILOG = """\
exit codes:
    0  success
    1  the pipeline file, a channel, a composition or CXL has errors; or a test fails
    2  finished, with records in the dead-letter queue
    3  an evaluation error stopped the run, or an error threshold was reached
    4  a file could not be read or written
   64  wrong usage of the command line
   70  a defect of clinker
  130  interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    if argv is None:  # this process is ours alone
        leave_out_pandas()
    return run_command(command_parser(), argv, _spell_out)


def _spell_out(words: Sequence[str]) -> Sequence[str]:
    """`--explain pipeline.yaml` names no format, so that it is `--explain text pipeline.yaml`."""
    spelled: list[str] = []
    for option, value in pairwise([*words, ""]):
        spelled.append(option)
        if option in _OPTIONAL_VALUES and value.endswith(_PIPELINE_FILES):
            spelled.append(_OPTIONAL_VALUES[option])
    return spelled


def command_parser() -> Parser:
    """The command line as a whole."""
    parser = Parser(
        prog="clinker",
        description="Declarative batch ETL: one YAML file, typed expressions, files out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clinker {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_init(commands)
    add_infer(commands)
    add_show(commands)
    add_test(commands)
    add_run(commands)
    add_explain(commands)
    add_check(commands)
    add_fmt(commands)
    add_schema(commands)
    add_lsp(commands)
    add_metrics(commands)
    add_recover(commands)
    add_warmup(commands)
    add_completion(commands)
    return parser
