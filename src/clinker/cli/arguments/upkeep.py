"""Commands that look after machines and past runs: `metrics`, `recover`, `warmup`."""

from __future__ import annotations

from clinker.cli.arguments.shared import Commands, add_compilation


def add_metrics(commands: Commands) -> None:
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


def add_recover(commands: Commands) -> None:
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
    add_compilation(command)


def add_warmup(commands: Commands) -> None:
    command = commands.add_parser(
        "warmup",
        help="prepare this machine so that runs start faster",
        description="Prepare this machine so that runs start faster. Needed once per installation.",
    )
    command.add_argument("--quiet", action="store_true", help="show only problems")
