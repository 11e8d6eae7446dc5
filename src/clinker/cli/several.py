"""A pipeline compiled for several channels, each with its own run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clinker.cli.clinker_run import (
    check_existing,
    compile_file,
    leave_report,
    size_of,
    start_findings,
    tell,
    why_without_plan,
)
from clinker.cli.command import CONFIGURATION, INTERNAL, IO, OK, CommandError, tell_problem
from clinker.cli.signals import INTERRUPTED
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic, Label, each_once, in_reading_order
from clinker.file_names import name_part
from clinker.formats.files.uuid7 import Uuid7Source
from clinker.frozen import frozen
from clinker.plan.compile import Compiled, Plan
from clinker.plan.files.paths import Destination, is_directory, list_destinations

_DEAD_LETTERS, _EVALUATION = 2, 3
_WORST_FIRST = (INTERRUPTED, INTERNAL, IO, _EVALUATION, CONFIGURATION, _DEAD_LETTERS, OK)


def worst(codes: Iterable[int]) -> int:
    """The exit code of a command that is over with several."""
    return min(codes, key=_WORST_FIRST.index, default=OK)


@frozen(eq=False)
class ChannelPlan:
    """The run for one of the channels."""

    channel: str
    plan: Plan
    args: Namespace
    """The command line of this run alone."""
    findings: Sequence[Diagnostic]


def compile_several(args: Namespace, files: Sequence[str]) -> list[ChannelPlan] | int:
    """The runs for some files of channels; the exit code if there can be none.

    Whatever is wrong with one of them is told before any has begun.
    """
    lines = [Namespace(**{**vars(args), "channel": file}) for file in files]
    compiled = [compile_file(line) for line in lines]
    found = [finding for each in compiled for finding in each.diagnostics]
    if any(each.plan is None for each in compiled):
        tell(each_once(found), args)
        return worst(_codes_without_plan(lines, compiled))
    plans = [each.plan for each in compiled if each.plan]
    _check_names(files, plans)
    batch = args.batch_id or str(Uuid7Source().next())
    runs = [
        ChannelPlan(plan.channel, *_of_channel(plan, line, batch), each.diagnostics)
        for plan, line, each in zip(plans, lines, compiled, strict=True)
    ]
    if clashes := list(_clashes(runs)):
        tell(in_reading_order([*each_once(found), *clashes]), args)
        return CONFIGURATION
    return runs


def _codes_without_plan(lines: Sequence[Namespace], compiled: Sequence[Compiled]) -> Iterator[int]:
    for line, each in zip(lines, compiled, strict=True):
        if each.plan is None:
            if line.report and not line.dry_run:
                line.report = _report_of(line.report, Path(line.channel).name.partition(".")[0])
                leave_report(each.diagnostics, line)
            yield why_without_plan(each)


def _check_names(files: Sequence[str], plans: Sequence[Plan]) -> None:
    """Channels are told apart by their names, in paths, batches and reports."""
    first: dict[str, str] = {}
    for file, plan in zip(files, plans, strict=True):
        if plan.channel in first:
            earlier = first[plan.channel]
            message = f"the channels '{earlier}' and '{file}' are both called '{plan.channel}'"
            if earlier == file:
                message = f"the channel '{file}' is given twice"
            raise CommandError(printable(message), CONFIGURATION)
        first[plan.channel] = file


def _of_channel(plan: Plan, line: Namespace, batch: str) -> tuple[Plan, Namespace]:
    """A plan and its command line with names that no other of the runs has."""
    line.batch_id = f"{batch}-{plan.channel}"
    line.report = _report_of(line.report, plan.channel)
    return replace(plan, options=replace(plan.options, batch_id=line.batch_id)), line


def _report_of(target: str | None, channel: str) -> str | None:
    """In a directory, reports have the ids of their runs."""
    if not target or target.endswith("/") or is_directory(Path(target)):
        return target
    file = Path(target)
    return str(file.with_name(f"{file.stem}-{name_part(channel)}{file.suffix}"))


def _clashes(runs: Sequence[ChannelPlan]) -> Iterator[Diagnostic]:
    """E322 for files that the runs of two channels would both write."""
    first: dict[str, tuple[str, Destination]] = {}
    for run in runs:
        plan = run.plan
        for written in list_destinations(plan.pipeline, plan.graph, plan.options, plan.channel):
            if written.is_new:
                continue
            channel, earlier = first.setdefault(written.identity, (run.channel, written))
            if channel != run.channel:
                is_same = earlier.what == written.what
                what = written.what if is_same else f"{earlier.what} and {written.what}"
                yield Diagnostic(
                    "E322",
                    f"{what} would write the same file for the channels '{channel}' and "
                    f"'{run.channel}'",
                    Label(written.place),
                    help="put {channel} into the path, and the path into quotes",
                )


def check_several(runs: Sequence[ChannelPlan], conf: Mapping[str, str]) -> int:
    """Everything there is to say of the runs without reading data."""
    args = runs[0].args
    codes: list[int] = []
    findings: list[Diagnostic] = []
    for run in runs:
        code, found = start_findings(run.plan, run.args, conf)
        codes.append(code)
        findings += [*run.findings, *found]
    if tell(in_reading_order(each_once(findings)), args):
        return worst(codes)
    for run in runs:
        try:
            check_existing(run.plan)
        except CommandError as problem:
            tell_problem(args, str(problem))
            codes.append(problem.code)
            continue
        if args.format == "text" and args.log_format != "json" and not args.quiet:
            channel = printable(run.channel)
            print(f"ok: {args.config} is valid for {channel}: {size_of(run.plan)}")
    return worst(codes)
