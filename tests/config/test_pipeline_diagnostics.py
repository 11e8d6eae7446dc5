"""Given this YAML, expect these diagnostics."""

from __future__ import annotations

import pytest

from tests.config.loading import brief, load, load_config, load_node

CSV = "type: csv\npath: a.csv\nschema: { id: int }\n"
REST = (
    "type: json\nschema: { id: int }\ntransport: { kind: rest, url: 'https://x.y', max_pages: 2 }\n"
)
OUT = "type: csv\npath: a.csv\n"
CXL = "cxl: emit a = b\n"
WHERE = "where: a.x == b.x\ncxl: emit x = a.x\n"


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
        (
            """\
            pipeline:
              name: p
              vars:
                a: { type: int, default: 1.5 }
                b: { type: date, default: tomorrow }
                c: { type: money }
                d: null
                e: { type: bool, default: null }
                f: { type: int, default: 99999999999999999999 }
                pipeline: { start_time: { type: date_time } }
                source: { row: 1 }
            nodes:
              - { type: merge, name: m, inputs: [a] }
            """,
            [
                "E020 4:30 a default of type int must be an integer, found number 1.5",
                "E020 5:31 a default of type date must be a date such as '2026-01-31', "
                "found string 'tomorrow'",
                "E007 6:16 unknown type 'money'",
                "E007 7:8 expected a mapping, found nothing",
                "E020 9:30 a default of type int must be an integer, "
                "found integer 99999999999999999999",
            ],
        ),
        (
            """\
            pipeline:
              name: p
              vars:
                pipeline: { start_time: { type: date_time } }
                source: { row: 1 }
            nodes:
              - { type: merge, name: m, inputs: [a] }
            """,
            [
                "E110 4:17 $pipeline.start_time is provided by the engine and cannot be declared",
                "E110 5:15 $source.row is provided by the engine and cannot be declared",
            ],
        ),
        (
            """\
            pipeline: { name: p, vars: { record: { tier: { type: string } } } }
            nodes:
              - type: transform
                name: a
                input: s
                config:
                  cxl: emit x = 1
                  declares:
                    - { name: tier, scope: record, type: string }
                    - { name: limit, scope: pipeline, type: int }
              - type: transform
                name: b
                input: s
                config:
                  cxl: emit x = 1
                  declares: [{ name: limit, scope: pipeline, type: int }]
            """,
            [
                "E030 9:19 $record.tier is declared twice",
                "E030 16:26 $pipeline.limit is declared twice",
            ],
        ),
        (
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling:
              strategy: fail_fats
              dlq: { max_rate: 0, include_reason: "yes", per_source: { s: { max_rate: 1.5 } } }
              type_error_threshold: 5
              correlation_fanout_policy: some
            """,
            [
                "E007 4:13 unknown strategy 'fail_fats'",
                "E318 5:20 must be a fraction above 0 and at most 1, found 0.0",
                "E007 5:39 expected true or false, found string 'yes'",
                "E318 5:75 must be a fraction above 0 and at most 1, found 1.5",
                "E007 6:25 must be at most 1.0, found 5",
                "E007 7:30 unknown correlation_fanout_policy 'some'",
            ],
        ),
        (
            """\
            pipeline: { name: p }
            nodes: [{ type: merge, name: m, inputs: [a] }]
            error_handling: { correlation_key: order_id }
            """,
            ["W012 3:19 'error_handling.correlation_key' is deprecated"],
        ),
    ],
)
def test_pipeline_file(text: str, expected: list[str]) -> None:
    found = brief(load(text).diagnostics)
    assert len(found) == len(expected)
    for line, start in zip(found, expected, strict=True):
        assert line == start or (start.endswith("…") and line.startswith(start[:-1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 5", ["E007 3:5 expected a mapping, found integer 5"]),
        ("- name: x", ["E006 3:5 missing key 'type'"]),
        ("- { type: tranform, name: x }", ["E007 3:13 unknown type 'tranform'"]),
        ("- { type: 5, name: x }", ["E007 3:13 unknown type '5'"]),
        (
            "- { type: source, name: s, input: a, config: "
            "{ type: csv, path: a, schema: { a: int } } }",
            ["E005 3:30 unknown key 'input'"],
        ),
        ("- { type: source, name: s }", ["E006 3:7 missing key 'config'"]),
        (
            "- { type: source, name: s, path: a.csv }",
            ["E006 3:7 missing key 'format'"],
        ),
        (
            "- { type: source, name: s, config: { type: cvs, path: a.csv } }",
            ["E007 3:46 unknown type 'cvs'"],
        ),
        (
            "- { type: transform, name: t.u, input: a, cxl: x }",
            ["E010 3:30 node name 't.u' contains a '.'"],
        ),
        (
            "- { type: transform, name: t, inputs: [a], config: { cxl: x } }",
            ["E005 3:33 unknown key 'inputs'"],
        ),
        ("- { type: merge, name: m, input: a }", ["E005 3:29 unknown key 'input'"]),
        ("- { type: transform, name: t, inputt: a, cxl: x }", ["E005 3:33 unknown key 'inputt'"]),
        (
            "- { type: transform, name: t, input: a.b.c, cxl: x }",
            ["E016 3:40 'a.b.c' does not name a node"],
        ),
        (
            "- { type: transform, name: t, input: [a], cxl: x }",
            ["E007 3:40 expected the name of a node, found a list"],
        ),
        (
            "- { type: transform, name: t, input: a, config: { cxl: x }, batch_size: 5 }",
            ["E005 3:63 unknown key 'batch_size'"],
        ),
        (
            "- { type: combine, name: c, input: { a: x }, config: "
            "{ where: x, cxl: y, propagate_ck: all } }",
            ["E300 3:31 a combine joins 2 to 8 inputs, found 1"],
        ),
        (
            '- { type: combine, name: c, input: { $a: x, "b.c": y }, config: '
            "{ where: x, cxl: y, propagate_ck: all, drive: a } }",
            [
                "E301 3:40 '$a' cannot name an input",
                "E301 3:47 'b.c' cannot name an input",
                "E306 3:113 'a' is not an input of this combine",
            ],
        ),
        ("- { type: composition, name: c, input: a }", ["E006 3:5 missing key 'use'"]),
        ("- { type: composition, name: c, use: x.comp.yaml }", ["E006 3:5 missing key 'input'"]),
    ],
)
def test_node_headers(text: str, expected: list[str]) -> None:
    found = brief(load_node(text).diagnostics)
    # Only the line counts for keys that are missing: they point at the node as a whole.
    assert list(map(_place, found)) == list(map(_place, expected))


def _place(line: str) -> str:
    code, place, message = line.split(" ", 2)
    return f"{code} {place.split(':')[0]} {message}" if code == "E006" else line


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("source", "type: csv\nschema: { id: int }", ["E211 7:7 the source names no file to read"]),
        (
            "source",
            CSV + "glob: '*.csv'\nregex: x",
            [
                "E210 10:7 'path' and 'glob' both say which files to read",
                "E210 11:7 'path' and 'regex' both say which files to read",
            ],
        ),
        ("source", "type: csv\npath: a.csv", ["E201 7:7 the source declares no schema"]),
        (
            "source",
            REST + "path: x.json",
            ["E219 10:7 a REST source reads no files, so 'path' is not allowed"],
        ),
        (
            "source",
            REST.replace("type: json", "type: csv"),
            ["E220 7:13 a REST source cannot read csv"],
        ),
        (
            "source",
            "type: json\nschema: { id: int }\ntransport: { kind: rest, url: api, max_pages: 0 }",
            ["E007 9:53 must be at least 1, found 0"],
        ),
        (
            "source",
            "type: json\nschema: { id: int }\ntransport: { kind: rest, url: api, max_pages: 1,\n"
            "  pagination: { strategy: offset }, auth: { scheme: bearr } }",
            ["E006 10:23 missing key 'limit'", "E007 10:59 unknown scheme 'bearr'"],
        ),
        (
            "source",
            CSV + "files: { take_first: 1, take_last: 1 }",
            ["E218 10:31 'take_first' and 'take_last' exclude each other"],
        ),
        (
            "source",
            CSV + "watermark: { column: ts, delay: 5 minutes, idle_timeout: 0s }",
            [
                "E214 10:39 expected a duration, found string '5 minutes'",
                "E214 10:64 must be longer than zero",
            ],
        ),
        (
            "source",
            CSV + "min_size: 2KB\nmax_size: 1KB",
            ["E215 10:17 'min_size' is larger than 'max_size', so no file can match"],
        ),
        (
            "source",
            CSV + "max_size: 1.5MB\nmodified_after: yesterday",
            [
                "E215 10:17 expected a size, found string '1.5MB'",
                "E214 11:23 expected a point in time, found string 'yesterday'",
            ],
        ),
        (
            "source",
            "type: csv\npath: a\nschema:\n  - { name: a, type: itn }\n  - { name: b, tpye: int }\n"
            "  - { name: c, type: string, required: 1 }",
            [
                "E014 10:28 unknown column type 'itn'",
                "E005 11:22 unknown key 'tpye'",
                "E007 12:46 expected true or false, found integer 1",
            ],
        ),
        (
            "source",
            "type: csv\npath: a\nschema: { a: int, b: nullable(strin), c: { nullable: x } }",
            [
                "E014 9:28 unknown column type 'nullable(strin)'",
                "E014 9:48 unknown column type 'x'",
            ],
        ),
        (
            "source",
            "type: csv\npath: a\nschema:\n  - { name: a, type: int }\n  - { name: a, type: int }",
            ["E015 11:19 column 'a' is declared twice"],
        ),
        (
            "source",
            "type: csv\npath: a\n"
            "schema: { $pos: int, $1: int, $ck.a: int, $ b: int, $C: int, d$: int }",
            [
                "E017 9:17 column '$pos' has a name that is kept for the engine",
                "E017 9:28 column '$1' has a name that is kept for the engine",
                "E017 9:37 column '$ck.a' has a name that is kept for the engine",
            ],
        ),
        (
            "source",
            CSV + "options: { delimiter: '||', encoding: klingon, has_heder: true }",
            [
                "E007 10:29 expected a single character, found string '||'",
                "E007 10:45 unknown encoding 'klingon'",
                "E005 10:54 unknown key 'has_heder'",
            ],
        ),
        ("source", CSV + "on_unmapped: dorp", ["E007 10:20 unknown mode 'dorp'"]),
        (
            "source",
            CSV + "sort_order: [{ field: a, order: up }]",
            ["E007 10:39 unknown order 'up'"],
        ),
        (
            "source",
            CSV + "array_paths: [{ path: x }]",
            ["W013 10:7 'array_paths' has no effect on a csv source"],
        ),
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
            "source",
            "type: xml\npath: a\nschema: { a: int }\n"
            "envelope: { sections: { h: { extract: { json_pointer: /a }, fields: { x: int } } } }",
            ["E022 10:47 'json_pointer' does not apply to xml sources"],
        ),
        (
            "source",
            "type: edifact\npath: a\nschema: { a: string }\n"
            "envelope: { sections: { i: { extract: { segment: UNZ }, fields: { e01: text } } } }",
            ["E007 10:78 unknown e01 'text'"],
        ),
        (
            "source",
            "type: edifact\npath: a\nschema: { a: string }\n"
            "envelope: { sections: { i: { extract: { segment: UNZ }, fields: { e01: int } } } }",
            ["E022 10:56 only the UNB segment can be a section of edifact documents"],
        ),
        ("transform", "max_expansion: 0", None),
        ("transform", CXL + "batch_size: 0", ["E007 8:19 must be at least 1, found 0"]),
        ("transform", "cxl: true", ["E007 7:12 expected a string, found true"]),
        (
            "transform",
            CXL + "log: [{ level: info, when: on_error, message: m, every: 0 }]",
            [
                "E011 8:56 'every' counts records, but this is logged on_error",
                "E011 8:63 'every' must be at least 1, found 0",
            ],
        ),
        (
            "transform",
            CXL + "validations:\n  - { check: not_emty, field: a }\n  - { check: not_empty }\n"
            "  - { check: matches, field: a, args: { patern: x } }\n"
            "  - { check: a > 0, args: { x: 1 } }\n"
            "  - { check: length, field: a, args: { min: x } }",
            [
                "E026 9:20 unknown check 'not_emty'",
                "E026 10:20 the check 'not_empty' needs a field",
                "E026 11:20 the check 'matches' needs pattern",
                "E026 11:47 the check 'matches' has no argument 'patern'",
                "E026 12:27 'args' are for named checks, this one is a CXL condition",
                "E026 13:51 expected an integer, found string 'x'",
            ],
        ),
        (
            "transform",
            CXL + "analytic_window: { group_by: [a], frame: { rows: current_row..3 preceding } }",
            ["E025 8:56 the frame ends before it starts"],
        ),
        (
            "transform",
            CXL + "analytic_window: { group_by: [a], frame: { rows: 1.5 preceding }, on: x }",
            [
                "E025 8:56 a frame of rows counts whole records",
                "E025 8:73 'on' looks up records of a 'source', which is not given",
            ],
        ),
        (
            "transform",
            CXL + "declares: [{ name: row, scope: source, type: int }]",
            ["E110 8:26 $source.row is provided by the engine and cannot be declared"],
        ),
        (
            "aggregate",
            CXL + "group_by: [a]\ntime_window: { tumbling: { size: 1h }, session: { gap: 0s } }",
            ["E214 9:62 must be longer than zero"],
        ),
        (
            "aggregate",
            CXL + "group_by: [a]\ntime_window: { tumbling: { size: 1h }, session: { gap: 1s } }",
            ["E027 9:22 a time window has exactly one shape"],
        ),
        (
            "aggregate",
            CXL + "group_by: [a]\nallowed_lateness: 5s",
            ["E027 9:7 'allowed_lateness' belongs to a time window, which is not given"],
        ),
        ("route", "conditions: { a: x > 1 }", ["E006 7:7 missing key 'default'"]),
        (
            "route",
            "conditions: { a: x > 1 }\ndefault: a",
            ["E029 8:16 the default branch 'a' has a condition as well"],
        ),
        (
            "route",
            "conditions: {}\ndefault: a.b",
            [
                "E028 7:7 a route needs at least one condition",
                "E010 8:16 branch name 'a.b' contains a dot",
            ],
        ),
        (
            "route",
            "conditions: {" + ", ".join(f"b{i}: x" for i in range(256)) + "}\ndefault: d",
            ["E028 7:7 a route has at most 256 branches, found 257"],
        ),
        ("merge", "mode: conkat", ["E007 7:13 unknown mode 'conkat'"]),
        (
            "merge",
            "interleave_seed: 4",
            ["W013 7:7 'interleave_seed' has no effect with 'mode: concat'"],
        ),
        ("combine", WHERE, ["E006 7:7 missing key 'propagate_ck'"]),
        ("combine", WHERE + "propagate_ck: drivr", ["E007 9:21 unknown mode 'drivr'"]),
        ("combine", "where: x\npropagate_ck: all", ["E006 7:7 missing key 'cxl'"]),
        (
            "combine",
            WHERE + "propagate_ck: all\nmatch: collect",
            [
                "E311 8:12 with 'match: collect' the joined record is built for you, "
                "so 'cxl' must be empty"
            ],
        ),
        ("output", "type: csv", ["E006 7:7 missing key 'path'"]),
        (
            "output",
            OUT + "options:\nexclude: a\nmapping: [a]",
            [
                "E007 10:16 expected a list, found string 'a'",
                "E007 11:16 expected a mapping, found a list",
            ],
        ),
        ("output", OUT.replace("a.csv", "'{chanel}.csv'"), ["E018 8:13 unknown token '{chanel}'"]),
        ("output", OUT.replace("a.csv", "'a{'"), ["E018 8:13 '{' is never closed"]),
        ("output", OUT.replace("a.csv", "'a}b'"), ["E018 8:13 '}' is never opened"]),
        (
            "output",
            OUT.replace("a.csv", "'{pipeline_hash:65}'"),
            ["E018 8:13 '65' is not an argument of {pipeline_hash}"],
        ),
        (
            "output",
            OUT + "split: { max_records: 5, naming: 'x.csv' }",
            ["E018 9:40 every file would get the same name"],
        ),
        ("output", OUT + "split: {}", ["W013 9:14 'split' has no effect without a limit"]),
        (
            "output",
            "type: edifact\npath: a\noptions: { interchange: [a] }\nsplit: { max_records: 5 }",
            ["E323 10:7 an edifact interchange is one file and cannot be split"],
        ),
        (
            "output",
            "type: x12\npath: a\noptions: { interchange: [a], group_header: [b] }\n"
            "split: { max_records: 5 }",
            [
                "E019 9:31 an ISA header has 16 elements, found 1",
                "E019 9:50 a GS header has 8 elements, found 1",
                "E338 10:7 an x12 interchange is one file and cannot be split",
            ],
        ),
        (
            "output",
            "type: edifact\npath: a\noptions: { write_una: true }",
            ["E019 9:18 the interchange header is not given"],
        ),
        (
            "output",
            "type: fixed_width\npath: a",
            ["E023 7:7 a fixed-width output needs the layout of its lines"],
        ),
        ("output", OUT + "if_exists: overwrit", ["E007 9:18 unknown if_exists 'overwrit'"]),
        ("state", "scope: record\nset: []", ["E007 8:12 needs at least 1 entry"]),
        ("state", "scope: all\nset: [{ var: x, cxl: 5 }]", None),
    ],
)
def test_node_settings(kind: str, config: str, expected: list[str] | None) -> None:
    found = brief(load_config(kind, config).diagnostics)
    if expected is None:
        assert found
    else:
        assert found == expected


def test_helps_say_the_way_out() -> None:
    loaded = load_config("source", CSV + "optoins: {}\nfiles: { sort_by: nam }\nname: 5\nabc: 1")
    assert [d.help for d in loaded.diagnostics][:3] == [
        "did you mean 'options'?",
        "did you mean 'name'?",
        'put it in quotes: "5"',
    ]
    assert (loaded.diagnostics[3].help or "").startswith("known keys: type, name, schema, path")


def test_secondary_labels_show_the_other_place() -> None:
    (problem,) = load_config("source", CSV + "glob: x").diagnostics
    (label,) = problem.secondary
    assert label.location.start == (8, 7)
    assert label.text == "also given here"
