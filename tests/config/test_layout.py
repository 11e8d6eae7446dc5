"""Layouts of fixed-width lines, inline and in files of their own."""

from __future__ import annotations

from textwrap import dedent

import pytest

from clinker.config import load_schema_file
from tests.config.loading import accepted_config, brief, load_config


def test_fixed_width_layouts() -> None:
    inline = accepted_config(
        "source",
        """\
        type: fixed_width
        path: a
        schema: { id: int }
        options: { line_separator: cr_lf }
        format_schema:
          defs: { money: { type: decimal, justify: right, pad: "0", width: 9 } }
          fields:
            - { name: id, start: 0, width: 5, type: integer }
            - { name: total, start: 5, inherits: money, pad: " " }
        """,
    )
    layout = inline.format_schema.inline
    total = layout.resolved(layout.fields[1])
    assert (total.type, total.width, total.pad, total.name) == ("decimal", 9, " ", "total")
    assert inline.options.line_separator == "crlf"
    by_path = accepted_config(
        "output",
        "type: fixed_width\npath: a\nschema: ./o.schema.yaml\noptions: { line_separator: crlf }",
    )
    assert by_path.layout.path == "./o.schema.yaml"
    assert by_path.layout.inline is None


def test_schema_file() -> None:
    text = """\
        version: "1.0"
        format: fixed_width
        encoding: utf-8
        defs: { money: { type: decimal, scale: 2, width: 10 } }
        records:
          - id: detail
            tag: D
            fields:
              - { name: kind, start: 0, width: 1 }
              - { name: total, start: 1, inherits: money }
        discriminator: { start: 0, width: 1 }
        structure: [{ record: detail, count: "1+" }]
        """
    layout = load_schema_file(dedent(text).encode()).value
    assert layout
    assert layout.records
    assert layout.resolved(layout.records[0].fields[1]).scale == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("format: csv\n", ["E021 1:1 the layout has no fields"]),
        ("version: [1]\nfields: []\n", ["E007 1:10 expected a string, found a list"]),
        ("fields: [{ name: a, pad: '00' }]\n", ["E007 1:26 takes at most 1 character"]),
        ("fields: [{ name: a, type: strng }]\n", ["E007 1:27 unknown type 'strng'"]),
        (
            "fields: [{ name: a, width: 1, end: 2, inherits: x, drop: true }]\n",
            [
                "E021 1:31 field 'a' has both 'width' and 'end'",
                "E021 1:49 'x' is not defined under 'defs'",
                "E021 1:52 'drop' is for schema overrides, not for the layout itself",
            ],
        ),
        ("format: fixed_width\nfields: [{ name: a }]\n", ["E021 2:12 field 'a' has no width"]),
        ("_schema: {}\nfields: [{ name: a }]\n", ["E005 1:1 unknown key '_schema'"]),
    ],
)
def test_schema_file_diagnostics(text: str, expected: list[str]) -> None:
    assert brief(load_schema_file(text.encode()).diagnostics) == expected


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        (
            "source",
            "type: fixed_width\npath: a\nschema: { a: int }",
            ["E023 7:7 a fixed-width source needs the layout of its lines"],
        ),
        (
            "source",
            "type: fixed_width\npath: a\nschema: { a: int }\n"
            "format_schema: { fields: [{ name: a, start: 0 }, { name: b, width: 2, end: 3 }] }",
            [
                "E021 10:35 field 'a' has no width",
                "E021 10:77 field 'b' has both 'width' and 'end'",
            ],
        ),
        (
            "output",
            "type: fixed_width\npath: a",
            ["E023 7:7 a fixed-width output needs the layout of its lines"],
        ),
    ],
)
def test_diagnostics(kind: str, config: str, expected: list[str]) -> None:
    assert brief(load_config(kind, config).diagnostics) == expected
