"""`clinker infer`"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clinker.cli.command import IO, OK, USAGE, CommandError
from clinker.cxl.failure import printable


def run(args: Namespace) -> int:
    from clinker.formats.common.read_spec import FormatError
    from clinker.infer.infer import infer

    if args.name and len(args.files) > 1:
        raise CommandError("--name names one source, so it needs exactly one file", USAGE)
    if args.name and not args.name.replace("-", "_").isidentifier():
        raise CommandError(f"--name: '{printable(args.name)}' is no name for a source", USAGE)
    _check_urls(args.files)
    output = Path(args.output) if args.output else None
    base_dir = output.parent if output else Path()
    try:
        found = infer(args.files, base_dir, records=args.sample, format=args.format, name=args.name)
    except FormatError as problem:
        help = f"\n  help: {problem.help}" if problem.help else ""
        raise CommandError(f"{problem}{help}", IO) from problem
    for doubt in found.doubts:
        print(f"warning: {printable(doubt)}", file=sys.stderr)
    _warn_of_outsiders([source.path for source in found.sources], base_dir)
    if output is None:
        sys.stdout.write(found.text)
        return OK
    _write(output, found.text)
    shown = printable(str(output))
    print(f"ok: wrote {shown}; see its records with: clinker show {shown}")
    return OK


def _check_urls(paths: Sequence[str]) -> None:
    """Nothing is asked of a store by a URL that would tell secrets."""
    from clinker.plan.files.paths import url_fault
    from clinker.stores.urls import parse_url

    for url in filter(None, map(parse_url, paths)):
        if wrong := url_fault(url):
            raise CommandError(f"{wrong.message}\n  help: {wrong.help}", USAGE)


def _warn_of_outsiders(paths: Sequence[str], base_dir: Path) -> None:
    """Sources may lie only below the pipeline file, or below the workspace that it is in."""
    from clinker.plan.files.paths import forbidden, leaves, resolve
    from clinker.plan.files.storage import load_storage
    from clinker.plan.files.workspace import locate_workspace
    from clinker.plan.options import Options
    from clinker.stores.urls import parse_url

    options = locate_workspace(Options(base_dir=base_dir))
    root, settings = options.root, load_storage(options.root).settings
    options = replace(options, objects=settings.objects if settings else ())
    for path in paths:
        if parse_url(path):
            if wrong := forbidden(path, options):
                print(f"warning: {wrong.message}: {wrong.help}", file=sys.stderr)
        elif leaves(resolve(path, base_dir), root):
            print(
                f"warning: {printable(path)} is outside of the pipeline's directory, so a run "
                "refuses it: put a clinker.toml into a directory above both",
                file=sys.stderr,
            )


def _write(output: Path, text: str) -> None:
    """A new file; one that is there may hold somebody's work."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        message = f"'{printable(str(output))}' exists already; choose another name, or remove it"
        raise CommandError(message, IO) from None
    except OSError as problem:
        shown = printable(str(output))
        raise CommandError(f"cannot write '{shown}': {problem.strerror}", IO) from problem
