"""Log directives: what a transform says, and when."""

from __future__ import annotations

import json

import pytest

from clinker.cxl.syntax.ast import TraceLevel
from clinker.formats.files import dead_letter_file
from tests.engine.whole_runs import Listener, Workplace

_STEP = """
    pipeline: {{ name: p, vars: {{ verbose: {{ type: bool, default: true }} }} }}
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: in.csv
          schema: [{{ name: id, type: int }}, {{ name: n, type: int }}]
      - type: transform
        name: step
        input: rows
        config:
          cxl: {cxl}
          log: [{log}]
      - {{ type: output, name: out, input: step, config: {{ type: csv, path: out.csv }} }}
    error_handling: {{ strategy: continue, dlq: {{ path: rejected.csv }} }}
"""
ROWS = "id,n\n1,1\n2,2\n3,0\n4,4\n5,0\n6,x\n7,7\n8,8\n"


def _logging(directive: str) -> str:
    said = f"{{ level: warn, message: said, {directive} }}"
    return _STEP.format(cxl="emit share = 100 / n", log=said)


def _tracing(before: str, after: str) -> str:
    program = f"{before}\ntrace warn id.to_string()\n{after}"
    return _STEP.format(cxl=json.dumps(program), log="")


@pytest.mark.parametrize(
    ("directive", "count"),
    [
        ("when: per_record", 5),
        ("when: per_record, every: 2", 3),
        ("when: per_record, every: 5", 1),
        ("when: per_record, every: 99", 1),
        ("when: per_record, every: 2, condition: share < 50", 2),
        ("when: on_error", 2),
        ("when: on_error, condition: id > 3", 1),
        ("when: on_error, condition: share > 0", 0),
        ("when: on_error, condition: id / n == 1", 0),
        ("when: before_transform", 1),
        ("when: before_transform, condition: $vars.verbose", 1),
        ("when: after_transform, condition: not $vars.verbose", 0),
    ],
)
def test_when_it_is_said(workplace: Workplace, directive: str, count: int) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(_logging(directive))
    assert (ran.code, ran.messages) == (2, ["warn step: said"] * count)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("before", "after", "traced"),
    [
        ("", "filter n > 3", "1 2 3 4 5 7 8"),
        ("filter n > 3", "", "4 7 8"),
        ("emit id = id * 10", "filter id > 50", "10 20 30 40 50 70 80"),
        ("emit id = 8 / n", "", "8 4 2 1 1"),
        ("emit even = n % 2 == 0  distinct by even", "filter even", "1 2"),
        ("filter id != 2  distinct by n", "", "1 3 4 7 8"),
    ],
)
def test_what_reaches_a_trace(workplace: Workplace, before: str, after: str, traced: str) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(_tracing(before, after))
    assert ran.code == 2
    assert ran.messages == [f"warn step: {text}" for text in traced.split()]


@pytest.mark.usefixtures("either_way")
def test_traces_in_the_body_of_emit_each(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    body = "emit each part in [n, 8 / n] { emit part = part  trace warn part.to_string() }"
    ran = workplace.run(_tracing("filter id < 5", body))
    said = "1 1 8 2 2 4 3 4 4 2"  # each record by itself, as the program runs
    assert ran.messages == [f"warn step: {text}" for text in said.split()]


def test_debug_shows_values_and_where_they_come_from(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def logged(_: Listener, level: TraceLevel, text: str, node: str, fields: object = None) -> None:
        heard.append(f"{level.value} {node}: {text} {fields}")

    monkeypatch.setattr(Listener, "wants", lambda *_: True)
    monkeypatch.setattr(Listener, "logged", logged)
    workplace.write(in_csv=ROWS)
    shown = """filter n.debug("n") > 4  emit more = (n + 1).debug("more")"""
    assert workplace.run(_tracing(shown, "")).code == 2
    place = {"source_row": 7, "source_file": "in.csv"}
    assert heard[-6:-3] == [
        f"trace step: n: 7 {place}",
        f"trace step: more: 8 {place}",
        "warn step: 7 None",
    ]
    assert heard[0].startswith("trace step: n: 1 ")
    assert len(heard) == 7 + 2 + 2


def test_what_is_said_on_errors_shows_values_of_their_types(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letter_file, "_BYTES_AT_ONCE", 100)
    heard: list[str] = []

    def logged(_: Listener, level: TraceLevel, text: str, node: str, fields: object = None) -> None:
        heard.append(f"{text} {fields}")

    monkeypatch.setattr(Listener, "logged", logged)
    rows = "".join(f"0{n},1.50,2024-01-0{n},x{n}\n" for n in range(1, 10))
    workplace.write(a_csv="id,v,day,more\n" + rows)
    workplace.write(b_json='{"id": "08", "v": 2, "day": "2024-05-01"}\n{"id": 9, "v": "1e1"}\n')
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: a
            config: { type: csv, path: a.csv, schema: { id: int, v: float, day: date } }
          - type: source
            name: b
            config: { type: json, path: b.json, schema: { id: int, v: float, day: date } }
          - { type: merge, name: both, inputs: [b, a] }
          - type: transform
            name: step
            input: both
            config:
              cxl: emit x = v / 0.0
              log:
                - level: warn
                  when: on_error
                  message: failed
                  condition: "id >= 8 or day == #2024-01-02#"
                  fields: [id, v, day]
          - { type: output, name: out, input: step, config: { type: csv, path: out.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """
    )
    assert ran.code == 2
    day = "datetime.date(2024, 1, {})".format
    assert heard == [
        f"failed {{'id': 2, 'v': 1.5, 'day': {day(2)}}}",
        f"failed {{'id': 8, 'v': 1.5, 'day': {day(8)}}}",
        f"failed {{'id': 9, 'v': 1.5, 'day': {day(9)}}}",
        "failed {'id': 8, 'v': 2.0, 'day': datetime.date(2024, 5, 1)}",
        "failed {'id': 9, 'v': 10.0, 'day': None}",
    ]


@pytest.mark.usefixtures("either_way")
def test_a_rule_that_warns_names_the_record(workplace: Workplace) -> None:
    workplace.write(in_csv="id,n\n1,1\n2,2\n", more_csv="id,n\n3,3\n4,1\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: csv, paths: [in.csv, more.csv], schema: { id: int, n: int } }
          - type: transform
            name: step
            input: rows
            config:
              cxl: emit m = n
              validations: [{ check: "n == 1", severity: warn, message: not one }]
          - type: aggregate
            name: sums
            input: step
            config: { group_by: [n], cxl: emit rows = count(*) }
          - type: transform
            name: last
            input: sums
            config: { cxl: "", validations: [{ check: rows > 1, name: many, severity: warn }] }
          - { type: output, name: out, input: last, config: { type: csv, path: out.csv } }
        """
    )
    assert ran.code == 0
    assert ran.messages == [
        "warn step: not one (row 2 of in.csv, source 'rows')",
        "warn step: not one (row 1 of more.csv, source 'rows')",
        "warn last: validation 'many' failed (the group of row 2 of in.csv, source 'rows')",
        "warn last: validation 'many' failed (the group of row 1 of more.csv, source 'rows')",
    ]
