"""Calls of compositions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from clinker.config.names import Name
from clinker.config.nodes.base import NodeBase
from clinker.config.reference import NodeRef, Ref
from clinker.diagnostics import Diagnostic


class CompositionNode(NodeBase):
    """Uses a composition."""

    type: Literal["composition"]
    use: Name = Field(description="the .comp.yaml file")
    input: NodeRef | None = Field(
        default=None, description="the node that feeds the first input port"
    )
    inputs: dict[str, NodeRef] = Field(default_factory=dict, description="input ports by name")
    outputs: dict[str, Name] = Field(
        default_factory=dict, description="output ports and the nodes that read them"
    )
    config: dict[str, Any] = Field(default_factory=dict, description="values of its parameters")
    resources: dict[str, Any] = Field(
        default_factory=dict, description="the files that the composition asks for"
    )
    alias: Name | None = Field(
        default=None, description="what its nodes are named after, instead of this node's name"
    )

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        if self.input is not None:
            yield self.input, ("input",)
        for port, ref in self.inputs.items():
            yield ref, ("inputs", port)

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if self.input is None and not self.inputs:
            yield self.problem(
                "E006", "missing key 'input'", help="add 'input', or 'inputs' with a node per port"
            )
