"""State nodes against a model that takes one record at a time: random assignments, any parts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Frame, Record, Surroundings, compile_expression
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
    """Every node takes all records, one after the other, and writes into one store."""
    registry = plan.registry
    rows: list[tuple[int, dict[str, Value], dict[tuple[str, str], Value]]] = [
        (row, dict(record), {}) for row, record in enumerate(records, 1)
    ]
    rejected: list[tuple[int, str]] = []
    for node in plan.nodes.values():
        if not isinstance(node, PlannedState):
            continue
        scope = node.node.config.scope
        store: dict[str, Value] = {}
        seen: list[tuple[dict[str, Value], dict[tuple[str, str], Value]]] = []
        kept = []
        for row, record, carried in rows:

            def found(name: str, space: str) -> Value:
                if (space, name) in carried:  # noqa: B023
                    return carried[space, name]  # noqa: B023
                if space == scope and scope != "record" and name in store:  # noqa: B023
                    return store[name]  # noqa: B023
                return registry.initial(space, name)

            system = {
                (space, (name,)): found(name, space)
                for space in ("pipeline", "source", "record")
                for name in NAMES
            }
            new: dict[str, Value] = {}
            try:
                for name, value in node.assignments.items():
                    here = (
                        [*seen, (record, dict(system))]
                        if scope != "record"
                        else [(record, dict(system))]
                    )
                    new[name] = assigned(node, name, value, record, system, here)
                    system[scope, (name,)] = new[name]
            except Failure as failure:
                rejected.append((row, failure.detail))
                continue
            seen.append((record, dict(system)))
            store |= new
            kept.append((row, record, {**carried, **{(scope, n): v for n, v in new.items()}}))
        rows = kept
    shown = plan.nodes["shown"].row.columns
    told = [
        {
            **{name: record[name] for name in ("i", "f", "n")},
            **{n: carried[s, v] for n in shown if "_" in n for s, v in [n.split("_")]},  # type: ignore[misc]
        }
        for _, record, carried in rows
    ]
    return Told(told, rejected)


def assigned(node, name, value, record, system, seen) -> Value:  # type: ignore[no-untyped-def]
    results: dict = {}  # type: ignore[type-arg]
    for call in aggregate_calls(value):
        columns: list[list[Value]] = [[] for _ in call.args or (None,)]
        for other, theirs in seen:
            frame = Frame(other, Surroundings(theirs))
            args = [compile_expression(arg)(frame) for arg in call.args] or [True]
            for column, each in zip(columns, args, strict=True):
                column.append(each)
        try:
            results[call] = call.function.call(*columns)
        except Failure as failure:
            results[call] = failure
    found = compile_expression(value)(Frame(record, Surroundings(system), results=results))
    return float(found) if name == "c" and isinstance(found, int) else found


# Random assignments


def expression(draw: random.Random, scope: str, name: str) -> str:
    own, other = f"${scope}.{name}", f"${draw.choice(['pipeline', 'record', scope])}.a"
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
    for _ in range(draw.choice([1, 1, 2])):
        scope = draw.choice(["pipeline", "source", "record"])
        names = draw.sample(NAMES, draw.choice([1, 2, 3]))
        yield scope, [(name, expression(draw, scope, name)) for name in names]


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
