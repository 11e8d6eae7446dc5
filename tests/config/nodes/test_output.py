"""What may be written for an output, and what is said about mistakes."""

from __future__ import annotations

import pytest

from clinker.config.template import Token
from tests.config.loading import accepted_config, brief, load_config

OUT = "type: csv\npath: a.csv\n"


def test_output_settings() -> None:
    output = accepted_config(
        "output",
        """\
        type: json
        path: "out/{channel:-:/}{source_name:orders}-{pipeline_hash:12}-{{x}}.json"
        include_unmapped: false
        mapping: { "Customer Name": full_name, "2024": total }
        exclude: [tmp]
        sort_order: [name]
        include_metadata: [source_file]
        preserve_nulls: true
        if_exists: unique_suffix
        unique_suffix_width: 3
        write_meta: true
        split: { max_records: 5, group_key: dept, naming: "e_{seq:03}.csv", oversize_group: error }
        options: { format: ndjson, pretty: true }
        """,
    )
    assert output.path.parts == (
        "out/",
        Token("channel", None, "-", "/"),
        Token("source_name", "orders"),
        "-",
        Token("pipeline_hash", "12"),
        "-{x}.json",
    )
    assert output.mapping == {"Customer Name": "full_name", "2024": "total"}
    assert output.include_metadata.keys == ("source_file",)
    assert output.split.naming.parts == ("e_", Token("seq", "03"), ".csv")
    assert output.options.format == "ndjson"
    plain = accepted_config("output", "type: csv\npath: o.csv\ninclude_metadata: all")
    assert plain.include_metadata.mode == "all"
    assert plain.if_exists == "error"


def test_edi_outputs() -> None:
    edifact = accepted_config(
        "output", "type: edifact\npath: a\noptions: { interchange_from_doc: unb }"
    )
    assert edifact.options.segment_newline
    elements = "[" + ", ".join(f'"{n}"' for n in range(15)) + ', ":"]'
    x12 = accepted_config(
        "output",
        f"type: x12\npath: a\noptions:\n  interchange: {elements}\n"
        '  group_header: [PO, S, R, "20240101", "1200", "1", X, "004010"]\n  set_type: "850"',
    )
    assert len(x12.options.interchange) == 16


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("type: csv", ["E006 7:7 missing key 'path'"]),
        (
            OUT + "options:\nexclude: a\nmapping: [a]",
            [
                "E007 10:16 expected a list, found string 'a'",
                "E007 11:16 expected a mapping, found a list",
            ],
        ),
        (OUT + "split: {}", ["W013 9:14 'split' has no effect without a limit"]),
        (
            "type: edifact\npath: a\noptions: { interchange: [a] }\nsplit: { max_records: 5 }",
            ["E323 10:7 an edifact interchange is one file and cannot be split"],
        ),
        (
            "type: x12\npath: a\noptions: { interchange: [a], group_header: [b] }\n"
            "split: { max_records: 5 }",
            [
                "E019 9:31 an ISA header has 16 elements, found 1",
                "E019 9:50 a GS header has 8 elements, found 1",
                "E338 10:7 an x12 interchange is one file and cannot be split",
            ],
        ),
        (
            "type: edifact\npath: a\noptions: { write_una: true }",
            ["E019 9:18 the interchange header is not given"],
        ),
        (
            "type: parquet\npath: a.parquet\ncompression: zstd",
            ["E007 9:20 parquet files are not compressed as a whole"],
        ),
        (
            "type: parquet\npath: a.parquet.gz",
            ["E007 8:13 parquet files are not compressed as a whole, as the name says"],
        ),
        (
            "type: parquet\npath: a\noptions: { compression: snappy, compression_level: 3 }",
            ["E007 9:39 'snappy' has no compression levels"],
        ),
        (
            "type: parquet\npath: a\noptions: { compression: gzip, compression_level: 10 }",
            ["E007 9:56 the levels of gzip are 1 to 9"],
        ),
        (
            "type: parquet\npath: a\noptions: { decimals: { a: [39, 2], b: [3, 4], c: [3, 3] } }",
            [
                "E007 9:33 there are no decimals of 39 digits, 2 of them behind the point",
                "E007 9:45 there are no decimals of 3 digits, 4 of them behind the point",
            ],
        ),
        (OUT + "if_exists: overwrit", ["E007 9:18 unknown if_exists 'overwrit'"]),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("output", config).diagnostics) == expected
