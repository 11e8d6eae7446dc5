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
