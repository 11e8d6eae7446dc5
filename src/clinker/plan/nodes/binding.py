"""Binding: every node's CXL checked against its real input, every node's outgoing row computed."""

from __future__ import annotations

from collections.abc import Mapping

from clinker.config.pipeline import Settings
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.types import INT, STRING, Type
from clinker.diagnostics import Diagnostic
from clinker.frozen import frozen
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import BINDINGS, Planned
from clinker.plan.nodes.binder import Binder
from clinker.plan.variables import Registry

PROVENANCE: Mapping[str, Type] = {"source_name": STRING, "source_file": STRING, "source_row": INT}
"""The metadata that says where a record was read."""


@frozen
class Bound:
    """All nodes, those with errors as far as they could be bound, and what is wrong with them."""

    nodes: Mapping[str, Planned]
    binder: Binder
    """What the CXL of each of them may name."""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self.binder.diagnostics


def bind(graph: Graph, registry: Registry, modules: ModuleLibrary, settings: Settings) -> Bound:
    """Bind all units."""
    provenance = PROVENANCE if settings.include_provenance else {}
    binder = Binder(registry, modules, provenance, settings.date_names)
    nodes: dict[str, Planned] = {}
    for unit in graph:
        binder.enter(unit)
        nodes[unit.name] = BINDINGS[unit.kind](binder, unit, unit.node)
        binder.nodes[unit.name] = nodes[unit.name]
    return Bound(nodes, binder)
