"""`clinker explain`"""

from __future__ import annotations

from argparse import Namespace

from clinker.cli.clinker_run import compile_file, explain_plan, why_without_plan
from clinker.cli.command import CONFIGURATION, OK, USAGE, CommandError, report
from clinker.diagnostics import codes


def run(args: Namespace) -> int:
    if args.code or (args.subject and codes.is_code(args.subject)):
        return _explain_code(args.code or args.subject)
    if not args.subject:
        raise CommandError("name what is to be explained: a code or a pipeline file", USAGE)
    args.config = args.subject
    return _explain_field(args) if args.field else explain_plan(args, args.plan)


def _explain_code(code: str) -> int:
    page = codes.page(code)
    if page is None and (retired := codes.why_retired(code)):
        print(retired)
        return OK
    if page is None:
        raise CommandError(codes.why_unknown(code), CONFIGURATION)
    codes.print_page(page)
    return OK


def _explain_field(args: Namespace) -> int:
    from clinker.plan.graph.parameters import UnknownField, explain_field

    compiled = compile_file(args)
    if compiled.plan is None:
        report(compiled.diagnostics, args.format)
        return why_without_plan(compiled)
    try:
        print(explain_field(compiled.plan.parameters, args.field))
    except UnknownField as unknown:
        raise CommandError(str(unknown), CONFIGURATION) from unknown
    return OK
