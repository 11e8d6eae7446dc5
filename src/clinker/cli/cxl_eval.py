"""`cxl eval`"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from clinker.cli.command import report
from clinker.cli.inputs import (
    UsageError,
    as_json,
    parse_assignments,
    parse_record,
    read_program,
    read_schema,
)
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Dropped, Outcome, Record, RowProgram, Surroundings, utc_now
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY
from clinker.cxl.values import Value
from clinker.diagnostics import Source

TRACE_LEVELS = [level.value for level in TraceLevel]

_ZERO_UUID = "00000000-0000-0000-0000-000000000000"
_NOTES = {
    Dropped.FILTERED: "note: record filtered by predicate",
    Dropped.DUPLICATE: "note: record dropped as duplicate (distinct)",
}


def run(args: Namespace) -> int:
    source = _program(args)
    record = _record(args)
    variables = parse_assignments("--var", args.var)
    row = read_schema(args.schema) if args.schema else Row(dict.fromkeys(record, ANY))
    context = Context(
        row=row,
        modules=ModuleLibrary(Path(args.rules_path)),
        vars=dict.fromkeys(variables, ANY),
    )
    checked = check(parse(source), context)
    if checked.program is None:
        report(checked.diagnostics, args.format, sys.stderr)
        return 1
    if checked.diagnostics:
        report(checked.diagnostics, args.format, sys.stderr)
    surroundings = Surroundings(_system(source, variables), trace=_tracer(args.trace))
    try:
        outcome = RowProgram(checked.program, surroundings).run(record)
    except Failure as failure:
        report([failure.diagnostic()], args.format, sys.stderr)
        return 1
    _print(outcome)
    return 0


def _program(args: Namespace) -> Source:
    if args.file and args.expr:
        raise UsageError("give either a file or -e, not both")
    if not args.file and not args.expr:
        raise UsageError("nothing to evaluate: give a file or -e SOURCE")
    return read_program(args.file) if args.file else Source("<inline>", "\n".join(args.expr))


def _record(args: Namespace) -> Record:
    if args.field and args.record is not None:
        raise UsageError("give either --field or --record, not both")
    if args.record is not None:
        return parse_record(args.record)
    return parse_assignments("--field", args.field)


def _system(source: Source, variables: Record) -> dict[tuple[str, tuple[str, ...]], Value]:
    """The pipeline context of an evaluation outside a pipeline."""
    started = utc_now()
    pipeline: Record = {
        "name": "cxl-eval",
        "execution_id": _ZERO_UUID,
        "batch_id": _ZERO_UUID,
        "start_time": started,
        "source_file": source.name,
        "source_row": 1,
    }
    origin: Record = {
        "file": source.name,
        "path": source.name,
        "name": source.name,
        "row": 1,
        "count": 1,
        "batch": _ZERO_UUID,
        "ingestion_timestamp": started,
    }
    namespaces = {"pipeline": pipeline, "source": origin, "vars": variables}
    return {
        (namespace, (name,)): value
        for namespace, members in namespaces.items()
        for name, value in members.items()
    }


def _tracer(threshold: str | None) -> Callable[[TraceLevel, str], None]:
    shown = TRACE_LEVELS[TRACE_LEVELS.index(threshold) :] if threshold else []

    def trace(level: TraceLevel, message: str) -> None:
        if level.value in shown:
            print(f"{level.upper()} {message}", file=sys.stderr)

    return trace


def _print(outcome: Outcome) -> None:
    if outcome.dropped:
        print(_NOTES[outcome.dropped], file=sys.stderr)
    records = [{k: as_json(v) for k, v in r.fields.items()} for r in outcome.records]
    shown: object = records
    if not outcome.fanned_out:
        shown = records[0] if records else {}
    print(json.dumps(shown, ensure_ascii=False, indent=2))
