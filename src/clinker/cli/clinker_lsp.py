"""`clinker lsp`"""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec
from os import environ
from pathlib import Path

from clinker.cli.command import OK, USAGE, CommandError
from clinker.editing.checking import NO_DIRECTORY
from clinker.plan.options import Options

_MISSING = (
    "the language server needs pygls, which is not installed\n"
    "  help: pip install 'clinker-spark[lsp]'"
)


def run(args: Namespace) -> int:
    if find_spec("pygls") is None:
        raise CommandError(_MISSING, USAGE)
    from clinker.cli.language_server import serve

    serve(
        Options(
            NO_DIRECTORY,
            rules_path=Path(args.rules_path).absolute() if args.rules_path else None,
            allow_absolute_paths=args.allow_absolute_paths,
            variables=dict(environ),
        )
    )
    return OK
