"""What `--explain` tells of the interpreter's part."""

from __future__ import annotations

from clinker.engine.report.interpreted import interpreted
from tests.engine.flowing import planned


def test_what_the_interpreter_computes_is_named() -> None:
    plan = planned(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: s
            config:
              type: csv
              path: s.csv
              schema: [{ name: day, type: date }, { name: form, type: string }]
          - type: transform
            name: t
            input: s
            config: { cxl: "emit shown = day.format(form)\\nemit next = day.year() + 1" }
          - { type: output, name: o, input: t, config: { type: csv, path: o.csv } }
        """
    )
    assert interpreted(plan) == {"s": (), "t": ("day.format(form)",), "o": ()}


def test_folds_that_take_single_steps_are_named() -> None:
    plan = planned(
        """
        pipeline: { name: p, vars: { source: { n: { type: int, default: 1 } } } }
        nodes:
          - { type: source, name: s, config: { type: csv, path: s.csv, schema: { a: int } } }
          - { type: state, name: sum, input: s,
              config: { scope: source, set: [{ var: n, cxl: $source.n + a }] } }
          - { type: output, name: o, input: sum, config: { type: csv, path: o.csv } }
          - { type: state, name: product, input: s,
              config: { scope: source, set: [{ var: n, cxl: $source.n * a }] } }
          - { type: output, name: p, input: product, config: { type: csv, path: p.csv } }
        """
    )
    found = interpreted(plan)
    assert (found["sum"], found["product"]) == ((), ("$source.n * a",))
