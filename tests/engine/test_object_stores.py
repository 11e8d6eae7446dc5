"""Runs that read and write objects of a store: a real server of S3's protocol."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from clinker.formats.files.claims import Claimant
from clinker.formats.files.publication import Publication
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options, Preview
from clinker.stores.urls import ObjectUrl
from tests.engine.whole_runs import Ran, Workplace
from tests.object_store import Store

CSV = "id,amount\n1,10\n2,many\n3,30\n"
PIPELINE = """
pipeline: { name: p }
error_handling: { strategy: continue, dlq: { path: DLQ } }
nodes:
  - type: source
    name: orders
    config: { type: FORMAT, SOURCE, schema: { id: int, amount: int } }
  - type: transform
    name: t
    input: orders
    config: { cxl: 'emit at = $source.file + "#" + $source.row.to_string()' }
  - { type: output, name: o, input: t, config: { type: csv, OUTPUT } }
"""
DEFAULTS = {
    "FORMAT": "csv",
    "DLQ": "dlq.csv",
    "SOURCE": "path: s3://data/in/a.csv",
    "OUTPUT": "path: s3://data/out/a.csv",
}


@dataclass
class Place:
    """A workplace that may use a bucket."""

    workplace: Workplace
    store: Store

    def run(self, changes: Mapping[str, str] | None = None, **options: Any) -> Ran:
        text = PIPELINE
        for name, value in (DEFAULTS | dict(changes or {})).items():
            text = text.replace(name, value)
        return self.workplace.run(text, **options)

    def out(self, key: str = "out/a.csv") -> list[str]:
        return self.store.get(key).decode().splitlines()[1:]


@pytest.fixture
def place(workplace: Workplace, store: Store) -> Place:
    workplace.write(clinker_toml='[storage.objects]\nallow = ["s3://data/", "s3://missing"]\n')
    return Place(workplace, store)


def test_from_objects_to_objects(place: Place, either_way: str) -> None:
    place.store.put("in/a.csv", CSV)
    ran = place.run({"DLQ": "s3://data/out/dlq.csv"})
    assert ran.code == 2
    assert place.out() == ["1,10,s3://data/in/a.csv#1", "3,30,s3://data/in/a.csv#3"]
    (entry,) = place.out("out/dlq.csv")
    assert "s3://data/in/a.csv,orders,2" in entry
    assert place.store.listed() == ["in/a.csv", "out/a.csv", "out/dlq.csv"]
    assert place.workplace.files() == ["clinker.toml"]
    assert ran.report
    assert [str(path) for path in ran.report.outputs[0].paths] == ["s3://data/out/a.csv"]
    assert [str(path) for path in ran.report.sources[0].files] == ["s3://data/in/a.csv"]


def test_many_objects_packed_ones_and_names_of_all_kinds(place: Place) -> None:
    names = ["a b#?c%20d.csv", "b'\"`${x}é.csv", "c;<&>.csv.gz", "d/e.csv"]
    for name in names:
        content = b"id,amount\n1,1\n"
        packed = gzip.compress(content) if name.endswith(".gz") else content
        place.store.put(f"in/{name}", packed)
    for other in ("in/.clinker/run/1.csv", "in/tmp/x.csv", "in/old.csv"):
        place.store.put(other, "id,amount\n9,9\n")
    changes = {
        "SOURCE": 'glob: "s3://data/in/**/*.csv*", exclude: ["**/tmp/*", old.csv]',
        "OUTPUT": 'path: "s3://data/ö {source_name}#?.csv"',
    }
    assert place.run(changes).code == 0
    lines = place.out("ö orders#?.csv")
    assert len(lines) == 4
    assert [lines[0], lines[2], lines[3]] == [f"1,1,s3://data/in/{names[i]}#1" for i in (0, 2, 3)]
    assert names[1].replace('"', '""') in lines[1]


@pytest.mark.parametrize("key", ["in/../secret.csv", "in/a\x01.csv", "in/./a.csv"])
def test_names_that_clients_take_for_others_are_refused(place: Place, key: str) -> None:
    place.store.put(key, CSV)
    ran = place.run({"SOURCE": 'glob: "s3://data/in/**/*.csv"'})
    assert ran.code == 4
    assert ran.message.endswith("has a part that is empty, '.' or '..', or a control character")


def test_newline_json_and_files_beside_objects(place: Place) -> None:
    place.store.put("in/a.ndjson", '{"id": 1, "amount": 2}\n')
    changes = {
        "FORMAT": "json",
        "SOURCE": "paths: [s3://data/in/a.ndjson, b.ndjson], options: { format: ndjson }",
        "OUTPUT": "path: a.csv",
    }
    place.workplace.write(b_ndjson='{"id": 2, "amount": 2}\n')
    assert place.run(changes).code == 0
    assert place.workplace.read("a.csv").splitlines()[1:] == [
        "1,2,s3://data/in/a.ndjson#1",
        "2,2,b.ndjson#1",
    ]


def test_what_exists_is_replaced_only_on_demand(place: Place) -> None:
    place.store.put("in/a.csv", "id,amount\n1,1\n")
    place.store.put("out/a.csv", "before")
    ran = place.run()
    assert (ran.code, ran.message) == (4, "'s3://data/out/a.csv' exists already")
    assert place.store.get("out/a.csv") == b"before"
    numbered = {"OUTPUT": "path: s3://data/out/a.csv, if_exists: unique_suffix, write_meta: true"}
    assert place.run(numbered).code == place.run(numbered).code == 0
    assert place.run(force=True).code == 0
    assert place.store.listed("out") == [
        "out/a-1.csv",
        "out/a-1.csv.meta.json",
        "out/a-2.csv",
        "out/a-2.csv.meta.json",
        "out/a.csv",
    ]
    assert json.loads(place.store.get("out/a-2.csv.meta.json"))["record_count"] == 1
    assert place.out() == ["1,1,s3://data/in/a.csv#1"]


def test_an_output_split_into_objects(place: Place) -> None:
    place.store.put("in/a.csv", "id,amount\n1,1\n2,2\n3,3\n")
    changes = {"OUTPUT": "path: s3://data/out/a.csv, split: { max_records: 2 }"}
    assert place.run(changes).code == 0
    assert place.store.listed("out") == ["out/a_0001.csv", "out/a_0002.csv"]
    assert "exists already" in place.run(changes).message


def test_dead_letters_of_an_earlier_run_vanish(place: Place) -> None:
    place.store.put("in/a.csv", CSV)
    changes = {"DLQ": "s3://data/out/dlq.csv"}
    assert place.run(changes).code == 2
    place.store.put("in/a.csv", "id,amount\n1,1\n")
    assert place.run(changes, force=True).code == 0
    assert place.store.listed("out") == ["out/a.csv"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "'s3://data/in/a.csv' does not exist"),
        ({"SOURCE": "path: s3://data/in"}, "'s3://data/in' is a directory"),
        ({"SOURCE": "glob: s3://data/in/*.x"}, "no file matches 's3://data/in/*.x'"),
        (
            {"SOURCE": "path: s3://missing/a.csv"},
            "'s3://missing/a.csv' cannot be read: the bucket 'missing' does not exist",
        ),
        (
            {"SOURCE": "glob: s3://missing/*.csv"},
            "'s3://missing/*.csv' cannot be listed: the bucket 'missing' does not exist",
        ),
        (
            {"SOURCE": "path: s3://data/in/b.csv", "OUTPUT": "path: s3://missing/a.csv"},
            "cannot write s3://missing/a.csv: the bucket does not exist",
        ),
    ],
)
def test_what_is_not_there(place: Place, changes: dict[str, str], message: str) -> None:
    place.store.put("in/b.csv", CSV)
    ran = place.run(changes)
    assert (ran.code, ran.message) == (4, message)
    assert place.store.listed("out") == []


@pytest.mark.parametrize("on_no_match", ["skip", "warn"])
def test_a_store_that_refuses_is_no_store_without_matches(place: Place, on_no_match: str) -> None:
    files = f"files: {{ on_no_match: {on_no_match} }}"
    for source in ("path: s3://missing/a.csv", "glob: s3://missing/*.csv"):
        ran = place.run({"SOURCE": f"{source}, {files}"})
        assert ran.code == 4
        assert "the bucket 'missing' does not exist" in ran.message
    assert place.run({"SOURCE": f"glob: s3://data/*.csv, {files}"}).code == 0


def test_a_store_that_cannot_be_reached(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://me:s3cr3t@127.0.0.1:1")
    ran = place.run()
    assert ran.code == 4
    reason = "the store cannot be reached: Could not connect to server"
    assert ran.message == f"cannot write s3://data/out/a.csv: {reason}"
    assert "s3cr3t" not in ran.message + ran.help
    ran = place.run({"OUTPUT": "path: a.csv"})
    assert (ran.code, ran.message) == (4, f"'s3://data/in/a.csv' cannot be read: {reason}")


def test_a_run_that_fails_leaves_nothing(place: Place) -> None:
    place.store.put("in/a.csv", CSV)
    fails = 'cxl: "emit at = 1 / (id - id)"'
    text = {"cxl: 'emit at = $source.file + \"#\" + $source.row.to_string()'": fails}
    ran = place.run(text | {"strategy: continue, dlq: { path: dlq.csv }": "strategy: fail_fast"})
    assert ran.code == 3
    assert place.store.listed() == ["in/a.csv"]


def test_objects_can_be_staged_and_used_again(place: Place, tmp_path: Path) -> None:
    directory = tmp_path / "staging"
    directory.mkdir()
    settings = f'[storage.staging]\nenabled = true\ndir = "{directory}"\npatterns = ["in/*.gz"]\n'
    settings += 'on_existing = "reuse"\ncleanup = "never"\n'
    with (place.workplace.folder / "clinker.toml").open("a") as file:
        file.write(settings)
    place.store.put("in/a.csv.gz", gzip.compress(b"id,amount\n1,1\n"))
    place.store.put("in/b.csv", "id,amount\n2,2\n")
    changes = {"SOURCE": "glob: s3://data/in/*"}
    first, again = place.run(changes), place.run(changes, force=True)
    assert (first.code, again.code) == (0, 0)
    assert not [text for text in first.messages if "was staged before" in text]
    assert [text for text in again.messages if "was staged before" in text]
    assert place.out() == ["1,1,s3://data/in/a.csv.gz#1", "2,2,s3://data/in/b.csv#1"]
    (manifest,) = directory.glob("*.json")
    staged = json.loads(manifest.read_text())
    assert staged["source"] == "s3://data/in/a.csv.gz"
    place.store.put("in/a.csv.gz", gzip.compress(b"id,amount\n1,10\n"))
    assert place.run(changes, force=True).code == 0
    assert place.out()[0] == "1,10,s3://data/in/a.csv.gz#1"
    assert json.loads(manifest.read_text())["blake3"] != staged["blake3"]


LAYOUT = """
    pipeline: { name: p }
    nodes:
      - type: source
        name: people
        config:
          type: fixed_width
          path: s3://data/in.dat
          format_schema: s3://data/SCHEMA
          schema: { id: int, name: string }
      - { type: output, name: o, input: people, config: { type: csv, path: out.csv } }
"""


def test_layouts_of_a_store(place: Place) -> None:
    place.store.put("in.dat", "00007bond\n")
    place.store.put("people.yaml", "fields: [{ name: id, width: 5 }, { name: name, width: 4 }]")
    assert place.workplace.run(LAYOUT.replace("SCHEMA", "people.yaml")).code == 0
    assert place.workplace.read("out.csv") == "id,name\n7,bond\n"
    text = dedent(LAYOUT.replace("SCHEMA", "missing.yaml")).encode()
    compiled = compile_pipeline(text, "p.yaml", Options(base_dir=place.workplace.folder))
    (problem,) = compiled.diagnostics
    assert problem.code == "E071"
    assert problem.message == "the schema file 's3://data/missing.yaml' does not exist"


def test_two_runs_never_write_the_same_object(place: Place) -> None:
    """Nobody is kept from what the other one does not write."""
    place.store.put("in/a.csv", "id,amount\n1,1\n")
    other = Claimant(run_id="other", batch_id="nightly", process=1, host="etl1", started="now")
    with Publication("other") as publication:
        claims = publication.object_claims(other)
        assert claims.make([ObjectUrl("s3", "data", "out/a.csv")]) is None
        ran = place.run(force=True)
        assert (ran.code, ran.message) == (
            4,
            "'s3://data/out/a.csv' is being written by another run: batch 'nightly', process 1 on "
            "etl1, since now",
        )
        assert place.run({"OUTPUT": "path: s3://data/out/b.csv"}).code == 0
        assert (
            place.run({"OUTPUT": "path: s3://data/out/a.csv, if_exists: unique_suffix"}).code == 0
        )
    assert place.store.listed("out") == ["out/a.csv", "out/b.csv"]


def test_a_preview_writes_nothing(place: Place) -> None:
    place.store.put("in/a.csv", CSV)
    ran = place.run({"DLQ": "s3://data/dlq.csv"}, preview=Preview(1))
    assert ran.code == 0
    assert ran.report
    assert ran.report.outputs[0].preview == b"id,amount,at\n1,10,s3://data/in/a.csv#1\n"
    assert place.store.listed() == ["in/a.csv"]


def test_an_output_for_each_object(place: Place) -> None:
    for name in ("x", "y"):
        place.store.put(f"in/{name}.csv", "id,amount\n1,1\n")
    changes = {
        "SOURCE": "glob: s3://data/in/*.csv",
        "OUTPUT": 'path: "s3://data/out/{source_file}_{n}.csv"',
    }
    assert place.run(changes).code == 0
    assert place.store.listed("out") == ["out/x_.csv", "out/y_.csv"]
