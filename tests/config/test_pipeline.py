"""The pipeline as a whole: its settings, and what is said about wrong ones."""

from __future__ import annotations

import pytest

from clinker.config.formats.csv import CsvReading
from clinker.config.nodes import SourceNode
from tests.config.loading import SOURCE, accepted, brief, load


def test_a_small_pipeline_with_all_defaults() -> None:
    pipeline = accepted(load("pipeline: { name: p }\nnodes:\n" + SOURCE))
    settings = pipeline.pipeline
    assert settings.name == "p"
    assert settings.memory.limit == 512 * 1024 * 1024
    assert settings.memory.backpressure == "pause"
    assert settings.batch_size == 2048
    assert settings.concurrency.threads is None
    assert pipeline.error_handling.strategy == "fail_fast"
    assert pipeline.error_handling.dlq.include_reason is True
    assert pipeline.error_handling.dlq.min_records == 100
    assert pipeline.error_handling.max_group_buffer == 100_000
    (node,) = pipeline.nodes
    assert isinstance(node, SourceNode)
    assert node.config.type == "csv"
    assert isinstance(node.config.options, CsvReading)
    assert node.config.options == CsvReading() or node.config.options.delimiter == ","
    assert node.config.files.on_no_match == "error"
    assert node.config.on_unmapped.mode == "auto_widen"
    assert node.config.transport.kind == "file"


def test_pipeline_settings() -> None:
    settings = accepted(
        load(
            """\
            pipeline:
              name: p
              memory: { limit: "2G", backpressure: both }
              batch_size: 512
              concurrency: { threads: 4, chunk_size: 1000 }
              metrics: { spool_dir: ./metrics/ }
              rules_path: ./rules/
              date_formats: ["%d.%m.%Y"]
              date_locale: de_DE
              include_provenance: true
            nodes: [{ type: merge, name: m, inputs: [a] }]
            _notes: { anything: [goes] }
            """
        )
    ).pipeline
    assert settings.memory.limit == 2 * 2**30
    assert settings.memory.backpressure == "both"
    assert settings.concurrency.threads == 4
    assert settings.date_formats == ("%d.%m.%Y",)
    assert settings.date_names.months.shown[2] == "März"
    assert settings.metrics.spool_dir == "./metrics/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", ["E007 1:1 expected a mapping of keys to values at the top of the file"]),
        ("nodes: []\n", ["E006 1:1 missing key 'pipeline'", "E007 1:8 needs at least 1 entry"]),
        ("pipeline: { name: p }\n", ["E006 1:1 missing key 'nodes'"]),
        ("pipeline: { name: p }\nnodes: 5\n", ["E007 2:8 expected a list, found integer 5"]),
        (
            "pipeline: p\nnode: []\n",
            ["E007 1:11 expected a mapping, found string 'p'", "E005 2:1 unknown key 'node'"],
        ),
        (
            """\
            pipeline:
              name: 5
              memroy: { limit: 1G }
              batch_size: 0
              concurrency: { threads: two }
              date_formats: "%Y"
            nodes:
              - { type: merge, name: m, inputs: [a] }
            """,
            [
                "E007 2:9 expected a string, found integer 5",
                "E005 3:3 unknown key 'memroy'",
                "E007 4:15 must be at least 1, found 0",
                "E007 5:27 expected an integer, found string 'two'",
                "E007 6:17 expected a list, found string '%Y'",
            ],
        ),
        (
            'pipeline: { name: p, date_formats: ["%Y-%m-%d", "%Y-%m", "%Q!"] }\n'
            "nodes: [{ type: merge, name: m, inputs: [a] }]\n",
            [
                "E034 1:49 '%Y-%m' does not determine a date",
                "E034 1:58 '%Q!' is not a date format: …",
            ],
        ),
        (
            "pipeline: { name: p, date_locale: xx_YY }\n"
            "nodes: [{ type: merge, name: m, inputs: [a] }]\n",
            ["E035 1:35 unknown locale 'xx_YY'"],
        ),
        (
            "pipeline: { name: p, memory: { limit: 512MB, backpressure: puase } }\n"
            "nodes: [{ type: merge, name: m, inputs: [a] }]\n",
            [
                "E215 1:39 expected an amount of memory, found string '512MB'",
                "E007 1:60 unknown backpressure 'puase'",
            ],
        ),
    ],
)
def test_diagnostics(text: str, expected: list[str]) -> None:
    found = brief(load(text).diagnostics)
    assert len(found) == len(expected)
    for line, start in zip(found, expected, strict=True):
        assert line == start or (start.endswith("…") and line.startswith(start[:-1]))
