"""Composition files."""

from __future__ import annotations

from textwrap import dedent

import pytest

from clinker.config import load_composition
from clinker.config.reference import Ref
from clinker.cxl.types import DATE, INT
from tests.config.loading import brief

COMPOSITION = """\
_compose:
  name: read_pipeline_var
  inputs:
    inp: { schema: [{ name: id, type: int }], required: true }
    opt: { schema: { code: string } }
  outputs:
    out: tap
    rest: { ref: split.low, description: the others }
  config_schema:
    start_month: { type: int, default: 1, range: [1, 12] }
    mode: { type: string, enum: [fast, exact], required: true }
  resources_schema: { zips: { kind: file } }
  scoped_vars: { pipeline: { cutoff: { type: int }, label: string } }
nodes:
  - { type: transform, name: tap, input: inp, config: { cxl: emit id = id } }
"""


def test_composition() -> None:
    composition = load_composition(COMPOSITION.encode()).value
    assert composition
    signature = composition.signature
    assert signature.inputs["inp"].required
    assert not signature.inputs["opt"].required
    assert signature.outputs["out"].ref == Ref("tap")
    assert signature.outputs["rest"].ref == Ref("split", "low")
    assert signature.scoped_vars.pipeline["label"].type == "string"
    month, mode = signature.config_schema["start_month"], signature.config_schema["mode"]
    assert month.why_not(4) is None
    assert month.why_not(13) == "must be between 1 and 12, found 13"
    assert month.why_not("4") == "expected an integer, found string '4'"
    assert mode.why_not("slow") == "string 'slow' is not one of: fast, exact"


def test_composition_with_one_port() -> None:
    text = """\
        composition:
          name: fiscal_date
          description: "Derive fiscal year"
          requires:
            - { name: invoice_date, type: date }
          produces:
            - { name: fiscal_year, type: int }
          params:
            - { name: start_month, type: int, default: 1, description: First month }
        nodes:
          - { type: transform, name: derive, input: input, cxl: emit fiscal_year = 1 }
        """
    composition = load_composition(dedent(text).encode()).value
    assert composition
    signature = composition.signature
    assert signature.name == "fiscal_date"
    (needed,) = signature.inputs["input"].columns or ()
    assert (needed.name, needed.type) == ("invoice_date", DATE)
    assert signature.inputs["input"].required
    (given,) = signature.outputs["output"].columns or ()
    assert (given.name, given.type) == ("fiscal_year", INT)
    assert signature.outputs["output"].ref is None
    assert signature.config_schema["start_month"].default == 1
    assert needed.at("type").start == (5, 35)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  name: read_pipeline_var\n", "", ["E006 2:3 missing key 'name'"]),
        ("default: 1,", "default: 13,", None),
        ("range: [1, 12]", "range: [12, 1]", None),
        ("range: [1, 12]", "range: [1]", None),
        ("type: int, default", "type: string, default", None),
        ("required: true }\n  res", "required: true, default: fast }\n  res", None),
        ("out: tap", "out: a.b.c", ["E016 7:10 'a.b.c' does not name a node"]),
        ("scoped_vars", "scopedvars", ["E005 13:3 unknown key 'scopedvars'"]),
    ],
)
def test_composition_diagnostics(old: str, new: str, expected: list[str] | None) -> None:
    assert old in COMPOSITION
    found = brief(load_composition(COMPOSITION.replace(old, new).encode()).diagnostics)
    assert found == expected if expected is not None else found


def test_composition_without_body() -> None:
    text = COMPOSITION[: COMPOSITION.index("nodes:")] + "nodes: []\n"
    found = brief(load_composition(text.encode()).diagnostics)
    assert found == ["E031 14:8 the composition has no nodes"]
