"""A run from its plan to its report, whoever opens the session."""

from __future__ import annotations

from clinker.cxl.failure import printable
from clinker.engine.reading.spooling import run_spool
from clinker.engine.reading.staging import staged_sources
from clinker.engine.report.facts import Exit, RunError, RunReport
from clinker.engine.run.capabilities import check_engine
from clinker.engine.run.compute import record_bytes
from clinker.engine.run.failures import engine_errors
from clinker.engine.run.observer import Observer
from clinker.engine.run.prepare import Prepared, prepare
from clinker.engine.run.publish import publish, source_report
from clinker.engine.run.retry import compute_with_care
from clinker.engine.run.watch import Watch, run_limits
from clinker.engine.session import (
    Jvm,
    SessionSettings,
    open_session,
    start_jvm,
)
from clinker.engine.session.session import Session
from clinker.formats.common.writing import WriteError
from clinker.formats.reading import FormatError
from clinker.plan.compile import Plan


def run(
    plan: Plan, settings: SessionSettings, observer: Observer, jvm: Jvm | None = None
) -> RunReport:
    """Run a plan in a session of its own; `RunError` if it cannot be completed.

    The session uses `jvm` if it is given: it may have been started before this was imported.
    """
    check_engine(plan, settings.engine)
    limits = run_limits(plan, is_local=settings.is_local)
    with (
        Watch(plan, limits, observer) as watch,
        watch.telling(),
        run_spool(plan, watch.add) as spool,
        staged_sources(plan, observer) as staged,
    ):
        jvm = jvm or start_jvm(settings)
        try:
            prepared = prepare(plan, observer, spool, staged, watch)
        except BaseException:
            if jvm:
                jvm.kill()
            raise
        with (
            prepared.publication,  # what it has claimed is let go of, whatever happens
            engine_errors(settings),
            open_session(settings, jvm) as session,
            # Those of Spark can be read only as long as it is there.
            engine_errors(settings, jvm, watch),
        ):
            if jvm:
                watch.add(jvm.directory.spill)
            watch.guard(session)
            return _complete(prepared, session)


def run_in(plan: Plan, session: Session, observer: Observer) -> RunReport:
    """Run a plan in a session that is there already."""
    settings = SessionSettings(engine=session.engine.name)
    limits = run_limits(plan, is_local=False)
    check_engine(plan, settings.engine)
    with (
        Watch(plan, limits, observer) as watch,
        watch.telling(),
        engine_errors(settings),
        run_spool(plan, watch.add) as spool,
        staged_sources(plan, observer) as staged,
    ):
        watch.guard(session)
        return _complete(prepare(plan, observer, spool, staged, watch), session)


def _complete(prepared: Prepared, session: Session) -> RunReport:
    try:
        with prepared.publication, session.counting():
            _tell(prepared, session)
            session.batches.expect(record_bytes(prepared))
            computed = compute_with_care(prepared, session)
            report = publish(prepared, session, computed)
            prepared.staged.run_succeeded = report.exit_code == Exit.OK
            return report
    except FormatError as problem:
        raise RunError(str(problem), Exit.IO, help=problem.help) from problem
    except WriteError as problem:
        raise RunError(printable(str(problem)), Exit.IO, help=problem.help) from problem


def _tell(prepared: Prepared, session: Session) -> None:
    """What is known before anything is computed."""
    prepared.observer.opened([source_report(source) for source in prepared.inputs])
    prepared.observer.engine_started(vars(session.facts), session.partitions)
