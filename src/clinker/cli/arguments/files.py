"""Commands for those who write files of ours: `check`, `fmt`, `lsp`, `schema`."""

from __future__ import annotations

from clinker.cli.arguments.shared import Commands, add_places
from clinker.cli.command import add_format

_CHECK_FORMATS = ("text", "github", "sarif", "json")
_SCHEMA_KINDS = ("pipeline", "composition", "channel", "schema", "workspace", "test")


def add_check(commands: Commands) -> None:
    command = commands.add_parser(
        "check",
        help="check pipelines, compositions, channels, schemas, CXL and clinker.toml",
        description="Check files without running anything: pipelines, compositions, channels, "
        "schemas, CXL programs and modules, clinker.toml. Directories are searched for them.",
    )
    command.add_argument(
        "paths", metavar="PATH", nargs="*", default=["."], help="a file or a directory (default: .)"
    )
    add_places(command, "where relative paths in all files start (default: each file's directory)")
    command.add_argument(
        "--format",
        choices=_CHECK_FORMATS,
        default="text",
        help="how diagnostics are printed: " + ", ".join(_CHECK_FORMATS),
    )


def add_fmt(commands: Commands) -> None:
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


def add_lsp(commands: Commands) -> None:
    command = commands.add_parser(
        "lsp",
        help="serve editors: diagnostics, completion, hover, definitions, renaming",
        description="Speak the Language Server Protocol on standard input and output, as editors "
        "ask for it.",
    )
    command.add_argument(
        "--stdio", action="store_true", help="the only way there is; editors name it"
    )
    add_places(command, base_dir=None)


def add_schema(commands: Commands) -> None:
    command = commands.add_parser(
        "schema",
        help="print the JSON Schema of a kind of file",
        description="Print the JSON Schema with which editors complete and check a kind of file.",
    )
    command.add_argument(
        "--kind",
        choices=_SCHEMA_KINDS,
        default="pipeline",
        help="the kind of file; workspace is clinker.toml (default: pipeline)",
    )
