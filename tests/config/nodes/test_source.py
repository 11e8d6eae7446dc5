"""What may be written for a source, and what is said about mistakes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.config.loading import CSV, accepted_config, brief, load_config


def test_source_settings() -> None:
    source = accepted_config(
        "source",
        CSV.replace("path: a.csv", "glob: 'in/*.csv'")
        + """\
exclude: ["*.bak"]
modified_after: 7d
modified_before: 2026-01-31T06:00:00+02:00
min_size: 10KB
max_size: 1GB
files: { sort_by: modified, sort_order: desc, take_first: 3, on_no_match: skip }
on_unmapped: drop
correlation_key: [a, b]
watermark: { column: ts, delay: 500ms, idle_timeout: 1h }
sort_order: [a, { field: b, order: desc, null_order: first }]
options: { delimiter: "\\t", quote_char: "'", has_header: false, encoding: LATIN1 }
""",
    )
    assert source.glob == "in/*.csv"
    assert source.modified_after == timedelta(days=7)
    assert source.modified_before == datetime(2026, 1, 31, 4, tzinfo=UTC)
    assert (source.min_size, source.max_size) == (10_000, 10**9)
    assert source.files.take_first == 3
    assert source.on_unmapped.mode == "drop"
    assert source.correlation_key == ("a", "b")
    assert source.watermark.delay == timedelta(milliseconds=500)
    assert [(k.field, k.order, k.null_order) for k in source.sort_order] == [
        ("a", "asc", "last"),
        ("b", "desc", "first"),
    ]
    assert (source.options.delimiter, source.options.encoding) == ("\t", "iso8859-1")


def test_one_correlation_key() -> None:
    source = accepted_config("source", CSV + "correlation_key: order_id")
    assert source.correlation_key == ("order_id",)
    assert source.at("correlation_key", 0).start == (10, 24)


def test_envelope() -> None:
    envelope = accepted_config(
        "source",
        """\
        type: xml
        path: a
        schema: { id: int }
        envelope:
          sections:
            BatchInfo:
              extract: { xml_path: /payments/BatchInfo }
              fields: { batch_id: string, run_date: date, at: datetime }
        """,
    ).envelope
    section = envelope.sections["BatchInfo"]
    assert section.extract.xml_path == "/payments/BatchInfo"
    assert section.fields == {"batch_id": "string", "run_date": "date", "at": "date_time"}


@pytest.mark.parametrize("pointer", ["''", "/", "/a/0", "/a~1b/~0"])
def test_pointers(pointer: str) -> None:
    section = f"{{ extract: {{ json_pointer: {pointer} }}, fields: {{ x: int }} }}"
    config = "type: json\npath: a\nschema: { a: int }\n"
    assert not load_config(
        "source", config + f"envelope: {{ sections: {{ h: {section} }} }}"
    ).diagnostics


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("type: csv\nschema: { id: int }", ["E211 7:7 the source names no file to read"]),
        (
            CSV + "glob: '*.csv'\nregex: x",
            [
                "E210 10:7 'path' and 'glob' both say which files to read",
                "E210 11:7 'path' and 'regex' both say which files to read",
            ],
        ),
        ("type: csv\npath: a.csv", ["E201 7:7 the source declares no schema"]),
        (
            CSV + "files: { take_first: 1, take_last: 1 }",
            ["E218 10:31 'take_first' and 'take_last' exclude each other"],
        ),
        (
            CSV + "watermark: { column: ts, delay: 5 minutes, idle_timeout: 0s }",
            [
                "E214 10:39 expected a duration, found string '5 minutes'",
                "E214 10:64 must be longer than zero",
            ],
        ),
        (
            CSV + "min_size: 2KB\nmax_size: 1KB",
            ["E215 10:17 'min_size' is larger than 'max_size', so no file can match"],
        ),
        (
            CSV + "max_size: 1.5MB\nmodified_after: yesterday",
            [
                "E215 10:17 expected a size, found string '1.5MB'",
                "E214 11:23 expected a point in time, found string 'yesterday'",
            ],
        ),
        (
            CSV + "options: { delimiter: '||', encoding: klingon, has_heder: true }",
            [
                "E007 10:29 expected a single character, found string '||'",
                "E007 10:45 unknown encoding 'klingon'",
                "E005 10:54 unknown key 'has_heder'",
            ],
        ),
        (CSV + "on_unmapped: dorp", ["E007 10:20 unknown mode 'dorp'"]),
        (CSV + "sort_order: [{ field: a, order: up }]", ["E007 10:39 unknown order 'up'"]),
        (
            CSV + "watermark: { column: ts, idle_timeout: 1h }",
            [
                "W013 10:32 'idle_timeout' has no effect: files end, so no source holds windows "
                "back for ever"
            ],
        ),
        (
            CSV + "array_paths: [{ path: x }]",
            ["W013 10:7 'array_paths' has no effect on a csv source"],
        ),
        (
            "type: xml\npath: a\nschema: { a: int }\n"
            "envelope: { sections: { h: { extract: { json_pointer: /a }, fields: { x: int } } } }",
            ["E022 10:47 'json_pointer' does not apply to xml sources"],
        ),
        (
            "type: json\npath: a\nschema: { a: int }\n"
            "envelope: { sections: { h: { extract: { json_pointer: a~2 }, fields: { x: int } } } }",
            ["E022 10:61 'a~2' is no JSON pointer"],
        ),
        (
            "type: edifact\npath: a\nschema: { a: string }\n"
            "envelope: { sections: { i: { extract: { segment: UNZ }, fields: { e01: text } } } }",
            ["E007 10:78 unknown e01 'text'"],
        ),
        (
            "type: edifact\npath: a\nschema: { a: string }\n"
            "envelope: { sections: { i: { extract: { segment: UNZ }, fields: { e01: int } } } }",
            ["E022 10:56 only the UNB segment can be a section of edifact documents"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("source", config).diagnostics) == expected
