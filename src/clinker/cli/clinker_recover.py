"""`clinker recover`: undo or remove what killed runs have left."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from clinker.cli.clinker_run import compile_file
from clinker.cli.command import CONFIGURATION, IO, OK, USAGE, CommandError, report
from clinker.cxl.failure import printable
from clinker.formats.files.marks import nearest_directory
from clinker.formats.files.objects.recovery import places_below, recover_objects
from clinker.formats.files.recovery import recover
from clinker.plan.files.paths import url_fault, with_parents, written_places
from clinker.stores.urls import FilePath, ObjectUrl, parse_url


def run(args: Namespace) -> int:
    directories = [
        directory for place in args.places or ["."] for directory in _directories(place, args)
    ]
    # Only this one module of the engine is needed, and it needs nothing else.
    from clinker.engine.session.workspace import remove_abandoned

    recoveries = [
        *recover([place for place in directories if isinstance(place, Path)], force=args.force),
        *recover_objects(
            [place for place in directories if isinstance(place, ObjectUrl)], force=args.force
        ),
    ]
    for recovered in recoveries:
        print(recovered, file=sys.stderr if recovered.problem else sys.stdout)
    runs = remove_abandoned()
    if runs:
        print(f"removed temporary files of {runs} killed run{'' if runs == 1 else 's'}")
    if not recoveries and not runs and not args.quiet:
        print("nothing to recover")
    return IO if any(recovered.problem for recovered in recoveries) else OK


def _directories(place: str, args: Namespace) -> Iterator[FilePath]:
    """Where runs may have left something."""
    if url := parse_url(place):
        if wrong := url_fault(url):
            raise CommandError(f"{wrong.message}\n  help: {wrong.help}", USAGE)
        yield from _below_in_store(ObjectUrl(url.scheme, url.authority, url.key.rstrip("/")))
        return
    path = Path(place)
    if path.is_dir():
        yield from _below(path)
        return
    args.config = place
    compiled = compile_file(args)
    if compiled.plan is None:
        report(compiled.diagnostics, "text")
        raise CommandError(f"'{place}' does not compile", CONFIGURATION)
    pipeline, graph = compiled.plan.pipeline, compiled.plan.graph
    for directory, has_others_below in written_places(pipeline, graph, compiled.plan.options):
        if isinstance(directory, ObjectUrl):
            yield from _below_in_store(directory) if has_others_below else [directory]
            continue
        for each in with_parents(directory, compiled.plan.options.base_dir):
            if isinstance(each, Path):
                yield nearest_directory(each)
        if has_others_below:
            yield from _below(directory)


def _below_in_store(directory: ObjectUrl) -> list[ObjectUrl]:
    try:
        return places_below(directory)
    except OSError as problem:
        raise CommandError(f"'{printable(str(directory))}': {problem.strerror}", IO) from problem


def _below(directory: Path) -> Iterator[Path]:
    return (Path(folder) for folder, _, _ in os.walk(directory))
