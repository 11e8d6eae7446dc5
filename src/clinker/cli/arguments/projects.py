"""Commands that projects begin with: `init`, `infer`, `show`, `test`."""

from __future__ import annotations

from clinker.cli.arguments.shared import Commands, add_compilation, add_places, add_session
from clinker.cli.arguments.values import at_least

EXAMPLES = ("edi_orders", "mainframe_extract", "order_report", "retract_demo", "start")
_SHOWN_FORMATS = ("table", "csv", "json")
INFERRED = ("csv", "json", "xml", "fixed_width", "parquet")


def add_init(commands: Commands) -> None:
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


def add_infer(commands: Commands) -> None:
    command = commands.add_parser(
        "infer",
        help="write a source with its schema, from a sample of a file",
        description="Look at files and write a pipeline file that reads them: formats, columns "
        "and types, with what speaks for them.",
    )
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="CSV, JSON, NDJSON, XML, fixed-width or Parquet files",
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
        type=at_least(1),
        default=10_000,
        help="how many records are looked at (default: 10000)",
    )


def add_show(commands: Commands) -> None:
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
        type=at_least(1),
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
        choices=_SHOWN_FORMATS,
        default="table",
        help="table, or only the records as csv or json, for other programs",
    )
    amount = command.add_mutually_exclusive_group()
    amount.add_argument(
        "--sample", metavar="N", type=at_least(1), help="read only the first N records of a source"
    )
    amount.add_argument(
        "--all",
        action="store_true",
        help="read all records, also of sources that are so large that else only "
        "the first 10000 are read",
    )
    add_compilation(command.add_argument_group("files"))
    add_session(command)


def add_test(commands: Commands) -> None:
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
    add_places(files, "where relative paths start (default: each pipeline's directory)")
    add_session(command)
