"""Schemas that files tell: what is known of them when a pipeline is compiled."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.options import Options
from tests.plan.compiling import brief

PIPELINE = """\
pipeline: { name: p }
nodes:
  - type: source
    name: rows
    config: { type: parquet, WHICH }
  - type: transform
    name: computed
    input: rows
    config: { cxl: "emit x = EXPRESSION" }
  - { type: output, name: out, input: computed, config: { type: parquet, path: out.parquet } }
"""


def compiled(folder: Path, which: str, expression: str = "id + 1") -> Compiled:
    text = PIPELINE.replace("WHICH", which).replace("EXPRESSION", expression)
    return compile_pipeline(text.encode(), "p.yaml", Options(base_dir=folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = pa.table({"id": [1], "$pos": [1], "ids": [[1]], "a.b": ["x"], "m": [{"k": 1}]})
    pq.write_table(table, tmp_path / "b.parquet")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "c.parquet")
    (tmp_path / "text.parquet").write_text("id\n1\n")
    return tmp_path


def test_the_first_file_tells_the_types(folder: Path) -> None:
    plan = compiled(folder, "glob: '[bc].parquet'").plan
    assert plan
    columns = plan.nodes["out"].row.columns
    assert {name: str(type_) for name, type_ in columns.items()} == {
        "id": "Nullable(Int)",
        "ids": "Nullable(Array(Nullable(Int)))",
        "a.b": "Nullable(String)",
        "m": "Nullable(Map)",
        "x": "Nullable(Int)",
    }
    found = compiled(folder, "glob: '[bc].parquet', files: { sort_order: desc }", "other")
    assert found.plan
    assert list(found.plan.nodes["out"].row.columns) == ["other", "x"]


def test_what_is_known_is_checked(folder: Path) -> None:
    found = compiled(folder, "path: b.parquet", "idd")
    assert brief(found.diagnostics) == ["E200 9:30 unknown field 'idd'"]
    assert not found.lacks_inputs
    found = compiled(folder, "path: b.parquet", "m + 1")
    assert not found.plan


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("path: a.parquet", "E216 5:36 'a.parquet' does not exist"),
        ("glob: d*.parquet", "E216 5:36 no file matches 'd*.parquet'"),
        (
            "path: text.parquet",
            "E222 5:21 'text.parquet' does not tell its columns: it is not a Parquet file: "
            "it does not begin with 'PAR1'",
        ),
    ],
)
def test_files_that_tell_nothing(folder: Path, which: str, expected: str) -> None:
    found = compiled(folder, which)
    assert brief(found.diagnostics) == [expected]
    assert found.lacks_inputs


@pytest.mark.parametrize(
    ("which", "code"),
    [("path: ../b.parquet", "E-SEC-001"), ("glob: 'b[.parquet'", "E212"), ("regex: '('", "E213")],
)
def test_nothing_is_looked_for_with_wrong_paths(folder: Path, which: str, code: str) -> None:
    found = compiled(folder, which)
    assert [problem.code for problem in found.diagnostics] == [code]
    assert not found.lacks_inputs


@pytest.mark.parametrize("when", ["skip", "warn"])
def test_sources_may_do_without_files(folder: Path, when: str) -> None:
    found = compiled(folder, f"glob: d*.parquet, files: {{ on_no_match: {when} }}")
    assert found.plan
    assert found.diagnostics == []


def test_directories_are_read_by_a_pattern(folder: Path) -> None:
    (folder / "written").mkdir()
    (problem,) = compiled(folder, "path: written/").diagnostics
    assert problem.help == "to read the files in it, write glob: written/*.parquet"
