"""Layouts from schema files, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

from clinker.plan.files.layouts import load_layouts
from clinker.plan.options import Options
from tests.plan.compiling import brief, notes, wired
from tests.plan.files.test_discovery import source

LAYOUT = "format: fixed_width\nfields:\n  - { name: id, type: integer, start: 0, width: 4 }\n"


def layouts(base: Path, ref: str = "x.schema.yaml") -> list[str]:
    _, graph = wired(source(f"path: s.dat\nformat_schema: {ref}", "fixed_width"))
    found = load_layouts(graph, Options(base))
    assert bool(found.by_node) is not bool(found.diagnostics)
    return brief(found.diagnostics)


def test_a_schema_file_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.schema.yaml").write_text(LAYOUT)
    assert layouts(tmp_path) == []


def test_an_inline_layout_needs_no_file(tmp_path: Path) -> None:
    assert layouts(tmp_path, "{ fields: [{ name: id, width: 4 }] }") == []


def test_a_schema_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.schemas.yaml").write_text(LAYOUT)
    _, graph = wired(source("path: s.dat\nformat_schema: x.schema.yaml", "fixed_width"))
    (problem,) = load_layouts(graph, Options(tmp_path)).diagnostics
    assert brief([problem]) == ["E071 10:20 the schema file 'x.schema.yaml' does not exist"]
    assert problem.help == "did you mean 'x.schemas.yaml'?"


def test_a_schema_path_that_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "x.schema.yaml").mkdir()
    assert layouts(tmp_path) == [
        "E071 10:20 the schema file 'x.schema.yaml' cannot be read: Is a directory"
    ]


def test_what_is_wrong_in_a_schema_file_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "x.schema.yaml").write_text(LAYOUT.replace("width:", "widht:"))
    _, graph = wired(source("path: s.dat\nformat_schema: x.schema.yaml", "fixed_width"))
    found = load_layouts(graph, Options(tmp_path))
    (problem, *_) = found.diagnostics
    assert problem.primary and problem.primary.location.source.name == "x.schema.yaml"
    assert problem.message == "unknown key 'widht'"


def test_a_layout_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "x.schema.yaml").write_text(LAYOUT.replace("fixed_width", "csv"))
    _, graph = wired(source("path: s.dat\nformat_schema: x.schema.yaml", "fixed_width"))
    (problem,) = load_layouts(graph, Options(tmp_path)).diagnostics
    assert brief([problem]) == ["E021 1:9 the layout is for csv, but 's' is fixed_width"]
    assert notes(problem) == ["10:20 used by 's'"]


def test_a_layout_without_positions(tmp_path: Path) -> None:
    (tmp_path / "x.schema.yaml").write_text("fields: [{ name: id }]\n")
    _, graph = wired(source("path: s.dat\nformat_schema: x.schema.yaml", "fixed_width"))
    (problem,) = load_layouts(graph, Options(tmp_path)).diagnostics
    assert brief([problem]) == ["E021 1:12 field 'id' has no width"]
    assert notes(problem) == ["10:20 used by 's'"]
