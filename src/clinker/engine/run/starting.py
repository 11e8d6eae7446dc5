"""What is asked and checked before anything of a run is started."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from clinker.config.nodes import SourceNode
from clinker.diagnostics import Diagnostic, errors
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.capabilities import engine_problems
from clinker.engine.run.failures import memory_problem
from clinker.engine.session.settings import DEFAULT_BATCH, SessionSettings
from clinker.plan.compile import Plan
from clinker.plan.explain.operators import operator
from clinker.plan.explain.volumes import discover_all, estimate_volumes
from clinker.plan.files.discovery import Discovery
from clinker.plan.files.storage import check_storage, gather_facts, is_staged


def planned_settings(plan: Plan) -> SessionSettings:
    """What a pipeline file and its workspace ask of the engine."""
    settings = plan.pipeline.pipeline
    return SessionSettings(
        engine=plan.storage.engine,
        threads=plan.options.threads or settings.concurrency.threads,
        memory_limit=plan.memory_limit,
        batch_size=settings.batch_size if settings.has("batch_size") else DEFAULT_BATCH,
        local_dir=plan.storage.own_spill_dir,
        # Spark compresses all it spills or nothing; what depends on columns, hardly any reach.
        compress=plan.storage.compresses(1, settings.batch_size),
    )


def check_start(plan: Plan, settings: SessionSettings) -> list[Diagnostic]:
    """Warnings about a run that is about to start; `RunError` if it cannot.

    Its memory limit is looked at, whether its engine can do what is asked, and whether its
    directories for temporary data will do.
    """
    found = [
        *filter(None, [memory_problem(settings)]),
        *engine_problems(plan, settings.engine),
        *_storage_findings(plan),
    ]
    if problems := list(errors(found)):
        raise RunError(problems[0].message, Exit.CONFIGURATION, problems)
    return found


def _storage_findings(plan: Plan) -> list[Diagnostic]:
    files = discover_all(plan, datetime.now(UTC))
    paths = [
        file.path
        for unit, _ in plan.graph.of(SourceNode)
        if unit.name in files
        for file in files[unit.name].files
    ]
    staged = [
        path
        for path in paths
        if isinstance(path, Path) and is_staged(plan.storage, path, plan.options.base_dir)
    ]
    estimate = sum(size or 0 for size in _estimates(plan, files).values())
    return check_storage(plan.storage, staged, gather_facts(plan.storage, staged), estimate)


def spill_estimates(plan: Plan) -> Mapping[str, int | None]:
    """How many bytes each node may spill, as `--explain` tells it."""
    return _estimates(plan, discover_all(plan, datetime.now(UTC)))


def _estimates(plan: Plan, files: Mapping[str, Discovery]) -> Mapping[str, int | None]:
    operators = {unit.name: operator(plan, unit) for unit in plan.graph}
    volumes = estimate_volumes(plan, operators, files)
    return {name: volumes[name].peak for name, each in operators.items() if each.spills}
