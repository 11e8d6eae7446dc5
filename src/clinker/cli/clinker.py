"""`clinker`: check, explain and run pipelines."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from clinker import __version__
from clinker.cli.command import Parser, add_completion, add_format, run_command
from clinker.engine_names import ENGINES

LOG_LEVELS = ("error", "warn", "info", "debug", "trace")
LOG_FORMATS = ("text", "json")
EXPLAIN_FORMATS = ("text", "json", "dot", "sql")
CHECK_FORMATS = ("text", "github", "sarif", "json")
SCHEMA_KINDS = ("pipeline", "composition", "channel", "schema", "workspace", "test")
EXAMPLES = ("edi_orders", "mainframe_extract", "order_report", "retract_demo", "start")
SHOWN_FORMATS = ("table", "csv", "json")
INFERRED = ("csv", "json", "xml", "fixed_width")
_PIPELINE_FILES = (".yaml", ".yml")
_FOREVER = "forever"
_OPTIONAL_VALUES = {"--explain": EXPLAIN_FORMATS[0], "--wait": _FOREVER}
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
    return run_command(command_parser(), argv, _spell_out)


def _spell_out(words: Sequence[str]) -> Sequence[str]:
    """`--explain pipeline.yaml` names no format, so that it is `--explain text pipeline.yaml`."""
    spelled: list[str] = []
    for option, value in pairwise([*words, ""]):
        spelled.append(option)
        if option in _OPTIONAL_VALUES and value.endswith(_PIPELINE_FILES):
            spelled.append(_OPTIONAL_VALUES[option])
    return spelled


_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


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
    _add_init(commands)
    _add_infer(commands)
    _add_show(commands)
    _add_test(commands)
    _add_run(commands)
    _add_explain(commands)
    _add_check(commands)
    _add_fmt(commands)
    _add_schema(commands)
    _add_lsp(commands)
    _add_metrics(commands)
    _add_recover(commands)
    _add_warmup(commands)
    add_completion(commands)
    return parser


def _add_init(commands: _Commands) -> None:
    command = commands.add_parser(
        "init",
        help="make a project to begin with",
        description="Make a project: a pipeline, its data, a channel, a test, settings for "
        "editors. Nothing is overwritten.",
    )
    command.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        help="where (default: this directory; of an example, a new one of its name)",
    )
    command.add_argument(
        "--example",
        metavar="NAME",
        choices=EXAMPLES,
        help="another example: " + ", ".join(EXAMPLES),
    )


def _add_infer(commands: _Commands) -> None:
    command = commands.add_parser(
        "infer",
        help="write a source with its schema, from a sample of a file",
        description="Look at files and write a pipeline file that reads them: formats, columns "
        "and types, with what speaks for them.",
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", help="CSV, JSON, NDJSON, XML or fixed-width files"
    )
    command.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="write a new pipeline file, in which paths start (default: print it)",
    )
    command.add_argument(
        "--name", metavar="NAME", help="the source's name (default: that of the file)"
    )
    command.add_argument(
        "--format", choices=INFERRED, help="the format, if the file does not tell: %(choices)s"
    )
    command.add_argument(
        "--sample",
        metavar="N",
        type=_at_least(1),
        default=10_000,
        help="how many records are looked at (default: 10000)",
    )


def _add_show(commands: _Commands) -> None:
    command = commands.add_parser(
        "show",
        help="show the records of a node, and why others were rejected there",
        description="Compute what leaves a node, and show it with what the node rejected. Only "
        "what the node needs is computed, and nothing is written.",
    )
    command.add_argument("config", metavar="PIPELINE", help="the pipeline file")
    command.add_argument(
        "outlet",
        metavar="NODE[.PORT]",
        nargs="?",
        help="the node, or one of its ports (default: all that nothing reads from)",
    )
    command.add_argument(
        "-n",
        metavar="N",
        type=_at_least(1),
        default=20,
        help="how many records are shown, and how many rejected ones (default: 20)",
    )
    command.add_argument(
        "--profile",
        action="store_true",
        help="also show of every column how many values, nulls and distinct values it has, the "
        "least and the greatest",
    )
    command.add_argument(
        "--format",
        choices=SHOWN_FORMATS,
        default="table",
        help="table, or only the records as csv or json, for other programs",
    )
    amount = command.add_mutually_exclusive_group()
    amount.add_argument(
        "--sample", metavar="N", type=_at_least(1), help="read only the first N records of a source"
    )
    amount.add_argument(
        "--all",
        action="store_true",
        help="read all records, also of sources that are so large that else only "
        "the first 10000 are read",
    )
    _add_compilation(command.add_argument_group("files"))
    _add_session(command)


def _add_test(commands: _Commands) -> None:
    command = commands.add_parser(
        "test",
        help="run the tests of pipelines",
        description="Run pipelines on records that test files give, and compare what comes of it "
        "with what they expect. Nothing is written. The exit code is 0 if all cases pass, else 1.",
    )
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="test files, or directories below which the names of test files end in _test.yaml "
        "(default: this directory)",
    )
    command.add_argument(
        "-k", metavar="TEXT", help="only the cases whose name, or whose file's, holds this text"
    )
    command.add_argument(
        "--update",
        action="store_true",
        help="rewrite expectations that are not met, in place: look at the changes afterwards",
    )
    command.add_argument("--junit", metavar="FILE", help="also write the outcome as JUnit XML")
    files = command.add_argument_group("files")
    files.add_argument(
        "--base-dir",
        metavar="DIR",
        help="where relative paths of pipelines start (default: each pipeline's directory)",
    )
    files.add_argument(
        "--rules-path", metavar="DIR", help="where `use` finds CXL modules (default: ./rules)"
    )
    files.add_argument(
        "--allow-absolute-paths", action="store_true", help="permit absolute paths in pipelines"
    )
    _add_session(command)


def _add_session(command: argparse.ArgumentParser) -> None:
    """What decides where something is computed, for commands that write no files."""
    _add_resources(command.add_argument_group("resources"))
    _add_run_engine(command)
    reporting = command.add_argument_group("reporting")
    reporting.add_argument("--quiet", action="store_true", help="show no progress, only problems")
    reporting.add_argument(
        "--log-level", choices=LOG_LEVELS, default="warn", help="how much is logged"
    )


def _add_run(commands: _Commands) -> None:
    command = commands.add_parser(
        "run",
        help="compile a pipeline, and run or explain it",
        description="Compile a pipeline and run it. Mistakes are reported before data is read.",
    )
    command.add_argument("config", metavar="CONFIG", help="the pipeline file")
    _add_run_modes(command)
    _add_run_resources(command)
    _add_run_engine(command)
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
        type=_at_least(1),
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
    _add_resources(resources)
    resources.add_argument(
        "--error-threshold",
        metavar="N",
        type=_at_least(0),
        default=0,
        help="stop after N rejected records (default: 0, no limit)",
    )


def _add_resources(resources: argparse._ActionsContainer) -> None:
    """What a session may use, wherever one is opened."""
    resources.add_argument(
        "--memory-limit",
        metavar="SIZE",
        type=_memory_size,
        help="memory for the run, as 512M or 2G (default: the file's memory.limit, else 512M)",
    )
    resources.add_argument(
        "--threads", metavar="N", type=_at_least(1), help="processor cores to use (default: all)"
    )


def _add_run_engine(command: argparse.ArgumentParser) -> None:
    engine = command.add_argument_group("engine")
    engine.add_argument(
        "--engine",
        choices=ENGINES,
        help="what computes: spark, or sail, which starts faster, on this machine only "
        "(default: $CLINKER_ENGINE, else clinker.toml, else spark)",
    )
    where = engine.add_mutually_exclusive_group()
    where.add_argument(
        "--master",
        metavar="URL",
        help="the Spark cluster, as spark://host:7077, yarn or k8s://… (default: this machine)",
    )
    where.add_argument(
        "--remote",
        metavar="URL",
        help="a Spark Connect server, as sc://host:15002 (default: $CLINKER_REMOTE)",
    )
    engine.add_argument(
        "--spark-conf",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a Spark setting; can be repeated",
    )


def _add_run_files(command: argparse.ArgumentParser) -> None:
    files = command.add_argument_group("files")
    _add_compilation(files)
    files.add_argument("--force", action="store_true", help="overwrite existing output files")
    files.add_argument(
        "--wait",
        metavar="DURATION",
        nargs="?",
        const=_FOREVER,
        type=_wait_seconds,
        help="wait for another run that writes the same files, at most as long as 10m or 2h",
    )


def _add_compilation(command: argparse._ActionsContainer) -> None:
    """What decides how a pipeline file is read, wherever one is compiled."""
    command.add_argument(
        "--base-dir",
        metavar="DIR",
        help="where relative paths start (default: the pipeline file's directory)",
    )
    command.add_argument("--channel", metavar="FILE", help="a .channel.yaml file to apply")
    command.add_argument(
        "--rules-path", metavar="DIR", help="where `use` finds CXL modules (default: ./rules)"
    )
    command.add_argument(
        "--allow-absolute-paths", action="store_true", help="permit absolute paths in the file"
    )
    command.add_argument(
        "--env", metavar="NAME", help="the active environment (default: $CLINKER_ENV)"
    )
    command.add_argument(
        "--var",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="the value of a variable that pipeline.vars declares; can be repeated",
    )


def _add_run_reporting(command: argparse.ArgumentParser) -> None:
    reporting = command.add_argument_group("reporting")
    reporting.add_argument(
        "--batch-id", metavar="ID", help="identifies the run in metrics, paths and logs"
    )
    reporting.add_argument("--quiet", action="store_true", help="show no progress, only problems")
    reporting.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        help="how much is logged (default: $CLINKER_LOG_LEVEL, else info)",
    )
    reporting.add_argument(
        "--log-format",
        choices=LOG_FORMATS,
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
        "--count-nodes",
        action="store_true",
        help="count the records between nodes also where that takes another look at them",
    )
    add_format(
        reporting,
        "how diagnostics and the report of the run are printed: for people, or as JSON",
    )


def _add_explain(commands: _Commands) -> None:
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
    _add_compilation(command)
    add_format(command)


def _add_check(commands: _Commands) -> None:
    command = commands.add_parser(
        "check",
        help="check pipelines, compositions, channels, schemas, CXL and clinker.toml",
        description="Check files without running anything: pipelines, compositions, channels, "
        "schemas, CXL programs and modules, clinker.toml. Directories are searched for them.",
    )
    command.add_argument(
        "paths", metavar="PATH", nargs="*", default=["."], help="a file or a directory (default: .)"
    )
    command.add_argument(
        "--base-dir",
        metavar="DIR",
        help="where relative paths in all files start (default: each file's directory)",
    )
    command.add_argument(
        "--rules-path", metavar="DIR", help="where `use` finds CXL modules (default: ./rules)"
    )
    command.add_argument(
        "--allow-absolute-paths", action="store_true", help="permit absolute paths in the files"
    )
    command.add_argument(
        "--format",
        choices=CHECK_FORMATS,
        default="text",
        help="how diagnostics are printed: " + ", ".join(CHECK_FORMATS),
    )


def _add_fmt(commands: _Commands) -> None:
    command = commands.add_parser(
        "fmt",
        help="format the CXL in pipelines and compositions, and in .cxl files",
        description="Format CXL in pipelines, compositions and .cxl files and print the result. "
        "Everything around the CXL stays as it is. Directories are searched for such files.",
    )
    command.add_argument("paths", metavar="PATH", nargs="+", help="a file or a directory")
    mode = command.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="only tell which files are not formatted; exit 1 then"
    )
    mode.add_argument("--write", action="store_true", help="write the files back")
    add_format(command)


def _add_lsp(commands: _Commands) -> None:
    command = commands.add_parser(
        "lsp",
        help="serve editors: diagnostics, completion, hover, definitions, renaming",
        description="Speak the Language Server Protocol on standard input and output, as editors "
        "ask for it.",
    )
    command.add_argument(
        "--stdio", action="store_true", help="the only way there is; editors name it"
    )
    command.add_argument(
        "--rules-path", metavar="DIR", help="where `use` finds CXL modules (default: ./rules)"
    )
    command.add_argument(
        "--allow-absolute-paths", action="store_true", help="permit absolute paths in the files"
    )


def _add_schema(commands: _Commands) -> None:
    command = commands.add_parser(
        "schema",
        help="print the JSON Schema of a kind of file",
        description="Print the JSON Schema with which editors complete and check a kind of file.",
    )
    command.add_argument(
        "--kind",
        choices=SCHEMA_KINDS,
        default="pipeline",
        help="the kind of file; workspace is clinker.toml (default: pipeline)",
    )


def _add_metrics(commands: _Commands) -> None:
    command = commands.add_parser(
        "metrics", help="work with the metrics of past runs", description="Metrics of past runs."
    )
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    collect = actions.add_parser(
        "collect",
        help="gather metrics files into one archive",
        description="Append the metrics files of a spool directory to an NDJSON archive.",
    )
    collect.add_argument("--spool-dir", metavar="DIR", required=True, help="where runs left them")
    collect.add_argument("--output-file", metavar="FILE", required=True, help="the archive")
    collect.add_argument(
        "--delete-after-collect", action="store_true", help="delete files once archived"
    )
    collect.add_argument("--dry-run", action="store_true", help="only tell what would be collected")


def _add_recover(commands: _Commands) -> None:
    command = commands.add_parser(
        "recover",
        help="undo or remove what killed runs have left",
        description="Undo what runs that were killed have done to files, and remove what they "
        "have left. Every run does that for the directories it writes to; runs that are alive "
        "are not touched.",
    )
    command.add_argument(
        "places",
        metavar="PLACE",
        nargs="*",
        help="a pipeline file, for the directories it writes to, or a directory, for it and all "
        "below it (default: this directory)",
    )
    command.add_argument(
        "--force",
        action="store_true",
        help="also recover what cannot be recovered completely, and runs of which the file system "
        "cannot tell whether they are alive",
    )
    command.add_argument("--quiet", action="store_true", help="say nothing if nothing is done")
    _add_compilation(command)


def _add_warmup(commands: _Commands) -> None:
    command = commands.add_parser(
        "warmup",
        help="prepare this machine so that runs start faster",
        description="Prepare this machine so that runs start faster. Needed once per installation.",
    )
    command.add_argument("--quiet", action="store_true", help="show only problems")


def _at_least(low: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else low - 1
        if value < low:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of {low} or more")
        return value

    return number


def _wait_seconds(text: str) -> float:
    from clinker.config.quantities import parse_duration

    if text == _FOREVER:
        return math.inf
    try:
        return parse_duration(text).total_seconds()
    except ValueError:
        message = f"'{text}' is not a duration such as 30s, 10m or 2h"
        raise argparse.ArgumentTypeError(message) from None


def _memory_size(text: str) -> int:
    from clinker.config.quantities import parse_memory_size

    try:
        return parse_memory_size(text)
    except ValueError:
        message = f"'{text}' is not a size such as 512M or 2G"
        raise argparse.ArgumentTypeError(message) from None
