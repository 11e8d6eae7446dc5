"""JSON values through whole runs: what nothing computes with is written as it was read."""

from __future__ import annotations

import csv
import io
import json

import pytest

from .whole_runs import Workplace

NUMBERS = ["12345678901234567890123", "1.10", "1.0", "1e5", "-0", "1.0E+2", "0.000001", "2.5", "7"]
PIPELINE = """
    pipeline: { name: p, concurrency: { chunk_size: CHUNK } }
    nodes:
      - type: source
        name: rows
        config:
          type: json
          path: in.json
          schema: [{ name: id, type: int }, { name: any, type: any }, { name: s, type: string }]
      - { type: output, name: as_json, input: rows, config: { type: json, path: out.json } }
      - { type: output, name: as_csv, input: rows, config: { type: csv, path: out.csv } }
"""


@pytest.mark.parametrize("chunk", [64, 1 << 20])
@pytest.mark.parametrize("form", ["array", "ndjson"])
def test_numbers_pass_as_they_are_written(workplace: Workplace, form: str, chunk: int) -> None:
    lines = [
        f'{{"id":{n},"any":{number},"s":"{number}","more":{number}}}'
        for n, number in enumerate(NUMBERS)
    ]
    text = "[\n" + ",\n".join(lines) + "\n]\n" if form == "array" else "\n".join(lines)
    workplace.write(in_json=text)
    ran = workplace.run(PIPELINE.replace("CHUNK", str(chunk)))
    assert ran.code == 0, ran.message
    assert workplace.read("out.json") == "[\n" + ",\n".join(lines) + "\n]\n"
    rows = list(csv.reader(io.StringIO(workplace.read("out.csv"))))
    assert rows[1:] == [[str(n), number, number, number] for n, number in enumerate(NUMBERS)]


def test_empty_texts_are_no_nulls(workplace: Workplace) -> None:
    workplace.write(in_json='{"id":1,"any":"","s":"","more":""}\n{"id":2,"any":null}\n')
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: json, path: in.json, schema: [{ name: any, type: any }] }
          - type: transform
            name: looked
            input: rows
            config: { cxl: 'emit kind = any.type_of()' }
          - type: output
            name: out
            input: looked
            config: { type: json, path: out.json, preserve_nulls: true }
    """
    assert workplace.run(pipeline).code == 0
    assert json.loads(workplace.read("out.json")) == [
        {"any": "", "kind": "String", "id": 1, "s": "", "more": ""},
        {"any": None, "kind": "Null", "id": 2},
    ]


def test_numbers_are_compared_by_their_values(workplace: Workplace) -> None:
    values = ["1.10", "1.1", "1", "1.0", '{"k":1.10}', '{"k":1.1}', "1e0", "[1e1]", "[10]", "2"]
    workplace.write(in_json="\n".join(f'{{"v":{v},"n":{n}}}' for n, v in enumerate(values)))
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config:
              type: json
              path: in.json
              schema: [{ name: v, type: any }, { name: n, type: int }]
          - type: aggregate
            name: groups
            input: rows
            config: { group_by: [v], cxl: 'emit all = collect(n)' }
          - type: output
            name: out
            input: groups
            config: { type: json, path: out.json, options: { format: ndjson } }
    """
    ran = workplace.run(pipeline)
    assert ran.code == 0, ran.message
    assert workplace.read("out.json").splitlines() == [
        '{"v":1.10,"all":[0,1]}',
        '{"v":1,"all":[2,3,6]}',
        '{"v":{"k":1.10},"all":[4,5]}',
        '{"v":[1e1],"all":[7,8]}',
        '{"v":2,"all":[9]}',
    ]


def test_numbers_are_computed_with(workplace: Workplace) -> None:
    workplace.write(in_json='{"a":1.10,"m":{"k":1e2}}\n{"a":12345678901234567890123,"m":{"k":-0}}')
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config:
              type: json
              path: in.json
              schema: [{ name: a, type: any }, { name: m, type: map }]
          - type: transform
            name: computed
            input: rows
            config:
              cxl: |
                emit copy = a
                emit text = a.to_string()
                emit more = a + 1
                emit kind = a.type_of()
                emit k = m.k
                emit half = m.k / 2
                emit same = a == 1.1
          - { type: output, name: out, input: computed, config: { type: json, path: out.json } }
    """
    ran = workplace.run(pipeline)
    assert ran.code == 0, ran.message
    assert workplace.read("out.json").splitlines()[1:3] == [
        '{"a":1.10,"m":{"k":1e2},"copy":1.10,"text":"1.10","more":2.1,"kind":"Float","k":1e2,'
        '"half":50.0,"same":true},',
        '{"a":12345678901234567890123,"m":{"k":-0},"copy":12345678901234567890123,'
        '"text":"12345678901234567890123","more":1.2345678901234568e+22,"kind":"Float","k":-0,'
        '"half":-0.0,"same":false}',
    ]


def test_a_key_with_dots_and_the_path_are_both_kept(workplace: Workplace) -> None:
    workplace.write(in_json='{"a.b":1,"a":{"b":2,"c":3}}\n{"a":{"b":4}}\n')
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: json, path: in.json, schema: [{ name: a.b, type: int }] }
          - { type: output, name: out, input: rows, config: { type: json, path: out.json } }
    """
    assert workplace.run(pipeline).code == 0
    assert json.loads(workplace.read("out.json")) == [
        {"a.b": 1, "a": {"b": 2, "c": 3}},
        {"a.b": 4},
    ]


def test_numbers_are_told_apart_and_sorted_by_their_values(workplace: Workplace) -> None:
    values = [
        "1e1",
        "2.50",
        "10",
        "12345678901234567890124",
        "2.5",
        "12345678901234567890123",
        "-0",
    ]
    workplace.write(in_json="\n".join(f'{{"v":{v},"n":{n}}}' for n, v in enumerate(values)))
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config:
              type: json
              path: in.json
              schema: [{ name: v, type: any }, { name: n, type: int }]
          - { type: transform, name: once, input: rows, config: { cxl: 'distinct by v' } }
          - type: output
            name: distinct
            input: once
            config:
              type: json
              path: distinct.json
              options: { format: ndjson }
          - type: output
            name: sorted
            input: rows
            config:
              type: json
              path: sorted.json
              sort_order: [{ field: v }]
              options: { format: ndjson }
    """
    ran = workplace.run(pipeline)
    assert ran.code == 0, ran.message
    numbers = {
        file: [json.loads(line)["n"] for line in workplace.read(file).splitlines()]
        for file in ("distinct.json", "sorted.json")
    }
    assert numbers == {"distinct.json": [0, 1, 3, 6], "sorted.json": [6, 1, 4, 0, 2, 3, 5]}
