"""Facets: what is told of runs, jobs and datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from clinker import __version__
from clinker.cxl.types import Type
from clinker.engine.report.facts import Identity, OutputReport, RunError, RunReport, SourceReport
from clinker.engine.report.openlineage.datasets import Dataset
from clinker.plan.analyses.lineage import Influence, OutputLineage, SourceField

Facets: TypeAlias = dict[str, dict[str, Any]]

PRODUCER = f"urn:clinker-spark:{__version__}"
_SPEC = "https://openlineage.io/spec"
_SCHEMAS = {
    "columnLineage": "facets/1-2-0/ColumnLineageDatasetFacet",
    "schema": "facets/1-2-0/SchemaDatasetFacet",
    "inputStatistics": "facets/1-0-0/InputStatisticsInputDatasetFacet",
    "outputStatistics": "facets/1-0-2/OutputStatisticsOutputDatasetFacet",
    "errorMessage": "facets/1-0-1/ErrorMessageRunFacet",
    "processing_engine": "facets/1-1-1/ProcessingEngineRunFacet",
    "jobType": "facets/2-0-4/JobTypeJobFacet",
}
"""Those of facets that the standard knows, by their names in events."""
_OWN_SCHEMA = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet"
EVENT_SCHEMA = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"


def facet(kind: str, **content: object) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": _schema(kind), **content}


def _schema(kind: str) -> str:
    if kind not in _SCHEMAS:
        return _OWN_SCHEMA
    _, _, name = (path := _SCHEMAS[kind]).rpartition("/")
    return f"{_SPEC}/{path}.json#/$defs/{name}"


def run_facets(
    identity: Identity, report: RunReport | None = None, error: RunError | None = None
) -> Facets:
    """What is known of a run; without its report it has only begun."""
    own: dict[str, object] = {"batchId": identity.batch_id}
    facets: Facets = {}
    if report:
        counts = report.counts
        own["exitCode"] = int(report.exit_code)
        own["records"] = {
            "total": counts.total,
            "ok": counts.ok,
            "written": counts.written,
            "dlq": counts.dlq,
        }
        if report.engine:
            facets["processing_engine"] = facet(
                "processing_engine",
                name=report.engine["engine"],
                version=report.engine["version"],
                openlineageAdapterVersion=__version__,
            )
    if error:
        facets["errorMessage"] = facet(
            "errorMessage", message=error.message, programmingLanguage="CXL"
        )
    return {"clinker_run": facet("clinker_run", **own), **facets}


def job_facets() -> Facets:
    job = facet("jobType", processingType="BATCH", integration="CLINKER", jobType="PIPELINE")
    return {"jobType": job}


def schema_facets(columns: Mapping[str, Type]) -> Facets:
    fields = [
        {"name": name, "type": str(type_), "ordinal_position": place}
        for place, (name, type_) in enumerate(columns.items(), 1)
    ]
    return {"schema": facet("schema", fields=fields)}


def input_facets(read: SourceReport) -> Facets:
    statistics = facet("inputStatistics", rowCount=read.records, fileCount=len(read.files))
    return {"inputStatistics": statistics}


def output_facets(written: OutputReport) -> Facets:
    statistics = facet(
        "outputStatistics",
        rowCount=written.records,
        size=written.bytes,
        fileCount=len(written.paths),
    )
    return {"outputStatistics": statistics}


def lineage_facets(lineage: OutputLineage, sources: Mapping[str, tuple[Dataset, ...]]) -> Facets:
    """Of which fields each column is made, and which decide over the records."""
    columns = {
        column: {"inputFields": _input_fields(origins, sources)}
        for column, origins in lineage.columns.items()
    }
    deciding = _input_fields(lineage.records, sources)
    return {"columnLineage": facet("columnLineage", fields=columns, dataset=deciding)}


def _input_fields(
    origins: Mapping[SourceField, Iterable[Influence]],
    sources: Mapping[str, tuple[Dataset, ...]],
) -> list[dict[str, object]]:
    return [
        {
            **dataset._asdict(),
            "field": origin.field,
            "transformations": [
                {
                    "type": "DIRECT" if influence.is_direct else "INDIRECT",
                    "subtype": influence.value.upper(),
                    "description": "",
                    "masking": False,
                }
                for influence in Influence
                if influence in influences
            ],
        }
        for origin, influences in sorted(origins.items(), key=lambda item: item[0])
        for dataset in sources[origin.source]
    ]
