"""`cxl check`"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from clinker.cli.command import report
from clinker.cli.inputs import read_program, read_schema
from clinker.cxl.check.modules import ModuleLibrary, holds_module, module_from
from clinker.cxl.check.resolve import OPEN_ROW, Context
from clinker.cxl.check.typecheck import check, check_module
from clinker.cxl.syntax.parser import parse
from clinker.diagnostics import Diagnostic, Source


def run(args: Namespace) -> int:
    source = read_program(args.file)
    context = Context(
        row=read_schema(args.schema) if args.schema else OPEN_ROW,
        modules=ModuleLibrary(Path(args.rules_path)),
        pipeline=None,
        source=None,
        record=None,
        vars=None,
        config=None,
    )
    diagnostics = findings(source, context)
    failed = report(diagnostics, args.format)
    if not failed and args.format == "text":
        print(f"ok: {source.name} is valid")
    return 1 if failed else 0


def findings(source: Source, context: Context) -> list[Diagnostic]:
    """Everything there is to say about a program or a module."""
    parsed = parse(source)
    if holds_module(parsed.program):
        return check_module(module_from(parsed))
    return check(parsed, context).diagnostics
