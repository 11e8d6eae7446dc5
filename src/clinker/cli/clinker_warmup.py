"""`clinker warmup`"""

from __future__ import annotations

from argparse import Namespace

from clinker.cli.command import IO, OK, CommandError


def run(args: Namespace) -> int:
    from clinker.engine.run.practice import practise_pipelines
    from clinker.engine.session import SessionError
    from clinker.engine.session.training import build_cache

    try:
        file = build_cache(practise_pipelines)
    except SessionError as problem:
        raise CommandError(str(problem), IO) from problem
    if args.quiet:
        return OK
    if file is None:
        print("nothing to do: this Java has no ahead-of-time cache (Java 25 and newer have)")
    else:
        print(f"ok: runs start faster with {file} ({file.stat().st_size >> 20} MB)")
    return OK
