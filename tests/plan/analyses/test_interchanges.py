"""Outputs of segments, checked before any record is read."""

from __future__ import annotations

import pytest

from tests.plan.compiling import compiled

PIPELINE = """\
pipeline: {{ name: p }}
nodes:
  - type: source
    name: segments
    config:
      type: {source}
      path: in.edi
      on_unmapped: drop
{envelope}
      schema: {{ {schema} }}
{before}
  - type: output
    name: out
    input: {reads}
    config:
      type: edifact
      path: out.edi
{more}
      options:
        {header}
        message_type: X
"""
COUNTED = """\
  - { type: aggregate, name: counted, input: segments, config: { cxl: emit seg_id = 'A' } }"""
MERGED = """\
  - type: source
    name: rows
    config: { type: csv, path: in.csv, on_unmapped: drop, schema: { seg_id: string } }
  - { type: merge, name: merged, inputs: [segments, rows] }"""
LITERAL = "interchange: [UNOA, S, R, D, REF]"
ENVELOPE = (
    "      envelope: { sections: { head: { extract: { segment: %s }, fields: { e01: string } } } }"
)


def findings(
    *,
    schema: str = "seg_id: string",
    reads: str = "segments",
    before: str = "",
    more: str = "",
    header: str = LITERAL,
    source: str = "edifact",
    envelope: str = ENVELOPE % "UNB",
) -> list[str]:
    text = PIPELINE.format(
        schema=schema,
        reads=reads,
        before=before,
        more=more,
        header=header,
        source=source,
        envelope=envelope,
    )
    found = compiled(text).diagnostics
    return [f"{each.code} {each.message} [{each.help}]" for each in found if each.is_error]


def test_columns_that_segments_have() -> None:
    assert findings(schema="seg_id: string, msg_ref: string, msg_type: string, e01: int") == []
    assert findings(schema="seg_id: string, e100: int, e9999: int") == []


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("amount", "its columns are seg_id, msg_ref, msg_type and e01, e02, …"),
        ("msg_rfe", "did you mean 'msg_ref'?"),
        ("e1", "did you mean 'e01'?"),
        ("e00", "its columns are"),
        ("e10000", "its columns are"),
    ],
)
def test_a_column_that_segments_do_not_have(name: str, help: str) -> None:
    (found,) = findings(schema=f"seg_id: string, {name}: string")
    assert found.startswith(f"E062 an edifact file has no place for the column '{name}' [{help}")


def test_names_given_by_the_output_count() -> None:
    schema = "seg_id: string, amount: int"
    assert findings(schema=schema, more="      mapping: { e01: amount }") == []
    assert findings(schema=schema, more="      exclude: [amount]") == []
    found = findings(schema="seg_id: string", more="      mapping: { tag: seg_id }")
    assert sorted(each.partition(" [")[0] for each in found) == [
        "E062 an edifact file has no place for the column 'tag'",
        "E062 the output has no column 'seg_id', which names the segments",
    ]


def test_segments_without_a_tag() -> None:
    (found,) = findings(schema="e01: string")
    assert found.startswith("E062 the output has no column 'seg_id', which names the segments")


def test_a_header_that_every_source_has() -> None:
    assert findings(header="interchange_from_doc: head") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"header": "interchange_from_doc: haed"}, "no source has a section 'haed'"),
        (
            {"header": "interchange_from_doc: head", "envelope": ""},
            "no source has a section 'head' that is the header of an edifact file",
        ),
        (
            {"header": "interchange_from_doc: head", "source": "x12", "envelope": ENVELOPE % "ISA"},
            "no source has a section 'head' that is the header of an edifact file",
        ),
        (
            {"header": "interchange_from_doc: head", "reads": "counted", "before": COUNTED},
            "records behind an aggregate come from no interchange",
        ),
        (
            {"header": "interchange_from_doc: head", "reads": "merged", "before": MERGED},
            "records of source 'rows' have no header 'head' to write again",
        ),
    ],
)
def test_a_header_that_is_not_there(options: dict[str, str], message: str) -> None:
    found = [each for each in findings(**options) if each.startswith("E064")]
    assert len(found) == 1
    assert message in found[0]
