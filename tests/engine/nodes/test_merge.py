"""Merges: whose turn it is."""

from __future__ import annotations

import pytest

from tests.engine.whole_runs import Workplace


@pytest.mark.parametrize(
    ("seed", "expected"),
    [("", ["a1", "c1", "b1", "c2", "a2", "b2"]), (", interleave_seed: 42", None)],
)
def test_an_input_that_takes_turns_itself(
    workplace: Workplace, seed: str, expected: list[str] | None
) -> None:
    records = {name: [f"{name}1", f"{name}2"] for name in "abc"}
    workplace.write(**{f"{name}_csv": "\n".join(["v", *own, ""]) for name, own in records.items()})
    sources = "".join(
        f"""
  - {{ type: source, name: {name}, config: {{ type: csv, path: {name}.csv,
      schema: {{ v: string }} }} }}"""
        for name in records
    )
    ran = workplace.run(
        f"""
pipeline: {{ name: p }}
nodes:{sources}
  - {{ type: merge, name: two, inputs: [a, b], config: {{ mode: interleave{seed} }} }}
  - {{ type: merge, name: all, inputs: [two, c], config: {{ mode: interleave{seed} }} }}
  - {{ type: output, name: o, input: all, config: {{ type: csv, path: o.csv }} }}
"""
    )
    assert ran.code == 0, ran.message
    found = workplace.read("o.csv").split()[1:]
    assert sorted(found) == sorted(value for own in records.values() for value in own)
    assert [value for value in found if value[0] == "c"] == records["c"]
    if expected:
        assert found == expected
