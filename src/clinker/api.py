"""Pipelines from Python: compiled, run, or taken apart into DataFrames of your own session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic, errors
from clinker.diagnostics.render import render_text
from clinker.diagnostics.suggest import did_you_mean
from clinker.plain_files import read_plain
from clinker.plan import compile as compilation
from clinker.plan.files.discovery import discover_all, input_size
from clinker.plan.options import Options, Preview
from clinker.plan.probes import Outlet, list_outlets, looking_at
from clinker.plan.values import with_values

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from clinker.engine.reading.frames import ArrowStream
    from clinker.engine.report.facts import RunReport
    from clinker.engine.run.observer import Observer

_FORMS = ("text", "json", "dot", "svg", "sql")


class CompileError(Exception):
    """A pipeline has errors; the message shows them all."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(render_text(errors(diagnostics)))
        self.diagnostics = diagnostics
        """All findings, warnings included."""


class Plan:
    """A pipeline that compiled."""

    def __init__(self, plan: compilation.Plan, diagnostics: list[Diagnostic]) -> None:
        self._plan = plan
        self.warnings = diagnostics
        """What the compiler had to say besides errors."""

    def __repr__(self) -> str:
        name = self._plan.pipeline.pipeline.name
        return f"<Plan {name!r}: {' → '.join(self._plan.nodes)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the nodes, drawn."""
        from clinker.plan.explain.as_svg import plan_html

        return plan_html(self._plan)

    def run(
        self,
        spark: SparkSession | None = None,
        *,
        sources: Mapping[str, ArrowStream] | None = None,
    ) -> RunReport:
        """Run the pipeline and publish its files.

        Without a session of yours it runs in one of its own, on this machine. `sources` are frames
        of pandas, Polars, Arrow or Spark, by the names of the sources that read them instead of
        their files.
        """
        return _run(self._plan, spark, sources or {})

    def table(
        self,
        node: str,
        spark: SparkSession | None = None,
        *,
        sources: Mapping[str, ArrowStream] | None = None,
    ) -> pa.Table:
        """The records that leave a node or one of its ports, as a table of Arrow, in their order.

        Of an output, those that it would write. Rejected records are not in it, nor what falls with
        them. No file is written.
        """
        outlet = self._outlet(node)
        ports = self._plan.nodes[outlet.node].node.ports
        if ports and outlet.port is None:
            listed = ", ".join(f"{node}.{port}" for port in ports)
            raise ValueError(f"records leave '{node}' by its ports: {listed}")
        plan = looking_at(self._plan, {node: outlet})
        preview = Preview(as_tables=True, lists_rejected=True)
        plan = replace(plan, options=replace(plan.options, preview=preview))
        report = _run(plan, spark, sources or {})
        (output,) = report.outputs
        return output.table

    def dataframe(
        self,
        node: str,
        spark: SparkSession,
        *,
        sources: Mapping[str, ArrowStream] | None = None,
    ) -> DataFrame:
        """The records that leave a node or one of its ports, as a DataFrame of your session.

        Of an output, those that it writes. Rejected records are not in it. Nothing is read before
        you ask for results.
        """
        from clinker.engine.run.lending import node_frame

        outlet = self._outlet(node)
        return node_frame(self._plan, outlet.node, outlet.port, spark, sources or {})

    def _outlet(self, node: str) -> Outlet:
        known = list_outlets(self._plan)
        if node not in known:
            help = did_you_mean(node, known) or f"its nodes are: {', '.join(known)}"
            raise ValueError(printable(f"the pipeline has no node '{node}'; {help}"))
        return known[node]

    def explain(self, form: str = "text") -> str:
        """The execution plan, as `clinker run --explain` shows it."""
        from clinker.engine.report.explain import explain

        if form not in _FORMS:
            raise ValueError(f"a plan is explained as {', '.join(_FORMS)}, not as '{form}'")
        return explain(self._plan, form)


def _run(
    plan: compilation.Plan, spark: SparkSession | None, sources: Mapping[str, ArrowStream]
) -> RunReport:
    from clinker.engine.reading.frames import session_of, with_frames
    from clinker.engine.reading.spooling import run_spool
    from clinker.engine.report.facts import Exit, RunError
    from clinker.engine.run.journal import Journal
    from clinker.engine.run.telling import Telling
    from clinker.engine.session import SessionError

    journal = Journal(Telling())
    with run_spool(plan) as spool:
        plan = with_frames(plan, sources, spool)
        try:
            report = _run_somewhere(plan, spark or session_of(sources), journal)
        except SessionError as problem:
            raise RunError(str(problem), Exit.IO) from problem
    return journal.completed(report)


def _run_somewhere(
    plan: compilation.Plan, spark: SparkSession | None, observer: Observer
) -> RunReport:
    """Run a plan in a session that is there already, or in one of its own."""
    from clinker.engine.run.run import run, run_in
    from clinker.engine.run.starting import check_start, planned_settings
    from clinker.engine.session import adopt

    if spark is not None:
        with adopt(spark) as session:
            return run_in(plan, session, observer)
    files = discover_all(plan.graph, plan.options, datetime.now(UTC))
    settings = replace(planned_settings(plan), input_size=input_size(files))
    for warning in check_start(plan, settings, files):
        observer.warned(warning.message)
    return run(plan, settings, observer)


def compile(
    path: str | os.PathLike[str],
    *,
    channel: str | os.PathLike[str] | None = None,
    vars: Mapping[str, object] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
    force: bool = False,
    count_nodes: bool = False,
) -> Plan:
    """Compile a pipeline file; `CompileError` if it has errors.

    `vars` replaces the values of `$vars`; `force` lets a run overwrite its outputs. With
    `count_nodes` a run also counts records between nodes where it has to look at them again.
    """
    file = Path(path)
    options = Options(
        base_dir=Path(base_dir) if base_dir is not None else file.parent,
        channel=Path(channel) if channel is not None else None,
        force=force,
        count_nodes=count_nodes,
        variables=dict(os.environ),
    )
    compiled = compilation.compile_pipeline(read_plain(file), str(file), options)
    if compiled.plan is None:
        raise CompileError(compiled.diagnostics)
    plan = with_values(compiled.plan, vars or {})
    return Plan(plan, compiled.diagnostics)
