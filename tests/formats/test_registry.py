"""A format that is added through the registry alone is one like all others."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinker import formats
from clinker.config import formats as options
from clinker.config import load_pipeline
from clinker.config.json_schema import pipeline_json_schema
from clinker.engine.reading import inputs
from clinker.engine.session.session import Session
from tests.engine.whole_runs import Workplace

TESTS = Path(__file__).parents[1]
TOY = ("formats/toy/__init__.py", "formats/toy/format.py")

PIPELINE = """
    pipeline: { name: lines, concurrency: { chunk_size: 64 } }
    nodes:
      - type: source
        name: numbers
        config:
          type: toy
          glob: "in*.toy"
          schema: { line: int }
          options: { prefix: "> " }
      - type: transform
        name: shares
        input: numbers
        config: { cxl: "emit line = 1000 / line" }
      - { type: output, name: whole, input: shares, config: { type: toy, path: out.toy } }
      - type: output
        name: split
        input: shares
        config:
          type: toy
          path: part.toy
          split: { max_records: 150 }
          options: { prefix: "= " }
      - { type: output, name: cells, input: shares, config: { type: csv, path: out.csv } }
    error_handling: { strategy: continue, dlq: { path: rejected.csv } }
"""


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    options.register("toy", "tests.formats.toy.options")
    formats.register("toy", "tests.formats.toy.format")
    yield
    del options.FORMATS["toy"], formats.FORMATS["toy"]


@pytest.fixture(scope="module")
def session_with_toy(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session whose workers can import the format."""
    archive = tmp_path_factory.mktemp("toy") / "toy.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in ("__init__.py", "formats/__init__.py", *TOY):
            packed.write(TESTS / file, f"tests/{file}")
    if session.engine.name != "sail":  # which has no workers but this process
        session.spark.addArtifacts(str(archive), pyfile=True)
    return session


@pytest.mark.parametrize("by", ["driver", "workers"])
def test_a_format_of_ones_own(
    tmp_path: Path, session_with_toy: Session, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "workers":
        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    place = Workplace(tmp_path, session_with_toy)
    first = "".join(f"> {n}\n" for n in range(200))
    place.write(in1_toy=first.replace("> 7\n", "> seven\n"), in2_toy="> 200\n> \n")
    ran = place.run(PIPELINE)
    assert ran.code == 2, ran.message

    shares = [str(1000 // n) for n in range(1, 201) if n != 7]
    assert place.read("out.toy").splitlines() == [*shares, ""]
    assert place.read("out.csv").splitlines() == ["line", *shares, '""']
    parts = [place.read(f"part_000{number}.toy").splitlines() for number in (1, 2)]
    assert list(map(len, parts)) == [150, 50]
    assert [*parts[0], *parts[1]] == [f"= {share}" for share in [*shares, ""]]
    _, *entries = place.read("rejected.csv").splitlines()
    assert [entry.split(",")[-1] for entry in entries] == ["0", "seven"]


def test_its_options_are_checked() -> None:
    text = """
pipeline: { name: p }
nodes:
  - type: source
    name: numbers
    config: { type: toy, path: in.toy, schema: { line: int }, options: { prefx: "> " } }
"""
    (problem,) = load_pipeline(text.encode(), {}).diagnostics
    assert (problem.message, problem.help) == ("unknown key 'prefx'", "did you mean 'prefix'?")


def test_editors_know_it() -> None:
    definitions = pipeline_json_schema()["$defs"]
    assert definitions["ToySource"]["properties"]["type"]["const"] == "toy"
    assert definitions["ToyOutput"]["properties"]["options"]["$ref"] == "#/$defs/ToyWriting"


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(KeyError):
        formats.format_named("tuy")
