"""Events: a run has begun; it is complete, has failed, or was aborted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from clinker.cxl.types import Type
from clinker.engine.report.facts import Exit, Identity, RunError, RunReport
from clinker.engine.report.notation import timestamp
from clinker.engine.report.openlineage.datasets import (
    dead_letter_datasets,
    output_datasets,
    source_datasets,
)
from clinker.engine.report.openlineage.facets import (
    EVENT_SCHEMA,
    PRODUCER,
    Facets,
    input_facets,
    job_facets,
    lineage_facets,
    output_facets,
    run_facets,
    schema_facets,
)
from clinker.plan.analyses.lineage import output_lineage
from clinker.plan.compile import Plan

Event: TypeAlias = dict[str, Any]


class Events:
    """The events of the runs of a pipeline."""

    def __init__(self, plan: Plan, namespace: str) -> None:
        self._plan = plan
        self._namespace = namespace
        self._sources = source_datasets(plan)
        self._targets = output_datasets(plan)
        self._lineage = output_lineage(plan.graph, plan.nodes, plan.windows, plan.projections)

    def started(self, identity: Identity) -> Event:
        return self._event("START", identity.started, identity, run_facets(identity))

    def ended(self, report: RunReport, error: RunError | None) -> Event:
        facets = run_facets(report, report, error)
        return self._event(_outcome(report), report.finished, report, facets, report)

    def _event(
        self,
        kind: str,
        time: datetime,
        identity: Identity,
        facets: Facets,
        report: RunReport | None = None,
    ) -> Event:
        name = self._plan.pipeline.pipeline.name
        return {
            "eventType": kind,
            "eventTime": timestamp(time),
            "run": {"runId": identity.execution_id, "facets": facets},
            "job": {"namespace": self._namespace, "name": name, "facets": job_facets()},
            "inputs": self._inputs(report),
            "outputs": self._outputs(report),
            "producer": PRODUCER,
            "schemaURL": EVENT_SCHEMA,
        }

    def _inputs(self, report: RunReport | None) -> list[Event]:
        read = {source.name: source for source in report.sources} if report else {}
        return [
            {
                **dataset._asdict(),
                "facets": schema_facets(self._plan.nodes[name].row.columns),
                # Of several datasets nobody has counted the records of each.
                "inputFacets": input_facets(read[name]) if name in read and len(own) == 1 else {},
            }
            for name, own in self._sources.items()
            for dataset in own
        ]

    def _outputs(self, report: RunReport | None) -> list[Event]:
        written = {output.name: output for output in report.outputs} if report else {}
        outputs: list[Event] = [
            {
                **dataset._asdict(),
                "facets": {
                    **schema_facets(self._columns(name)),
                    **lineage_facets(self._lineage[name], self._sources),
                },
                "outputFacets": output_facets(written[name]) if name in written else {},
            }
            for name, dataset in self._targets.items()
        ]
        letters = [letter._asdict() for letter in dead_letter_datasets(self._plan)]
        return [*outputs, *({**letter, "facets": {}, "outputFacets": {}} for letter in letters)]

    def _columns(self, output: str) -> Mapping[str, Type]:
        return {column.name: column.type for column in self._plan.projections[output]}


def _outcome(report: RunReport) -> str:
    if report.exit_code == Exit.INTERRUPTED:
        return "ABORT"
    has_outputs = report.exit_code in (Exit.OK, Exit.DEAD_LETTERS)
    return "COMPLETE" if has_outputs else "FAIL"
