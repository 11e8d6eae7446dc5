"""Programs and modules that are checked by themselves, without the pipeline that uses them."""

from __future__ import annotations

from clinker.cxl.check.modules import ModuleLibrary, holds_module, module_from
from clinker.cxl.check.resolve import OPEN_ROW, Context, Row
from clinker.cxl.check.typecheck import check, check_module
from clinker.cxl.syntax.parser import parse
from clinker.diagnostics import Diagnostic, Source


def lone_context(modules: ModuleLibrary, row: Row = OPEN_ROW) -> Context:
    """What a program may name when nobody knows who runs it: nearly everything."""
    return Context(
        row=row, modules=modules, pipeline=None, source=None, record=None, vars=None, config=None
    )


def check_lone(source: Source, context: Context) -> list[Diagnostic]:
    """Everything there is to say about a program or a module."""
    parsed = parse(source)
    if holds_module(parsed.program):
        return check_module(module_from(parsed))
    return check(parsed, context).diagnostics
