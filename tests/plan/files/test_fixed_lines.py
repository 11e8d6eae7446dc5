"""Fixed-width layouts: completed, overridden, and checked for sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.plan.files.layouts import Layouts, load_layouts
from clinker.plan.options import Options
from tests.plan.compiling import wired
from tests.plan.files.test_discovery import source


def loaded(layout: str, base: Path, more: str = "", columns: str = "") -> Layouts:
    (base / "x.schema.yaml").write_text(layout)
    extra = f"\n{more}" if more else ""
    text = source(f"path: s.dat\nformat_schema: x.schema.yaml{extra}", "fixed_width")
    if columns:
        text = text.replace("schema: { id: int }", f"schema: {{ {columns} }}")
    _, graph = wired(text)
    return load_layouts(graph, Options(base))


def problems(layout: str, base: Path, more: str = "", columns: str = "") -> list[str]:
    return [f"{d.code} {d.message}" for d in loaded(layout, base, more, columns).diagnostics]


def places(found: Layouts) -> list[tuple[str, int | None, int | None]]:
    assert not found.diagnostics
    (layout,) = found.by_node.values()
    return [(field.name, field.start, field.width) for field in layout.all_fields]


def test_a_field_without_a_start_follows_the_one_before(tmp_path: Path) -> None:
    layout = "fields: [{ name: a, width: 3 }, { name: b, end: 5 }, { name: c, start: 9, width: 1 }]"
    assert places(loaded(layout, tmp_path)) == [("a", 0, 3), ("b", 3, 2), ("c", 9, 1)]


def test_definitions_build_on_each_other(tmp_path: Path) -> None:
    layout = """\
defs:
  number: { type: decimal, pad: "0", width: 5 }
  money: { inherits: number, scale: 2, width: 9 }
fields:
  - { name: a, inherits: money }
  - { name: b, inherits: number, end: 20 }
"""
    found = loaded(layout, tmp_path)
    assert places(found) == [("a", 0, 9), ("b", 9, 11)]
    (made,) = found.by_node.values()
    assert made.fields and (made.fields[0].pad, made.fields[0].scale) == ("0", 2)


def test_overrides(tmp_path: Path) -> None:
    layout = "fields: [{ name: a, width: 3 }, { name: b, width: 2 }, { name: c, width: 1 }]"
    more = "schema_overrides: [{ name: a, end: 5 }, { name: b, drop: true }]"
    assert places(loaded(layout, tmp_path, more)) == [("a", 0, 5), ("c", 5, 1)]


def test_overrides_of_a_record_type(tmp_path: Path) -> None:
    layout = """\
discriminator: { start: 0, width: 1 }
records:
  - { id: h, tag: H, fields: [{ name: a, start: 1, width: 3 }] }
  - { id: l, tag: L, fields: [{ name: a, start: 1, width: 3 }] }
"""
    more = "schema_overrides: [{ name: a, record: l, width: 7 }]"
    assert places(loaded(layout, tmp_path, more)) == [("a", 1, 3), ("a", 1, 7)]


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("{ name: zz, width: 3 }", "E059 the layout has no field 'zz' to override"),
        ("{ name: a, record: x }", "E059 the layout has no record type 'x'"),
    ],
)
def test_overrides_of_nothing(tmp_path: Path, override: str, expected: str) -> None:
    layout = "fields: [{ name: a, width: 3 }]"
    assert problems(layout, tmp_path, f"schema_overrides: [{override}]") == [expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("{ name: a, width: 4 }, { name: b, start: 3, width: 2 }",
         "E021 'b' and 'a' overlap: bytes 3 to 3"),
        ("{ name: a, width: 4 }, { name: a, width: 2 }", "E021 two fields are called 'a'"),
        ("{ name: a, start: 3, width: 2 }, { name: b, end: 4 }",
         "E021 field 'b' ends before it starts"),
        ("{ name: a, width: 4, path: x.y }",
         "E059 'path' of field 'a' has no meaning: fields of a line have a place, not a path"),
        ("{ name: a, width: 4, type: string, scale: 2 }",
         "E059 'scale' of field 'a' has no meaning: it is for numbers, and the type is string"),
        ("{ name: a, width: 4, type: date, coerce: false, format: '%Y' }",
         "E059 'format' of field 'a' has no meaning: 'coerce: false' leaves the text as it is"),
        ("{ name: a, width: 4, type: integer, justify: left, pad: '0' }",
         "E059 zeros behind the number 'a' would change it"),
        ("{ name: a, width: 4, pad: ä }",
         "E059 'ä' is more than a byte in 'utf-8', so nothing can be padded with it"),
        ("{ name: a, width: 4, type: date, format: '%Q' }",
         "E059 '%Q' is not a known specifier"),
        ("{ name: id, width: 4, type: date }",
         "E060 field 'id' is of type date, and its column is Int"),
        ("{ name: id, width: 4, scale: 1 }",
         "E060 field 'id' has 1 digits behind the point, and its column is Int"),
        ("{ name: id, width: 4, default: none }", "E060 the default of field 'id' is not Int"),
    ],
)  # fmt: skip
def test_fields_that_make_no_sense(tmp_path: Path, fields: str, expected: str) -> None:
    found = problems(f"fields: [{fields}]", tmp_path, columns="id: int")
    assert expected in found
    assert all(each[:4] in ("E021", expected[:4]) for each in found)


def test_a_field_may_be_a_part_of_another(tmp_path: Path) -> None:
    layout = "fields: [{ name: day, width: 8 }, { name: year, start: 0, width: 4 }]"
    assert problems(layout, tmp_path) == []


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("records: [{ id: h, tag: H, fields: [{ name: a, width: 3 }] }]",
         ["E059 nothing tells the record types apart"]),
        ("discriminator: { field: t }\nrecords: [{ id: h, fields: [{ name: a, width: 3 }] }]",
         ["E059 no record type has the field 't'", "E059 record type 'h' has no tag"]),
        ("discriminator: { field: a }\n"
         "records: [{ id: h, tag: H, parent: x, fields: [{ name: a, width: 3 }] }]",
         ["E059 the layout has no record type 'x'",
          "W013 'parent' has no effect: every line is a record of its own"]),
        ("discriminator: { field: a }\nstructure: [{ record: x }]\n"
         "records: [{ id: h, tag: H, fields: [{ name: a, width: 3 }] }]",
         ["E059 the layout has no record type 'x'"]),
        ("structure: [{ record: x }]\nfields: [{ name: a, width: 3 }]",
         ["E059 'structure' needs 'records'"]),
        ("encoding: utf-16\nfields: [{ name: a, width: 3 }]",
         ["E059 lines are cut by bytes, and in 'utf-16' a character is no whole byte"]),
        ("structure: [{ record: h, count: often }]\nfields: [{ name: a, width: 3 }]",
         ["E007 'often' is not a count"]),
    ],
)  # fmt: skip
def test_records_that_make_no_sense(tmp_path: Path, layout: str, expected: list[str]) -> None:
    assert problems(layout, tmp_path) == expected


def test_a_date_format_that_nothing_can_be_written_with(tmp_path: Path) -> None:
    nodes = """\
  - { type: source, name: s, config: { type: csv, path: s.csv, schema: { d: date } } }
  - type: output
    name: o
    input: s
    config:
      type: fixed_width
      path: o.dat
      schema: { fields: [{ name: d, width: 20, type: date, format: "%Y%z" }] }
"""
    _, graph = wired(nodes)
    (problem,) = load_layouts(graph, Options(tmp_path)).diagnostics
    assert problem.code == "E059" and "%z" in problem.message
