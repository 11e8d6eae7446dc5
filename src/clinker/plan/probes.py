"""Plans that only look: what leaves chosen nodes goes to outputs that nobody writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from clinker.config import load_pipeline
from clinker.config.nodes import OutputNode
from clinker.config.template import parse_path_template
from clinker.frozen import frozen
from clinker.plan.compile import Plan, with_graph
from clinker.plan.graph.graph import Edge, Graph, Unit
from clinker.plan.nodes import PlannedOutput, PlannedRoute, PlannedState

_TEMPLATE = b"""\
pipeline: { name: probe }
nodes:
  - { type: source, name: source, config: { type: json, path: any, schema: { any: any } } }
  - type: output
    name: probe
    input: source
    config:
      type: json
      path: probe.ndjson
      options: { format: ndjson }
      include_metadata: all
      preserve_nulls: true
"""
_KEPT_OF_OUTPUTS = (
    "include_unmapped",
    "mapping",
    "exclude",
    "include_correlation_keys",
    "include_metadata",
    "sort_order",
    "correlation_fanout_policy",
)


@frozen
class Outlet:
    """Where records can be looked at: what leaves a node, or one of its ports."""

    node: str
    port: str | None = None


def list_outlets(plan: Plan) -> dict[str, Outlet]:
    """What a node could read from, as it would write it: all nodes and their ports."""
    outlets: dict[str, Outlet] = {}
    for name, planned in plan.nodes.items():
        outlets[name] = Outlet(name)
        outlets |= {f"{name}.{port}": Outlet(name, port) for port in planned.node.ports}
    for call in plan.graph.calls.values():
        name = f"{call.outer.prefix}{call.node.name}"
        ports = {port: Outlet(edge.upstream, edge.port) for port, edge in call.outputs.items()}
        outlets |= {name: next(iter(ports.values()))} if ports else {}
        outlets |= {f"{name}.{port}": behind for port, behind in ports.items()}
    return outlets


def list_ends(plan: Plan) -> list[str]:
    """The outlets that nothing reads from: outputs, and nodes that lead nowhere yet."""
    read = {(edge.upstream, edge.port) for unit in plan.graph for edge in unit.inputs}
    ends: list[str] = []
    for name, planned in plan.nodes.items():
        if isinstance(planned, PlannedRoute):
            ends += (f"{name}.{port}" for port in planned.node.ports if (name, port) not in read)
        elif not any(upstream == name for upstream, _ in read):
            ends.append(name)
    return ends


def looking_at(plan: Plan, outlets: Mapping[str, Outlet]) -> Plan:
    """A plan of only what these outlets need, with an output for each, named by `probe_name`.

    Records that fail are rejected, however many they are; nothing else happens to them.
    """
    graph = plan.graph
    probes = _probes(plan, outlets)
    needed = _needed(plan, [edge.upstream for unit in probes.values() for edge in unit.inputs])
    units = {
        name: unit
        for name, unit in graph.units.items()
        if name in needed and not isinstance(unit.node, OutputNode)
    }
    lenient = plan.pipeline.error_handling.model_copy(
        update={"strategy": "continue", "type_error_threshold": None}
    )
    pipeline = plan.pipeline.model_copy(update={"error_handling": lenient})
    limits = replace(plan.dead_letters, limits={}, limit=None)
    plan = replace(plan, pipeline=pipeline, dead_letters=limits)
    return with_graph(plan, Graph(units | probes, graph.calls))


def also_looking_at(plan: Plan, outlets: Mapping[str, Outlet]) -> Plan:
    """The plan with an output more for each of these outlets, named by `probe_name`."""
    units = {**plan.graph.units, **_probes(plan, outlets)}
    return with_graph(plan, Graph(units, plan.graph.calls))


def probe_name(outlet: str) -> str:
    """The name of the output that stands for an outlet; nothing else has a dot in its name."""
    return f"{outlet}.?"


def _probes(plan: Plan, outlets: Mapping[str, Outlet]) -> dict[str, Unit]:
    names = {probe_name(name): outlet for name, outlet in outlets.items()}
    return {
        name: _probe(plan, name, outlet, number)
        for number, (name, outlet) in enumerate(names.items())
    }


def _probe(plan: Plan, name: str, outlet: Outlet, number: int) -> Unit:
    unit = plan.graph.units[outlet.node]
    edge = Edge("", outlet.node, outlet.port, unit.node.location)
    # No two outputs may have one path, though nothing is written there.
    changed: dict[str, object] = {"path": parse_path_template(f"probe-{number}.ndjson")}
    planned = plan.nodes[outlet.node]
    if isinstance(planned, PlannedOutput):
        edge = unit.inputs[0]
        changed |= {key: getattr(planned.node.config, key) for key in _KEPT_OF_OUTPUTS}
    template = _template()
    config = template.config.model_copy(update=changed)
    node = template.model_copy(update={"name": name, "config": config})
    return Unit(name, node, (edge,), unit.scope)


@cache
def _template() -> OutputNode:
    pipeline = load_pipeline(_TEMPLATE, {}).value
    assert pipeline
    node = pipeline.nodes[-1]
    assert isinstance(node, OutputNode)
    return node


def _needed(plan: Plan, names: Sequence[str]) -> set[str]:
    """Some nodes and all that they depend on: what they read, look up, and find in variables."""
    writers = [name for name, node in plan.nodes.items() if isinstance(node, PlannedState)]
    needed: set[str] = set()
    todo = [*names, *writers]
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        todo += (edge.upstream for edge in plan.graph.units[name].inputs)
        if window := plan.windows.get(name):
            todo.append(window.root)
    return needed
