"""The events of a run, as the standard wants them."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from clinker.engine.report.facts import Exit, RunError, identify
from clinker.engine.report.openlineage import Events
from clinker.plan.analyses.lineage import Influence
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from tests.engine.report.openlineage.standard import check
from tests.engine.report.reports import output, report

ROOT = Path(__file__).resolve().parents[4]
PIPELINE = """\
pipeline: { name: orders }
error_handling: { strategy: continue, dlq: { path: bad.csv } }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int, amount: float, region: string } }
  - type: source
    name: rates
    config:
      type: json
      transport:
        kind: rest
        url: "https://me:s3cret@rates.example:8443/v1/rates?api_key=s3cret"
        max_pages: 1
      schema: { region: string, rate: float }
  - type: combine
    name: priced
    input: { o: orders, r: rates }
    config:
      drive: o
      where: o.region == r.region
      cxl: |
        emit id = o.id
        emit price = if o.amount > 0.0 then o.amount * r.rate else 0.0
      propagate_ck: driver
  - type: output
    name: result
    input: priced
    config: { type: csv, path: "out/{execution_id}/priced.csv" }
"""


def planned(folder: Path, text: str = PIPELINE) -> Plan:
    compiled = compile_pipeline(text.encode(), str(folder / "p.yaml"), Options(base_dir=folder))
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


@pytest.fixture
def events(tmp_path: Path) -> Events:
    return Events(planned(tmp_path), "nightly")


def test_a_run_begins(tmp_path: Path, events: Events) -> None:
    identity = identify("daily")
    event = events.started(identity)
    check(event)
    assert (event["eventType"], event["run"]["runId"]) == ("START", identity.execution_id)
    assert (event["job"]["namespace"], event["job"]["name"]) == ("nightly", "orders")
    assert event["run"]["facets"]["clinker_run"]["batchId"] == "daily"
    datasets = [(each["namespace"], each["name"]) for each in event["inputs"] + event["outputs"]]
    assert datasets == [
        ("file", str(tmp_path / "orders.csv")),
        ("https://rates.example:8443", "/v1/rates"),
        ("file", str(tmp_path / "out/{execution_id}/priced.csv")),
        ("file", str(tmp_path / "bad.csv")),
    ]


def test_objects_are_called_by_their_store_and_their_key(tmp_path: Path) -> None:
    (tmp_path / "clinker.toml").write_text('[storage.objects]\nallow = ["s3://sales/"]\n')
    text = PIPELINE.replace("path: orders.csv", "glob: 's3://sales/in/*.csv'")
    text = text.replace("bad.csv", "s3://sales/bad.csv").replace("out/{", "s3://sales/out/{")
    event = Events(planned(tmp_path, text), "nightly").started(identify(None))
    check(event)
    datasets = [(each["namespace"], each["name"]) for each in event["inputs"] + event["outputs"]]
    assert [each for each in datasets if each[0] == "s3://sales"] == [
        ("s3://sales", "in/*.csv"),
        ("s3://sales", "out/{execution_id}/priced.csv"),
        ("s3://sales", "bad.csv"),
    ]


def test_secrets_are_nowhere(events: Events) -> None:
    assert "s3cret" not in str(events.started(identify(None)))


def test_columns_know_what_they_are_made_of(tmp_path: Path, events: Events) -> None:
    facets = events.started(identify(None))["outputs"][0]["facets"]
    assert [(each["name"], each["type"]) for each in facets["schema"]["fields"]] == [
        ("id", "Nullable(Int)"),
        ("price", "Nullable(Float)"),
    ]
    columns = facets["columnLineage"]["fields"]
    assert columns["id"]["inputFields"] == [
        {
            "namespace": "file",
            "name": str(tmp_path / "orders.csv"),
            "field": "id",
            "transformations": [
                {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
            ],
        }
    ]
    told = [
        (each["field"], [way["subtype"] for way in each["transformations"]])
        for each in columns["price"]["inputFields"]
    ]
    assert told == [("amount", ["TRANSFORMATION", "CONDITIONAL"]), ("rate", ["TRANSFORMATION"])]
    deciding = facets["columnLineage"]["dataset"]
    assert [each["field"] for each in deciding] == ["region", "region"]


def test_a_run_is_complete(events: Events) -> None:
    done = report(
        outputs=(output("result", "out/1/priced.csv"),),
        engine={"engine": "Apache Spark", "version": "4.2.0"},
    )
    event = events.ended(done, None)
    check(event)
    assert event["eventType"] == "COMPLETE"
    assert event["eventTime"] == "2026-04-11T10:00:01.500Z"
    assert event["run"]["facets"]["clinker_run"]["records"]["dlq"] == 1
    assert event["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 4
    assert event["inputs"][1]["inputFacets"] == {}
    written = event["outputs"][0]["outputFacets"]["outputStatistics"]
    assert (written["rowCount"], written["size"], written["fileCount"]) == (3, 120, 1)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (Exit.OK, "COMPLETE"),
        (Exit.DEAD_LETTERS, "COMPLETE"),
        (Exit.CONFIGURATION, "FAIL"),
        (Exit.EVALUATION, "FAIL"),
        (Exit.IO, "FAIL"),
        (Exit.INTERNAL, "FAIL"),
        (Exit.INTERRUPTED, "ABORT"),
    ],
)
def test_what_became_of_a_run(events: Events, code: Exit, kind: str) -> None:
    error = RunError("it failed", code) if kind != "COMPLETE" else None
    event = events.ended(report(exit_code=code), error)
    check(event)
    assert event["eventType"] == kind
    assert ("errorMessage" in event["run"]["facets"]) == (error is not None)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda event: event["run"].pop("runId"),
        lambda event: event.update(eventType="BEGIN"),
        lambda event: event.update(eventTime="yesterday"),
        lambda event: event["outputs"][0].pop("namespace"),
        lambda event: event["outputs"][0]["facets"]["columnLineage"].update(column="id"),
        lambda event: event["job"]["facets"]["jobType"].pop("integration"),
    ],
)
def test_the_judgement_is_strict(events: Events, spoil: Any) -> None:
    event = copy.deepcopy(events.started(identify(None)))
    check(event)
    spoil(event)
    with pytest.raises((TypeError, ValueError, KeyError)):
        check(event)


def test_the_documentation_says_what_is_true(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "running" / "lineage.md").read_text("utf-8")
    [pipeline] = re.findall(r"```yaml pipeline\n(.*?)```", page, re.DOTALL)
    event = Events(planned(tmp_path, pipeline), "n").started(identify(None))
    check(event)
    facet = event["outputs"][0]["facets"]["columnLineage"]
    made = {name: each["inputFields"] for name, each in facet["fields"].items()}
    told = {
        column: "; ".join(
            f"`{each['field']}`: {way['subtype'].lower()}"
            for each in fields
            for way in each["transformations"]
        )
        for column, fields in {**made, "every record": facet["dataset"]}.items()
    }
    about = page.partition("says of its output:")[2].partition("| Word |")[0]
    rows = re.findall(r"^\| `?([\w ]+?)`? \| (`.*) \|$", about, re.MULTILINE)
    assert dict(rows) == told
    words = re.findall(r"^\| `([A-Z_]+)` \| (?:is|decides)", page, re.MULTILINE)
    assert words == [influence.name for influence in Influence]


def test_every_output_has_its_lineage(tmp_path: Path) -> None:
    more = (
        "  - { type: output, name: all, input: orders, config: { type: json, path: all.json } }\n"
    )
    event = Events(planned(tmp_path, PIPELINE + more), "n").started(identify(None))
    check(event)
    outputs = [each for each in event["outputs"] if each["name"] != str(tmp_path / "bad.csv")]
    assert all(each["facets"]["columnLineage"]["fields"] for each in outputs)
    assert len(outputs) == 2
