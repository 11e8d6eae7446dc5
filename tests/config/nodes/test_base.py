"""What every node has beside its settings."""

from __future__ import annotations

import pytest

from tests.config.loading import brief, load_node


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
        ("- { type: source, name: s, path: a.csv }", ["E006 3:7 missing key 'format'"]),
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
def test_diagnostics(text: str, expected: list[str]) -> None:
    found = brief(load_node(text).diagnostics)
    # Only the line counts for keys that are missing: they point at the node as a whole.
    assert list(map(_place, found)) == list(map(_place, expected))


def _place(line: str) -> str:
    code, place, message = line.split(" ", 2)
    return f"{code} {place.split(':')[0]} {message}" if code == "E006" else line
