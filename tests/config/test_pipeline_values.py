"""Given this YAML, expect these values."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from math import inf
from typing import Any

import pytest

from clinker.config.formats.csv import CsvReading
from clinker.config.nodes import (
    AggregateNode,
    CombineNode,
    CompositionNode,
    MergeNode,
    OutputNode,
    RouteNode,
    SourceNode,
    StateNode,
    TransformNode,
)
from clinker.config.nodes.source import SourceConfig
from clinker.config.reference import Ref
from clinker.config.template import Token
from clinker.config.transport import (
    CursorPagination,
    HeaderAuth,
    NoAuth,
    OffsetPagination,
    RestTransport,
)
from clinker.config.window import Extent
from clinker.cxl.types import ANY, DATE, DATETIME, FLOAT, INT, NUMERIC, STRING
from tests.config.reports import SOURCE, accepted, load, load_config, load_node

CSV = "type: csv\npath: a.csv\nschema: { id: int }\n"


def config(kind: str, text: str) -> Any:
    (node,) = accepted(load_config(kind, text)).nodes
    return node.config


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


def test_variables_in_all_forms() -> None:
    variables = accepted(
        load(
            """\
            pipeline:
              name: p
              vars:
                threshold: 500
                rate: 0.08
                label: "Monthly Report"
                strict: true
                cutoff: { type: date, default: "2024-01-01" }
                later: { type: datetime, default: "2024-01-01T06:00:00" }
                ratio: { type: float, default: 1 }
                empty: { type: int }
                record: { type: string, default: a variable called record }
                source:
                  batch_id: { type: string }
                  type: { type: int }
                pipeline:
                  limit: { type: date_time }
                  n: 5
            nodes: [{ type: merge, name: m, inputs: [a] }]
            """
        )
    ).pipeline.vars
    assert {name: (v.cxl_type, v.initial) for name, v in variables.static.items()} == {
        "threshold": (INT, 500),
        "rate": (FLOAT, 0.08),
        "label": (STRING, "Monthly Report"),
        "strict": (variables.static["strict"].cxl_type, True),
        "cutoff": (DATE, date(2024, 1, 1)),
        "later": (DATETIME, datetime(2024, 1, 1, 6)),
        "ratio": (FLOAT, 1.0),
        "empty": (INT, None),
        "record": (STRING, "a variable called record"),
    }
    assert list(variables.source) == ["batch_id", "type"]
    assert variables.pipeline["n"].initial == 5
    assert variables.record == {}
    assert variables.key_at("pipeline", "limit").start == (17, 7)
    assert variables.static["threshold"].at("default").start == (4, 16)


def test_error_handling() -> None:
    handling = accepted(
        load(
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling:
              strategy: continue
              dlq:
                path: errors.csv
                include_reason: false
                max_rate: 0.5
                per_source: { orders: { path: orders_errors.csv, min_records: 5 } }
              type_error_threshold: 0.05
              correlation_fanout_policy: primary
              correlation_key: order_id
              max_group_buffer: 10
            """
        )
    ).error_handling
    assert handling.strategy == "continue"
    assert handling.dlq.per_source["orders"].path == "orders_errors.csv"
    assert handling.dlq.per_source["orders"].min_records == 5
    assert handling.correlation_key == ("order_id",)
    assert handling.type_error_threshold == 0.05


def test_schema_as_a_list_or_a_mapping() -> None:
    listed = config(
        "source",
        """\
        type: csv
        path: a
        schema:
          - { name: a, type: int, required: true }
          - { name: b, type: nullable(string), long_unique: true }
          - { name: c, type: { nullable: float } }
          - { name: d, type: datetime }
          - { name: e, type: numeric }
          - { name: a.b, type: any }
        """,
    )
    assert [(c.name, c.type) for c in listed.columns] == [
        ("a", INT),
        ("b", STRING.nullable()),
        ("c", FLOAT.nullable()),
        ("d", DATETIME),
        ("e", NUMERIC),
        ("a.b", ANY),
    ]
    assert listed.columns[0].required
    assert listed.columns[1].long_unique
    mapped = config(
        "source",
        """\
        type: csv
        path: a
        schema:
          a: int
          name: nullable(float)
          type: { nullable: date_time }
          d: { type: date, required: true }
        """,
    )
    assert [(c.name, c.type, c.required) for c in mapped.columns] == [
        ("a", INT, False),
        ("name", FLOAT.nullable(), False),
        ("type", DATETIME.nullable(), False),
        ("d", DATE, True),
    ]
    assert mapped.columns[1].at("name").start == (11, 9)
    assert mapped.columns[1].at("type").start == (11, 15)


def test_source_settings() -> None:
    source = config(
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
    source = config("source", CSV + "correlation_key: order_id")
    assert source.correlation_key == ("order_id",)
    assert source.at("correlation_key", 0).start == (10, 24)


def test_rest_source() -> None:
    source = config(
        "source",
        """\
        type: json
        schema: { id: int }
        transport:
          kind: rest
          url: https://api.example.com/v1/orders
          max_pages: 50
          pagination: { strategy: cursor_token, cursor_param: p, next_token_pointer: /meta/next }
          auth: { scheme: header, name: X-API-Key, value: secret }
        """,
    )
    assert isinstance(source, SourceConfig)
    assert source.type == "json"
    assert isinstance(source.transport, RestTransport)
    assert isinstance(source.transport.pagination, CursorPagination)
    assert isinstance(source.transport.auth, HeaderAuth)
    assert (source.transport.retries, source.transport.timeout_secs) == (3, 30)
    offset = config(
        "source",
        "type: xml\nschema: { a: int }\ntransport: { kind: rest, url: 'http://a', max_pages: 1, "
        "pagination: { strategy: offset, limit: 200 } }",
    )
    assert isinstance(offset.transport.pagination, OffsetPagination)
    assert offset.transport.pagination.limit_param == "limit"
    assert isinstance(offset.transport.auth, NoAuth)


@pytest.mark.parametrize("transport", ["file", "{ kind: file }"])
def test_file_transport(transport: str) -> None:
    assert config("source", CSV + f"transport: {transport}").transport.kind == "file"


def test_fixed_width_layouts() -> None:
    inline = config(
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
    by_path = config(
        "output",
        "type: fixed_width\npath: a\nschema: ./o.schema.yaml\noptions: { line_separator: crlf }",
    )
    assert by_path.layout.path == "./o.schema.yaml"
    assert by_path.layout.inline is None


def test_envelope() -> None:
    envelope = config(
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


def test_transform_settings() -> None:
    transform = config(
        "transform",
        """\
        cxl: |
          emit a = b
        max_expansion: 5
        batch_size: 512
        phase: init
        analytic_window:
          group_by: [region]
          sort_by: [{ field: amount, order: desc }, day]
          source: products
          on: product_id
          frame: { rows: 3 preceding..1 following }
        declares: [{ name: x, scope: pipeline, type: date, default: "2024-01-01" }]
        validations:
          - { field: email, check: not_empty, severity: warn, message: m }
          - { check: "amount > 0" }
          - { name: sizes, field: code, check: length, args: { min: 2, max: 4 } }
          - { field: kind, check: one_of, args: { values: [a, b] } }
        log:
          - { level: info, when: per_record, every: 1000, message: m, fields: [a], condition: x }
        """,
    )
    assert transform.cxl == "emit a = b\n"
    window = transform.analytic_window
    assert [(k.field, k.order) for k in window.sort_by] == [("amount", "desc"), ("day", "asc")]
    assert window.on == "product_id"
    assert window.frame.rows == Extent(-3, 1)
    assert transform.declares[0].initial == date(2024, 1, 1)
    email, amount, sizes, _ = transform.validations
    assert (email.named_check, email.rule) == ("not_empty", "email:not_empty")
    assert (amount.named_check, amount.rule) == (None, "amount > 0")
    assert (sizes.args, sizes.rule) == ({"min": 2, "max": 4}, "sizes")
    assert transform.log[0].every == 1000
    block = transform.text("cxl")
    assert block.text == "emit a = b\n"
    assert block.host.position(block.offsets[5]) == (8, 14)
    condition = amount.text("assertion")
    assert condition.host.position(condition.offsets[0]) == (21, 21)


@pytest.mark.parametrize(
    ("frame", "extent"),
    [
        ("rows: unbounded_preceding..current_row", Extent(-inf, 0)),
        ("rows: 3 preceding", Extent(-3, 0)),
        ("rows: [2_preceding, 2 following]", Extent(-2, 2)),
        ("rows: { start: current row, end: unbounded_following }", Extent(0, inf)),
        ("rows: { start: unbounded_preceding }", Extent(-inf, 0)),
        ("rows: '2 preceding..1 preceding'", Extent(-2, -1)),
    ],
)
def test_window_frames(frame: str, extent: Extent) -> None:
    transform = config(
        "transform", f"cxl: x\nanalytic_window: {{ group_by: [a], frame: {{ {frame} }} }}"
    )
    assert transform.analytic_window.group_by == ("a",)
    assert transform.analytic_window.frame.rows == extent


def test_aggregate_settings() -> None:
    aggregate = config(
        "aggregate",
        """\
        group_by: [a, b]
        cxl: emit n = count(*)
        strategy: streaming
        time_window: { hopping: { size: 1h, slide: 30m } }
        allowed_lateness: 30s
        """,
    )
    assert aggregate.time_window.shape.slide == timedelta(minutes=30)
    assert aggregate.allowed_lateness == timedelta(seconds=30)
    assert config("aggregate", "group_by: []\ncxl: emit n = count(*)").group_by == ()


@pytest.mark.parametrize("key", ["conditions", "routes"])
def test_route_settings(key: str) -> None:
    route = config(
        "route", f'mode: inclusive\n{key}:\n  us: region == "US"\n  eu: x\ndefault: other'
    )
    assert route.branches == ("us", "eu", "other")
    condition = route.text(key, "us") if key == "conditions" else None
    assert condition is None or condition.text == 'region == "US"'


def test_merge_and_combine() -> None:
    (merge,) = accepted(load_node("- { type: merge, name: m, inputs: [a, r.low] }")).nodes
    assert isinstance(merge, MergeNode)
    assert merge.inputs == (Ref("a"), Ref("r", "low"))
    assert merge.config.mode == "concat"
    assert list(merge.references)[1] == (Ref("r", "low"), ("inputs", 1))
    for written, mode, named in [
        ("driver", "driver", ()),
        ("all", "all", ()),
        ("{ named: [a] }", "named", ("a",)),
    ]:
        combine = config("combine", f"where: x\ncxl: y\npropagate_ck: {written}\ndrive: b")
        assert (combine.propagate_ck.mode, combine.propagate_ck.named) == (mode, named)
    collect = config("combine", "where: x\nmatch: collect\npropagate_ck: all")
    assert collect.cxl == ""


def test_output_settings() -> None:
    output = config(
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
    plain = config("output", "type: csv\npath: o.csv\ninclude_metadata: all")
    assert plain.include_metadata.mode == "all"
    assert plain.if_exists == "error"


def test_edi_outputs() -> None:
    edifact = config("output", "type: edifact\npath: a\noptions: { interchange_from_doc: unb }")
    assert edifact.options.segment_newline
    elements = "[" + ", ".join(f'"{n}"' for n in range(16)) + "]"
    x12 = config(
        "output",
        f"type: x12\npath: a\noptions:\n  interchange: {elements}\n"
        '  group_header: [PO, S, R, "20240101", "1200", "1", X, "004010"]\n  set_type: "850"',
    )
    assert len(x12.options.interchange) == 16


def test_state_and_composition() -> None:
    state = config("state", "scope: source\nphase: init\nset: [{ var: x, cxl: 'first(a)' }]")
    assert (state.scope, state.phase, state.set[0].cxl) == ("source", "init", "first(a)")
    (call,) = accepted(
        load_node(
            """\
            - type: composition
              name: enrich
              input: customers
              use: ./a.comp.yaml
              inputs: { primary: customers, reference: r.low }
              outputs: { normalized: next_stage }
              config: { country: US, limits: [1, 2] }
              resources: { zips: ./zip.csv }
              alias: addr
            """
        )
    ).nodes
    assert isinstance(call, CompositionNode)
    assert call.inputs["reference"] == Ref("r", "low")
    assert call.config == {"country": "US", "limits": (1, 2)}
    assert call.at("config", "country").start == (9, 24)


def test_nodes_without_a_config_block() -> None:
    pipeline = accepted(
        load(
            """\
            pipeline: { name: p }
            nodes:
              - name: orders
                type: source
                format: csv
                path: orders.csv
                schema: { id: int }
              - { name: t, type: transform, input: orders, cxl: emit a = id }
              - name: a
                type: aggregate
                input: t
                group_by: [id]
                cxl: emit n = count(*)
              - { name: r, type: route, input: a, routes: { x: n > 1 }, default: y }
              - { name: m, type: merge, inputs: [r.x, r.y], mode: interleave }
              - name: c
                type: combine
                input: { m: m, o: orders }
                where: m.id == o.id
                cxl: emit id = m.id
                propagate_ck: all
              - { name: s, type: state, input: c, scope: record, set: [{ var: x, cxl: id }] }
              - { name: out, type: output, input: s, format: json, path: o.json }
            """
        )
    )
    kinds = [type(node) for node in pipeline.nodes]
    assert kinds == [
        SourceNode,
        TransformNode,
        AggregateNode,
        RouteNode,
        MergeNode,
        CombineNode,
        StateNode,
        OutputNode,
    ]
    source = pipeline.nodes[0]
    assert isinstance(source, SourceNode)
    assert source.config.type == "csv"
    assert source.config.at("path").start == (6, 11)
    assert source.config.key_at("type").start[0] == 5


def test_models_are_frozen_and_know_their_place() -> None:
    (node,) = accepted(load_config("source", CSV)).nodes
    assert isinstance(node, SourceNode)
    with pytest.raises(ValueError, match="frozen"):
        node.name = "other"
    assert node.location.start == (3, 5)
    assert node.at("name").start == (4, 11)
    assert node.key_at("name").start == (4, 5)
    assert node.config.at("columns", 0, "type").start == (9, 21)
    # What was left out is located by what it was left out of.
    assert node.config.options.at("delimiter").start == (7, 7)
    assert node.config.at("glob").start == (7, 7)
