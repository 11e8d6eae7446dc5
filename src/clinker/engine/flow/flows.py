"""From the plan to flows: every node's records, each described once for all that read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from clinker.engine.flow.building import Building, as_declared
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import Frame
from clinker.engine.nodes.aggregate import aggregate
from clinker.engine.nodes.combine import combine
from clinker.engine.nodes.merge import merge
from clinker.engine.nodes.output import Written, written
from clinker.engine.nodes.route import branch_flow, route
from clinker.engine.nodes.source import source
from clinker.engine.nodes.state import state
from clinker.engine.nodes.transform import transform
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.rejects.mark import with_rejected
from clinker.engine.settling.keys import membership_sql
from clinker.plan.graph.graph import Edge, Unit
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)


class Flows:
    """The flows of a run. Rejected records travel with the first reader of each node."""

    def __init__(self, building: Building, inputs: Sequence[SourceInput]) -> None:
        self._building = building
        self._inputs = {source.name: source for source in inputs}
        self._flows: dict[str, Flow] = {}
        self.nodes: dict[Frame, str] = {}
        """Which node each frame is the work of."""
        self._live = building.plan.live

    def init_nodes(self) -> list[PlannedState]:
        """The state nodes that work before the run, in the order in which they can."""
        planned = [self._building.plan.nodes[unit.name] for unit in self._building.plan.graph]
        return [node for node in planned if isinstance(node, PlannedState) and node.node.init_phase]

    def is_end(self, name: str) -> bool:
        """Whether nothing reads what leaves a node."""
        return not self._readers(name)

    def outputs(self) -> list[Written]:
        """All outputs, in the order of the pipeline."""
        planned = [self._building.plan.nodes[unit.name] for unit in self._building.plan.graph]
        return [self.output(node) for node in planned if isinstance(node, PlannedOutput)]

    def output(self, planned: PlannedOutput) -> Written:
        """What an output writes, rejected records included."""
        unit = planned.unit
        output = written(self._building, planned, self.read(unit, unit.inputs[0]))
        self._attribute(output.frame, unit.name)
        return output

    def membership(self, flow: Flow) -> str | None:
        """What is told of the groups that the rejected records of a flow belong to."""
        return membership_sql(self._building, flow)

    def of(self, name: str) -> Flow:
        """What leaves a node, rejected records included."""
        if name not in self._flows:
            flow = self._described(self._building.plan.nodes[name])
            if len(self._readers(name)) > 1:
                flow = flow.built()
                if not flow.is_small:
                    flow = replace(flow, frame=flow.frame.remember())
            self._attribute(flow.frame, name)
            self._flows[name] = flow
        return self._flows[name]

    def _attribute(self, frame: Frame, node: str) -> None:
        """What a frame is made of belongs to its node, unless it does to one before."""
        waiting = [frame]
        while waiting:
            step = waiting.pop()
            if step not in self.nodes:
                self.nodes[step] = node
                waiting += step.inputs

    def read(self, reader: Unit, edge: Edge) -> Flow:
        """What a node reads through one of its inputs."""
        flow = self.of(edge.upstream)
        carries = self._readers(edge.upstream)[0] == (reader.name, edge)
        if isinstance(self._building.plan.nodes[edge.upstream], PlannedRoute):
            assert edge.port is not None
            return branch_flow(flow, edge.port, carries_rejects=carries)
        flow = flow if carries else flow.without_rejects()
        return flow if reader.kind == "output" else as_declared(flow)

    def _readers(self, name: str) -> list[tuple[str, Edge]]:
        consumers = self._building.plan.graph.consumers(name)
        return [(unit.name, edge) for unit, edge in consumers if unit.name in self._live]

    def _described(self, planned: Planned) -> Flow:
        unit = planned.unit
        flows = [self.read(unit, edge) for edge in unit.inputs]
        match planned:
            case PlannedSource():
                return source(self._building, planned, self._inputs[unit.name])
            case PlannedTransform():
                return self._transformed(planned, flows[0])
            case PlannedRoute():
                return route(self._building, planned, flows[0])
            case PlannedMerge():
                return merge(planned, flows)
            case PlannedAggregate():
                return aggregate(self._building, planned, flows[0])
            case PlannedCombine():
                by_label = {e.label: flow for e, flow in zip(unit.inputs, flows, strict=True)}
                return combine(self._building, planned, by_label)
            case PlannedState():
                return state(self._building, planned, flows[0])
            case PlannedOutput():
                raise AssertionError(f"nothing reads from the output '{unit.name}'")
        assert_never(planned)

    def _transformed(self, planned: PlannedTransform, flow: Flow) -> Flow:
        window = self._building.plan.windows.get(planned.unit.name)
        if window is None or window.lookup is None:
            return transform(self._building, planned, flow)
        looked_up = as_declared(self.of(window.root))
        result = transform(self._building, planned, flow, looked_up)
        if self._readers(window.root) or self._first_to_look_up(window.root) != planned.name:
            return result
        # Nobody else reads that source, so nobody else reports what it rejects.
        others = [looked_up] if looked_up.has_rejects else []
        return with_rejected(self._building, result, others)

    def _first_to_look_up(self, root: str) -> str:
        windows = self._building.plan.windows.items()
        looking = (n for n, window in windows if window.lookup is not None and window.root == root)
        return next(name for name in looking if name in self._live)
