"""`clinker init`"""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path

from clinker.cli.command import IO, OK, CommandError
from clinker.cxl.failure import printable
from clinker.starting import START, Occupied, make_project

_NEXT = {
    START: (
        "clinker show orders.yaml orders   # the records of a node, and what was rejected there",
        "clinker run orders.yaml           # writes to output",
        "clinker test                      # runs the cases of orders_test.yaml",
    )
}
_NEXT_OF_OTHERS = ("clinker run pipeline.yaml",)


def run(args: Namespace) -> int:
    example = args.example or START
    directory = Path(args.directory or (args.example or "."))
    try:
        files = make_project(directory, example)
    except Occupied as problem:
        listed = ", ".join(f"'{printable(str(directory / file))}'" for file in problem.files)
        what = "exists" if len(problem.files) == 1 else "exist"
        message = f"{listed} {what} already, and nothing is overwritten; name another directory"
        raise CommandError(message, IO) from None
    except OSError as problem:
        name = printable(str(problem.filename or directory))
        raise CommandError(f"cannot write '{name}': {problem.strerror}", IO) from problem
    print(f"ok: made {len(files)} files in {printable(str(directory))}:")
    for file in files:
        print(f"  {file.as_posix()}")
    print("next:")
    if directory != Path():
        print(f"  cd {printable(shlex.quote(str(directory)))}")
    for line in _NEXT.get(example, _NEXT_OF_OTHERS):
        print(f"  {line}")
    return OK
