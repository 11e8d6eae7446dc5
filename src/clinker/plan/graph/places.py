"""Places: the pipeline and the bodies of its calls, each reached from the one around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from clinker.config.nodes import PipelineNode
from clinker.config.reference import Ref
from clinker.frozen import frozen
from clinker.plan.graph.compositions import Body, Called
from clinker.plan.graph.graph import CallScope

# No node has a name with a dot.
UNKNOWN = "."
"""Upstream of an input that names no node: nothing is ever bound under it."""

UNCONNECTED = ".."
"""Upstream of an input that reads from an optional port to which no node is connected."""


@frozen(eq=False)
class Place:
    """A body, and how it is reached from the one around it."""

    body: Body
    nodes: Mapping[str, PipelineNode]
    call: Called | None = None
    outer: Place | None = None
    inner: dict[str, Place] = field(default_factory=dict)

    @property
    def scope(self) -> CallScope:
        return self.body.scope

    @property
    def ports(self) -> Sequence[str]:
        return tuple(self.call.signature.inputs) if self.call else ()

    @property
    def exits(self) -> Sequence[str]:
        return tuple(self.call.signature.outputs) if self.call else ()

    def behind(self, port: str) -> Ref:
        """What an output port delivers."""
        assert self.call is not None
        declared = self.call.signature.outputs[port]
        return declared.ref or Ref(self.body.nodes[-1].name)
