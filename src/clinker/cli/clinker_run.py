"""`clinker run`"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from clinker.cli.command import CONFIGURATION, IO, OK, USAGE, CommandError, report
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plain_files import read_plain
from clinker.plan.compile import Compiled, Plan, compile_pipeline
from clinker.plan.files.discovery import check_inputs, discover_all
from clinker.plan.files.existing import existing_files
from clinker.plan.nodes import Shape
from clinker.plan.options import Options, Preview
from clinker.plan.values import with_texts

_VARIABLES = {
    "--batch-id": "CLINKER_BATCH_ID",
    "--env": "CLINKER_ENV",
    "--log-format": "CLINKER_LOG_FORMAT",
    "--log-level": "CLINKER_LOG_LEVEL",
    "--memory-limit": "CLINKER_MEMORY_LIMIT",
    "--metrics-spool-dir": "CLINKER_METRICS_SPOOL_DIR",
    "--openlineage": "CLINKER_OPENLINEAGE",
    "--report": "CLINKER_REPORT",
    "--threads": "CLINKER_THREADS",
}
"""By option, the variable of the environment that stands for it."""
_NOTHING_TO_REPORT = (
    "--report tells what a run has done, so it cannot go with --dry-run, -n or --explain; "
    "--explain shows the plan"
)


def run(args: Namespace) -> int:
    if args.report and (args.dry_run or args.dry_run_n or args.explain):
        raise CommandError(_NOTHING_TO_REPORT, USAGE)
    args.parser.take_from_environment(args, _VARIABLES, os.environ)
    args.log_level = args.log_level or "info"
    if args.dry_run_output and not args.dry_run_n:
        raise CommandError("--dry-run-output needs -n, the number of records", USAGE)
    conf = pairs("--spark-conf", args.spark_conf)
    channels: list[str] = args.channel or []
    if len(channels) > 1:
        return _run_several(args, conf, channels)
    args.channel = channels[0] if channels else None
    if args.explain:
        return explain_plan(args, args.explain)
    compiled = compile_file(args)
    if args.dry_run and not args.dry_run_n:
        return check(compiled, args, conf)
    if compiled.plan is None:
        tell(compiled.diagnostics, args)
        if args.report and not args.dry_run_n:
            leave_report(compiled.diagnostics, args)
        return why_without_plan(compiled)
    # Whoever only compiles should not wait for what a run needs.
    from clinker.cli.execution import Execution

    return Execution(compiled.plan, compiled.diagnostics, args, conf).run()


def _run_several(args: Namespace, conf: Mapping[str, str], channels: Sequence[str]) -> int:
    from clinker.cli.several import check_several, compile_several

    if args.explain or args.dry_run_n:
        option = "--explain shows" if args.explain else "-n shows records of"
        raise CommandError(f"{option} one run: give it one --channel", USAGE)
    several = compile_several(args, channels)
    if isinstance(several, int):
        return several
    if args.dry_run:
        return check_several(several, conf)
    from clinker.cli.channel_runs import run_several

    return run_several(several, conf)


def explain_plan(args: Namespace, form: str) -> int:
    """Print the execution plan of a pipeline."""
    compiled = compile_file(args)
    failed = tell(compiled.diagnostics, args, sys.stderr)
    if failed or not compiled.plan:
        return why_without_plan(compiled)
    from clinker.engine.report.explain import explain

    sys.stdout.write(explain(compiled.plan, form))
    return OK


def check(compiled: Compiled, args: Namespace, spark_conf: Mapping[str, str]) -> int:
    """Everything there is to say without reading data."""
    if compiled.plan is None:
        tell(compiled.diagnostics, args)
        return why_without_plan(compiled)
    code, findings = start_findings(compiled.plan, args, spark_conf)
    tell(in_reading_order([*compiled.diagnostics, *findings]), args)
    if code:
        return code
    check_existing(compiled.plan)
    if args.format == "text" and args.log_format != "json" and not args.quiet:
        print(f"ok: {args.config} is valid: {size_of(compiled.plan)}")
    return OK


def check_existing(plan: Plan) -> None:
    """`CommandError` if a file is there that a run would not overwrite."""
    for path in existing_files(plan):
        message = f"'{printable(str(path))}' exists already: a run needs --force to overwrite it"
        raise CommandError(message, IO)


def start_findings(
    plan: Plan, args: Namespace, spark_conf: Mapping[str, str]
) -> tuple[int, Sequence[Diagnostic]]:
    """What a run would say before it starts, and the exit code if it would not."""
    files = discover_all(plan.graph, plan.options, datetime.now(UTC))
    inputs = check_inputs(plan.graph, plan.options, files)
    if any(found.is_error for found in inputs):
        return IO, inputs
    from clinker.cli.session_settings import session_settings
    from clinker.engine.report.facts import RunError
    from clinker.engine.run.starting import check_start

    settings = session_settings(plan, args, spark_conf, debug=False)
    try:
        return OK, [*inputs, *check_start(plan, settings, files)]
    except RunError as problem:
        return problem.exit_code, [*inputs, *problem.diagnostics]


def tell(diagnostics: Sequence[Diagnostic], args: Namespace, json_to: TextIO | None = None) -> bool:
    """Tell findings the way the user asked for; whether there was an error."""
    logs_json = getattr(args, "log_format", None) == "json"
    if logs_json:
        from clinker.cli.log_lines import write_diagnostics

        write_diagnostics(diagnostics)
    if logs_json and (args.format != "json" or json_to):
        return any(d.is_error for d in diagnostics)
    return report(diagnostics, args.format, json_to)


def leave_report(diagnostics: Sequence[Diagnostic], args: Namespace) -> None:
    """Leave a report of a pipeline that did not compile."""
    from clinker.cli.report_page import leave_report_of_mistakes

    name = Path(args.config).name
    level, text = leave_report_of_mistakes(args.report, name, args.batch_id, diagnostics)
    if args.log_format == "json":
        from clinker.cli.log_lines import log_line

        sys.stderr.write(log_line(level, text))
    elif level is TraceLevel.WARN or not args.quiet:
        print(f"{level}: {printable(text)}", file=sys.stderr)


def compile_file(args: Namespace) -> Compiled:
    """Compile the pipeline of a command line, with its options and its values of variables."""
    path, values = args.config, pairs("--var", args.var)
    try:
        content = read_plain(Path(path))
    except OSError as problem:
        raise CommandError(f"cannot read '{path}': {problem.strerror}", IO) from problem
    compiled = compile_pipeline(content, path, _options(args))
    if compiled.plan is None:
        return compiled
    try:
        return replace(compiled, plan=with_texts(compiled.plan, values))
    except ValueError as problem:
        raise CommandError(f"--var: {printable(str(problem))}", USAGE) from problem


def why_without_plan(compiled: Compiled) -> int:
    """The exit code for a pipeline that did not compile."""
    return IO if compiled.lacks_inputs else CONFIGURATION


def _options(args: Namespace) -> Options:
    """The options of a command line, completed from the environment."""
    spool = getattr(args, "metrics_spool_dir", None)
    records = getattr(args, "dry_run_n", None)
    return Options(
        base_dir=Path(args.base_dir) if args.base_dir else Path(args.config).parent,
        channel=Path(args.channel) if args.channel else None,
        rules_path=Path(args.rules_path) if args.rules_path else None,
        allow_absolute_paths=args.allow_absolute_paths
        or os.environ.get("CLINKER_ALLOW_ABSOLUTE_PATHS", "").lower() in ("1", "true", "yes"),
        memory_limit=getattr(args, "memory_limit", None),
        threads=getattr(args, "threads", None),
        error_threshold=getattr(args, "error_threshold", 0),
        batch_id=getattr(args, "batch_id", None),
        preview=Preview(records, _path(args.dry_run_output)) if records else None,
        force=getattr(args, "force", False),
        # A report shows what passed between any two nodes.
        count_nodes=getattr(args, "count_nodes", False)
        or bool(getattr(args, "report", None) and not records),
        wait=getattr(args, "wait", None),
        metrics_spool_dir=_path(spool),
        variables={**os.environ, "CLINKER_ENV": args.env} if args.env else dict(os.environ),
    )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """`name=value` pairs of an option; the last value of a name counts."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            from clinker.engine.session.secrets import HIDDEN, is_secret

            got = HIDDEN if is_secret(text) else printable(text)
            raise CommandError(f"{option} must be key=value, got '{got}'", USAGE)
        found[name.strip()] = value
    return found


def size_of(plan: Plan) -> str:
    """How many nodes a pipeline has, in words."""
    shapes = [planned.shape for planned in plan.nodes.values()]
    sources, outputs = shapes.count(Shape.READS), shapes.count(Shape.WRITES)
    counts = (
        _counted(sources, "source"),
        _counted(len(shapes) - sources - outputs, "node between"),
        _counted(outputs, "output"),
    )
    return ", ".join(counts)


def _counted(number: int, noun: str) -> str:
    first, *rest = noun.split(" ")
    plural = first if number == 1 else first + "s"
    return " ".join([str(number), plural, *rest])
