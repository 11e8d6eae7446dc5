"""`cxl check`"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from clinker.cli.command import report
from clinker.cli.inputs import read_program, read_schema
from clinker.cxl.check.lone import check_lone, lone_context
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import OPEN_ROW


def run(args: Namespace) -> int:
    source = read_program(args.file)
    row = read_schema(args.schema) if args.schema else OPEN_ROW
    context = lone_context(ModuleLibrary(Path(args.rules_path)), row)
    failed = report(check_lone(source, context), args.format)
    if not failed and args.format == "text":
        print(f"ok: {source.name} is valid")
    return 1 if failed else 0
