"""`clinker show`"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from clinker.cli.clinker_run import compile_file, pairs, why_without_plan
from clinker.cli.command import CONFIGURATION, USAGE, CommandError, report
from clinker.cxl.failure import printable
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.compile import Plan
from clinker.plan.files.discovery import discover_all, input_size
from clinker.plan.options import Preview
from clinker.plan.probes import Outlet, list_ends, list_outlets, looking_at

_LARGE = 32 * 2**20
"""From so many bytes on, one should not wait for all records to see some."""
_SAMPLE = 10_000


def run(args: Namespace) -> int:
    conf = pairs("--spark-conf", args.spark_conf)
    compiled = compile_file(args)
    if compiled.plan is None:
        report(compiled.diagnostics, "text")
        return why_without_plan(compiled)
    outlets = _outlets(compiled.plan, args.outlet)
    if len(outlets) > 1 and args.format != "table":
        names = ", ".join(map(printable, outlets))
        raise CommandError(f"--format {args.format} shows one of them: choose of {names}", USAGE)
    plan = looking_at(compiled.plan, outlets)
    sample = _sample(plan, args)
    plan = replace(
        plan, options=replace(plan.options, preview=Preview(sample, lists_rejected=True))
    )
    from clinker.cli.looking import Looking

    return Looking(plan, compiled.diagnostics, args, conf, outlets).run()


def _outlets(plan: Plan, wanted: str | None) -> Mapping[str, Outlet]:
    """What is looked at: of a route without a port, each of its ports."""
    known = list_outlets(plan)
    if wanted is None:
        return {name: known[name] for name in list_ends(plan)}
    if wanted not in known:
        help = did_you_mean(wanted, known) or f"its nodes are: {', '.join(known)}"
        message = f"the pipeline has no node '{wanted}'; {help}"
        raise CommandError(printable(message), CONFIGURATION)
    ports = plan.nodes[known[wanted].node].node.ports
    if ports and known[wanted].port is None:
        return {f"{wanted}.{port}": Outlet(known[wanted].node, port) for port in ports}
    return {wanted: known[wanted]}


def _sample(plan: Plan, args: Namespace) -> int | None:
    """How many records of each source are read; None for all."""
    if args.sample or args.all:
        return args.sample or None
    found = discover_all(plan.graph, plan.options, datetime.now(UTC))
    return _SAMPLE if input_size(found) > _LARGE else None
