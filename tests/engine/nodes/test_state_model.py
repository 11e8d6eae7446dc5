"""State nodes against a model that takes one record at a time: random assignments, any parts."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Frame, Record, Surroundings, System, compile_expression
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.values import Value
from clinker.engine.flow.flow import Flow
from clinker.engine.nodes.state import state
from clinker.engine.nodes.transform import transform
from clinker.engine.rejects.sites import Demand
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedState, PlannedTransform
from tests.engine.flowing import Collected, building, collected, planned, source_flow

CHAINS = 24
NAMES = ("a", "b", "c")
SCOPES = ("pipeline", "source", "record")


def pipeline(scopes: Sequence[str], programs: Sequence[Sequence[tuple[str, str]]]) -> Plan:
    """State nodes behind each other, and a transform that shows what records carry."""
    nodes = ""
    before = "records"
    for number, (scope, program) in enumerate(zip(scopes, programs, strict=True)):
        assignments = "".join(
            f"\n                - {{ var: {name}, cxl: '{cxl}' }}" for name, cxl in program
        )
        nodes += f"""
          - type: state
            name: s{number}
            input: {before}
            config:
              scope: {scope}
              set: {assignments}"""
        before = f"s{number}"
    shown = sorted({(s, n) for s, p in zip(scopes, programs, strict=True) for n, _ in p})
    emits = " ".join(f"emit {s}_{n} = ${s}.{n}" for s, n in shown)
    declared = "a: { type: int, default: 3 }, b: { type: int }, c: { type: float, default: 0.5 }"
    return planned(
        f"""
        pipeline:
          name: p
          vars: {{ pipeline: {{ {declared} }}, source: {{ {declared} }}, record: {{ {declared} }} }}
        nodes:
          - {{ type: source, name: records, config: {{ type: csv, path: r.csv,
              schema: {{ i: "nullable(int)", f: "nullable(float)", n: int }} }} }}{nodes}
          - {{ type: transform, name: shown, input: {before}, config: {{ cxl: "{emits}" }} }}
          - {{ type: output, name: o, input: shown, config: {{ type: csv, path: o.csv }} }}
        """
    )


# The model


@dataclass
class Told:
    """What is left of the records: those that passed, and the rows of those that did not."""

    records: list[dict[str, Value]]
    rejected: list[tuple[int, str]]


def modelled(plan: Plan, records: Sequence[Record]) -> Told:
    """Every node takes all records, one after the other."""
    rows = [Row(number, dict(record), {}) for number, record in enumerate(records, 1)]
    rejected: list[tuple[int, str]] = []
    for node in plan.nodes.values():
        if isinstance(node, PlannedState):
            model = NodeModel(plan, node)
            rows = [row for row in rows if model.takes(row, rejected)]
    return Told([row.shown(plan.nodes["shown"].row.columns) for row in rows], rejected)


@dataclass
class Row:
    number: int
    record: dict[str, Value]
    carried: dict[tuple[str, str], Value]

    def shown(self, columns: Iterable[str]) -> dict[str, Value]:
        return {
            name: self.carried[scope, variable] if variable else self.record[name]
            for name in columns
            for scope, _, variable in [name.partition("_")]
        }


class NodeModel:
    """A state node, and what the records so far have left in it."""

    def __init__(self, plan: Plan, node: PlannedState) -> None:
        self.registry = plan.registry
        self.scope = node.node.config.scope
        self.assignments = node.assignments
        self.store: dict[str, Value] = {}
        self.arguments: dict[typed.Aggregate, list[list[Value]]] = {}

    def takes(self, row: Row, rejected: list[tuple[int, str]]) -> bool:
        """Whether the record passes; then it has left its values."""
        if self.scope == "record":
            self.store, self.arguments = {}, {}
        system: dict[tuple[str, tuple[str, ...]], Value] = {
            (scope, (name,)): self.before(row, scope, name) for scope in SCOPES for name in NAMES
        }
        arguments = {call: [*rows] for call, rows in self.arguments.items()}
        written: dict[str, Value] = {}
        try:
            for name, value in self.assignments.items():
                found = evaluated(value, row.record, system, arguments)
                is_promoted = name == "c" and isinstance(found, int)
                written[name] = float(found) if is_promoted else found  # type: ignore[arg-type]
                system[self.scope, (name,)] = written[name]
        except Failure as failure:
            rejected.append((row.number, failure.detail))
            return False
        self.store, self.arguments = self.store | written, arguments
        row.carried |= {(self.scope, name): value for name, value in written.items()}
        return True

    def before(self, row: Row, scope: str, name: str) -> Value:
        if (scope, name) in row.carried:
            return row.carried[scope, name]
        if scope == self.scope and name in self.store:
            return self.store[name]
        return self.registry.initial(scope, name)


def evaluated(
    value: typed.Expr,
    record: Record,
    system: System,
    arguments: dict[typed.Aggregate, list[list[Value]]],
) -> Value:
    """The value, for whose aggregates the arguments of this record are added."""
    frame = Frame(record, Surroundings(system))
    results: dict[typed.Expr, Value | Failure] = {}
    for call in aggregate_calls(value):
        args = [compile_expression(arg)(frame) for arg in call.args] or [True]
        rows = arguments.setdefault(call, [])
        rows.append(args)
        try:
            results[call] = call.function.call(*zip(*rows, strict=True))
        except Failure as failure:
            results[call] = failure
    return compile_expression(value)(Frame(record, Surroundings(system), results=results))


# Random assignments


def expression(draw: random.Random, scope: str, name: str, readable: Sequence[str]) -> str:
    own, other = f"${scope}.{name}", f"${draw.choice(readable)}.a"
    number = draw.choice(["f", "f * 0.1", "1.5", "f / (n - 3).to_float()"])
    whole = draw.choice(["i", "n", "1", "n - 4", "6 / (n - 3)", other, "i * 1000000000000000000"])
    element = number if name == "c" else whole
    guard = draw.choice(["n > 3", "i > 2", f"{element} > 0"])
    return draw.choice(
        [
            f"{own} + {element}",
            f"{element} + {own}",
            f"{own} - {element}",
            f"({own} ?? 2) + n" if name != "c" else f"({own} ?? 2.0) + 1.5",
            f"{own} ?? {element}",
            f"{element} ?? {own}",
            f"if {element} > {own} then {element} else {own}",
            f"if {own} > {element} then {element} else {own}",
            f"if {guard} then {own} + {element} else {own}",
            f"if {guard} then {own} else {own} - {element}",
            f"if {guard} then {element} else {own} + {element}",
            f"{own} * 2" if name != "c" else f"{own} / 2.0",
            element,
            f"sum({element})",
            f"max({element})",
            "count(i)" if name != "c" else "avg(f)",
            f"first({element})",
            f"last({element})",
            f"sum({element}) + {own}",
        ]
    )


def programs(draw: random.Random) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    scopes = [draw.choice(SCOPES) for _ in range(draw.choice([1, 1, 2]))]
    for number, scope in enumerate(scopes):
        # What is only written later cannot be read.
        readable = [each for each in SCOPES if each == scope or each not in scopes[number + 1 :]]
        names = draw.sample(NAMES, draw.choice([1, 2, 3]))
        yield scope, [(name, expression(draw, scope, name, readable)) for name in names]


def records(draw: random.Random) -> list[Record]:
    return [
        {
            "i": draw.choice([None, 0, 1, 2, 5, -3, 9]),
            "f": draw.choice([None, 0.1, 0.25, -1.5, 1e300, 0.3]) if draw.random() < 0.7 else 0.7,
            "n": draw.randint(0, 6),
        }
        for _ in range(draw.choice([0, 1, 9]))
    ]


def computed(spark: SparkSession, plan: Plan, given: Sequence[Record], parts: int) -> Collected:
    demands: frozenset[Demand] = frozenset()
    while True:
        run = building(spark, plan, demands)
        flow: Flow = source_flow(run, "records", given, parts)
        flow = replace(flow, sources=("records",))
        for node in plan.nodes.values():
            if isinstance(node, PlannedState):
                flow = state(run, node, flow)
            elif isinstance(node, PlannedTransform):
                flow = transform(run, node, flow)
        found = collected(run, flow)
        if not found.demands:
            return found
        assert not found.demands & demands
        demands |= found.demands


@pytest.mark.parametrize("seed", range(CHAINS))
def test_state_is_what_single_records_leave(seed: int, spark: SparkSession) -> None:
    draw = random.Random(seed)
    chosen = list(programs(draw))
    plan = pipeline([scope for scope, _ in chosen], [program for _, program in chosen])
    given = records(draw)
    found = computed(spark, plan, given, draw.choice([1, 2, 7]))
    told = modelled(plan, given)
    assert [(r.row, r.reason.detail) for r in found.rejected] == sorted(told.rejected), chosen
    assert found.records == told.records, chosen
