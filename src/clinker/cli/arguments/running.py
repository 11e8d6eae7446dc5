"""Commands about whole pipelines: `run`, `explain`."""

from __future__ import annotations

import argparse

from clinker.cli.arguments.shared import (
    LOG_LEVELS,
    Commands,
    add_compilation,
    add_engine,
    add_resources,
)
from clinker.cli.arguments.values import FOREVER, at_least, utf_8, wait_seconds
from clinker.cli.command import add_format

_LOG_FORMATS = ("text", "json")
EXPLAIN_FORMATS = ("text", "json", "dot", "svg", "sql")


def add_run(commands: Commands) -> None:
    command = commands.add_parser(
        "run",
        help="compile a pipeline, and run or explain it",
        description="Compile a pipeline and run it. Mistakes are reported before data is read.",
    )
    command.add_argument("config", metavar="CONFIG", help="the pipeline file")
    _add_run_modes(command)
    _add_run_resources(command)
    add_engine(command)
    _add_run_files(command)
    _add_run_reporting(command)


def _add_run_modes(command: argparse.ArgumentParser) -> None:
    modes = command.add_argument_group("without running")
    modes.add_argument(
        "--dry-run", action="store_true", help="check everything that needs no data, then stop"
    )
    modes.add_argument(
        "-n",
        "--dry-run-n",
        metavar="N",
        type=at_least(1),
        help="a dry run with the first N records of each source: print what would be written",
    )
    modes.add_argument(
        "--dry-run-output", metavar="FILE", help="with -n: write to FILE instead of printing"
    )
    modes.add_argument(
        "--explain",
        metavar="FORMAT",
        nargs="?",
        const="text",
        choices=EXPLAIN_FORMATS,
        help="print the execution plan and stop: " + ", ".join(EXPLAIN_FORMATS),
    )


def _add_run_resources(command: argparse.ArgumentParser) -> None:
    resources = command.add_argument_group("resources")
    add_resources(resources)
    resources.add_argument(
        "--error-threshold",
        metavar="N",
        type=at_least(0),
        default=0,
        help="stop after N rejected records (default: 0, no limit)",
    )


def _add_run_files(command: argparse.ArgumentParser) -> None:
    files = command.add_argument_group("files")
    add_compilation(files, several_channels=True)
    files.add_argument("--force", action="store_true", help="overwrite existing output files")
    files.add_argument(
        "--wait",
        metavar="DURATION",
        nargs="?",
        const=FOREVER,
        type=wait_seconds,
        help="wait for another run that writes the same files, at most as long as 10m or 2h",
    )


def _add_run_reporting(command: argparse.ArgumentParser) -> None:
    reporting = command.add_argument_group("reporting")
    reporting.add_argument(
        "--batch-id",
        metavar="ID",
        type=utf_8,
        help="identifies the run in metrics, paths and logs",
    )
    reporting.add_argument("--quiet", action="store_true", help="show no progress, only problems")
    reporting.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        help="how much is logged (default: $CLINKER_LOG_LEVEL, else info)",
    )
    reporting.add_argument(
        "--log-format",
        choices=_LOG_FORMATS,
        help="how it is logged: as text for people, or as a JSON object on every line "
        "(default: $CLINKER_LOG_FORMAT, else text)",
    )
    reporting.add_argument(
        "--metrics-spool-dir",
        metavar="DIR",
        help="where the run leaves its metrics (default: $CLINKER_METRICS_SPOOL_DIR)",
    )
    reporting.add_argument(
        "--openlineage",
        metavar="FILE|URL",
        help="tell a catalogue what the run reads and writes, and which columns are made of which "
        "(default: $CLINKER_OPENLINEAGE)",
    )
    reporting.add_argument(
        "--report",
        metavar="FILE",
        help="leave a report of the run as a page to be read in a browser, or under the id of the "
        "run in a directory (default: $CLINKER_REPORT)",
    )
    reporting.add_argument(
        "--count-nodes",
        action="store_true",
        help="count the records between nodes also where that takes another look at them",
    )
    add_format(
        reporting,
        "how diagnostics and the report of the run are printed: for people, or as JSON",
    )


def add_explain(commands: Commands) -> None:
    command = commands.add_parser(
        "explain",
        help="explain a diagnostic code, a pipeline, or where a value comes from",
        description="Explain a diagnostic code, how a pipeline would run, or where the value of a "
        "parameter comes from.",
    )
    command.add_argument(
        "subject", metavar="SUBJECT", nargs="?", help="a code such as E153, or a pipeline file"
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument("--code", metavar="CODE", help="a code such as E153")
    what.add_argument(
        "--field", metavar="NODE.PARAM", help="a parameter of a composition call in the pipeline"
    )
    what.add_argument(
        "--plan",
        metavar="FORMAT",
        choices=EXPLAIN_FORMATS,
        default="text",
        help="how the execution plan is printed: " + ", ".join(EXPLAIN_FORMATS),
    )
    add_compilation(command)
    add_format(command)
