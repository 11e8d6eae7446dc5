"""Which values of state nodes are folded by window functions, and which in single steps."""

from __future__ import annotations

import pytest

from clinker.plan.analyses.folds import FoldKind, Passed, Plain, Running, fold_steps, passed_writers
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedState
from tests.plan.compiling import compiled


def plan_of(nodes: str) -> Plan:
    found = compiled(
        f"""
pipeline:
  name: p
  vars:
    pipeline: {{ x: {{ type: int, default: 0 }}, y: {{ type: int }}, f: {{ type: float }} }}
    record: {{ x: {{ type: int, default: 0 }} }}
nodes:
  - {{ type: source, name: s, config: {{ type: csv, path: s.csv,
      schema: {{ a: int, b: "nullable(int)", f: float, t: string }} }} }}
{nodes}
"""
    )
    assert found.plan, found.diagnostics
    return found.plan


def steps(assignments: str, scope: str = "pipeline") -> list[str] | None:
    """The kind of every assignment; None if all are for the interpreter."""
    plan = plan_of(f"""
  - {{ type: state, name: st, input: s, config: {{ scope: {scope}, set: {assignments} }} }}
  - {{ type: output, name: o, input: st, config: {{ type: csv, path: o.csv }} }}
""")
    planned = plan.nodes["st"]
    assert isinstance(planned, PlannedState)
    found = fold_steps(plan.graph, plan.nodes, planned)
    if found is None:
        return None
    return [
        step.fold.kind.value if isinstance(step, Running) else "late" if step.is_late else "plain"
        for step in found
    ]


@pytest.mark.parametrize(
    ("cxl", "kind"),
    [
        ("a", "plain"),
        ("$pipeline.x + a", FoldKind.SUM),
        ("a + $pipeline.x", FoldKind.SUM),
        ("($pipeline.x ?? 7) + (a ?? 0)", FoldKind.SUM),
        ("$pipeline.x - b", FoldKind.DIFFERENCE),
        ("$pipeline.x.max(b)", FoldKind.LARGER),
        ("if b > $pipeline.x then b else $pipeline.x", FoldKind.LARGEST),
        ("if $pipeline.x >= a + 1 then a + 1 else $pipeline.x", FoldKind.SMALLEST),
        ("$pipeline.x ?? b", FoldKind.FIRST),
        ("b ?? $pipeline.x", FoldKind.LAST),
        ("if a > 1 then $pipeline.x + 1 else $pipeline.x", FoldKind.SUM),
        ("if a > 1 then $pipeline.x else b ?? $pipeline.x", FoldKind.LAST),
        ("sum(a)", "late"),
        ("count(*) + 1", "late"),
    ],
)
def test_what_window_functions_do(cxl: str, kind: str | FoldKind) -> None:
    wanted = kind.value if isinstance(kind, FoldKind) else kind
    assert steps(f"[{{ var: x, cxl: '{cxl}' }}]") == [wanted]


@pytest.mark.parametrize(
    "cxl",
    [
        "$pipeline.x * 2",
        "a - $pipeline.x",
        "if a > 1 then 0 else $pipeline.x + 1",  # begins again
        "($pipeline.x ?? 0) + b",  # begins again after a null
        "if $pipeline.x > 3 then $pipeline.x + 1 else $pipeline.x",
        "if b > $pipeline.x then a else $pipeline.x",
        "$pipeline.x ?? a / b",  # only fails if it is reached
        "$pipeline.x + $pipeline.x",
        "sum(a) + $pipeline.x",
        "$pipeline.y + a",  # of another variable, which is assigned later
    ],
)
def test_what_takes_single_steps(cxl: str) -> None:
    assert steps(f"[{{ var: x, cxl: '{cxl}' }}, {{ var: y, cxl: a }}]") is None


def test_values_made_of_folds_come_late() -> None:
    found = steps("[{ var: x, cxl: $pipeline.x + 1 }, { var: y, cxl: $pipeline.x * 2 }]")
    assert found == ["sum", "late"]
    assert (
        steps("[{ var: x, cxl: $pipeline.x + 1 }, { var: y, cxl: $pipeline.y + $pipeline.x }]")
        is None
    )


def test_a_variable_of_records_is_never_folded() -> None:
    assert steps("[{ var: x, cxl: $record.x * 2 }]", "record") == ["plain"]


def test_a_later_writer_goes_on_from_what_records_bring() -> None:
    plan = plan_of("""
  - { type: state, name: one, input: s, config: { scope: pipeline, set: [{ var: x, cxl: a }] } }
  - { type: state, name: two, input: one,
      config: { scope: pipeline, set: [{ var: x, cxl: $pipeline.x * 2 }] } }
  - { type: merge, name: m, inputs: [two, s] }
  - { type: aggregate, name: g, input: m, config: { group_by: [a], cxl: emit n = count(*) } }
  - { type: output, name: o, input: g, config: { type: csv, path: o.csv } }
""")
    (step,) = fold_steps(plan.graph, plan.nodes, plan.nodes["two"]) or ()  # type: ignore[arg-type]
    assert isinstance(step, Plain)
    ways = {
        name: passed_writers(plan.graph, plan.nodes, plan.graph.units[name], ("pipeline", "x"))
        for name in ("one", "two", "g", "o")
    }
    assert ways == {
        "one": Passed.NONE,
        "two": Passed.ALL,
        "g": Passed.SOME,
        "o": Passed.NONE,
    }
