"""The delimiters and headers that outputs of X12 may be given."""

from __future__ import annotations

import pytest

from tests.plan.compiling import compiled

PIPELINE = """\
pipeline: {{ name: p }}
nodes:
  - type: source
    name: rows
    config: {{ type: csv, path: in.csv, on_unmapped: drop, schema: {{ seg_id: string }} }}
  - type: output
    name: out
    input: rows
    config:
      type: x12
      path: out.x12
      options:
        interchange: ["", "", "", "", ZZ, {sender}, ZZ, R, D, T, U, "00401", "1", "0", P, {last}]
        group_header: [PO, {sender}, R, D, T, "1", X, "004010"]
{more}
"""


def findings(*, sender: str = "S", last: str = '":"', more: str = "") -> list[str]:
    text = PIPELINE.format(sender=sender, last=last, more=more)
    return [f"{each.code} {each.message}" for each in compiled(text).diagnostics]


@pytest.mark.parametrize(
    "more", ["", '        element_separator: "|"\n        segment_terminator: "\\n"']
)
def test_delimiters_that_differ(more: str) -> None:
    assert findings(more=more) == []


@pytest.mark.parametrize("wrong", ['"ab"', '""', "a", '"1"', '" "', '"\\r\\n"'])
def test_a_delimiter_is_one_character_that_data_rarely_have(wrong: str) -> None:
    (found,) = findings(more=f"        element_separator: {wrong}")
    assert found.startswith("E007 expected one character, no letter, digit or blank, found")


def test_delimiters_that_are_the_same() -> None:
    message = "E019 two of 'element_separator', 'segment_terminator' and ISA16 are the same"
    assert findings(last='"*"') == [message]
    assert findings(more='        segment_terminator: "*"') == [message]


def test_headers_do_not_hold_delimiters() -> None:
    message = "E019 the element holds '|', a delimiter of the file"
    assert findings(sender='"a|b"', more='        element_separator: "|"') == [message] * 2


def test_the_separator_of_components_is_one_character() -> None:
    message = "E019 ISA16 separates components: one character, found '::'"
    assert findings(last='"::"') == [message]


def test_delimiters_beside_a_header_that_has_its_own() -> None:
    text = PIPELINE.format(sender="S", last="x", more='        element_separator: "|"')
    lines = [
        "        interchange_from_doc: head" if "interchange:" in line else line
        for line in text.splitlines()
    ]
    found = compiled("\n".join(lines)).diagnostics
    assert "W013" in [each.code for each in found]
