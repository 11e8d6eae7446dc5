"""Events judged by the standard's own classes, which know all fields and their places."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from openlineage.client.generated import (
    base,
    column_lineage_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
)

_FACETS: dict[str, Any] = {
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
}
"""Those that we use."""
_OUR_OWN = {"clinker_run"}


def check(event: dict[str, Any]) -> None:
    """Whether an event is one of the standard; classes refuse what they do not know."""
    run, job = dict(event["run"]), dict(event["job"])
    UUID(run["runId"])
    made = base.RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=base.Run(**{**run, "facets": _facets(run["facets"])}),
        job=base.Job(**{**job, "facets": _facets(job["facets"])}),
        eventType=base.EventType(event["eventType"]),
        inputs=[_dataset(base.InputDataset, each, "inputFacets") for each in event["inputs"]],
        outputs=[_dataset(base.OutputDataset, each, "outputFacets") for each in event["outputs"]],
    )
    known = {"eventTime", "producer", "run", "job", "eventType", "inputs", "outputs", "schemaURL"}
    assert set(event) == known
    assert event["schemaURL"] == made.schemaURL


def _dataset(kind: Any, dataset: dict[str, Any], own: str) -> Any:
    facets = {name: _facets(dataset[name]) for name in ("facets", own)}
    return kind(**{**dataset, **facets})


def _facets(facets: dict[str, Any]) -> dict[str, Any]:
    return {name: _facet(name, dict(content)) for name, content in facets.items()}


def _facet(name: str, content: dict[str, Any]) -> Any:
    producer, schema = content.pop("_producer"), content.pop("_schemaURL")
    assert producer.startswith("urn:clinker-spark:")
    if name in _OUR_OWN:
        assert schema == base.RunFacet._get_schema()
        return base.RunFacet(producer=producer)
    kind = _FACETS[name]
    assert schema == kind._get_schema()
    if name == "columnLineage":
        content["fields"] = {
            column: column_lineage_dataset.Fields(
                **{**made, "inputFields": [_input_field(each) for each in made["inputFields"]]}
            )
            for column, made in content["fields"].items()
        }
        content["dataset"] = [_input_field(each) for each in content["dataset"]]
    if name == "schema":
        content["fields"] = [
            schema_dataset.SchemaDatasetFacetFields(**each) for each in content["fields"]
        ]
    return kind(**content, producer=producer)


def _input_field(each: dict[str, Any]) -> Any:
    ways = [column_lineage_dataset.Transformation(**way) for way in each["transformations"]]
    assert {way.type for way in ways} <= {"DIRECT", "INDIRECT"}
    return column_lineage_dataset.InputField(**{**each, "transformations": ways})
