"""The end of a run: its files are put in place, all of them or none, and it reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clinker.engine.reading.inputs import SourceInput
from clinker.engine.rejects.cursors import rollback_cursors
from clinker.engine.rejects.file import log_unfiled, prepare_files
from clinker.engine.report.facts import (
    Counts,
    DeadLetterFile,
    Exit,
    OutputReport,
    RunReport,
    SourceReport,
    SpilledNode,
)
from clinker.engine.run.compute import Computed, ComputedOutput
from clinker.engine.run.prepare import Prepared
from clinker.engine.run.starting import spill_estimates
from clinker.engine.session.session import Session
from clinker.formats.files.publication import Published
from clinker.plan.analyses.passing import dropped
from clinker.plan.analyses.reach import reached
from clinker.plan.compile import Plan


def publish(prepared: Prepared, session: Session, computed: Computed) -> RunReport:
    """Publish the outputs and the dead-letter files, if the inputs are still what was read."""
    plan, observer, publication = prepared.plan, prepared.observer, prepared.publication
    rejected = computed.rejected
    preview = plan.options.preview
    lists_rejected = preview is not None and preview.lists_rejected
    if not lists_rejected:
        log_unfiled(plan, rejected, observer)
    outputs_end = len(publication)
    if not preview:
        prepare_files(plan, rejected, prepared.inputs, publication)
    for source in prepared.inputs:
        source.check_unchanged()
    session.check()
    prepared.watch.check()
    observer.publishing()
    published = publication.commit()
    cursors = rollback_cursors(rejected)
    exit_code = Exit.DEAD_LETTERS if rejected.entries else Exit.OK
    if not preview:
        observer.published(exit_code)
    return RunReport(
        execution_id=prepared.identity.execution_id,
        batch_id=prepared.identity.batch_id,
        started=prepared.identity.started,
        pipeline=plan.pipeline.pipeline.name,
        finished=prepared.identity.started + prepared.identity.elapsed,
        exit_code=exit_code,
        counts=_counts(prepared, computed),
        sources=tuple(
            replace(
                source_report(source),
                rejected=rejected.by_source.get(source.name, 0),
                rollback_cursor=cursors.get(source.name),
            )
            for source in prepared.inputs
        ),
        outputs=tuple(_output_report(output, published) for output in computed.outputs),
        dead_letter_files=tuple(
            DeadLetterFile(path=file.path, entries=file.records, bytes=file.size)
            for file in published[outputs_end:]
        ),
        rejections=rejected.categories,
        peak_rss_bytes=prepared.watch.peak.resident,
        engine=vars(session.facts),
        retracted=computed.retracted,
        spilled=_spilled(plan, session),
        nodes=computed.nodes,
        rejected=rejected.told() if lists_rejected else None,
        plan=plan,
    )


def source_report(source: SourceInput) -> SourceReport:
    """What a source has read; how much of it is rejected is not known so far."""
    return SourceReport(
        name=source.name,
        files=source.paths,
        records=source.records,
        rejected=None,
        bytes=sum(file.size for file in source.files),
    )


def _spilled(plan: Plan, session: Session) -> tuple[SpilledNode, ...] | None:
    found = session.spilled()
    if found is None:
        return None
    estimates = spill_estimates(plan) if found else {}
    return tuple(
        SpilledNode(node=node or None, bytes=size, estimate=estimates.get(node))
        for node, size in found.items()
    )


def _counts(prepared: Prepared, computed: Computed) -> Counts:
    total, rejected = prepared.total, computed.rejected
    filtered, distinct = dropped(computed.nodes)
    ok = reached(prepared.plan.nodes, {each.name: each.records for each in computed.outputs})
    return Counts(
        total=total,
        # Where nobody can tell which reached an output, those that were not rejected count.
        ok=total - rejected.records if ok is None else ok,
        written=computed.written,
        dlq=len(rejected.entries),
        filtered=filtered,
        distinct=distinct,
    )


def _output_report(output: ComputedOutput, published: Sequence[Published]) -> OutputReport:
    own = published[output.files]
    return OutputReport(
        name=output.name,
        paths=tuple(file.path for file in own),
        records=output.records,
        bytes=sum(file.size for file in own),
        preview=output.preview,
        table=output.table,
    )
