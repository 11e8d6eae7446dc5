"""What every node of a pipeline has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.reference import NodeRef, Ref
from clinker.diagnostics import Diagnostic


class NodeBase(Model):
    """The header of a node."""

    name: Name = Field(description="the node's name, unique in the pipeline")
    description: str | None = None
    notes: Any = Field(default=None, alias="_notes", description="ignored by the engine")

    def check(self) -> Iterator[Diagnostic]:
        if "." in self.name:
            yield self.problem(
                "E010",
                f"node name '{self.name}' contains a '.'",
                "name",
                help="the dot separates a node from its port; use '_'",
            )

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        """Every reference to another node, and where `at` finds it."""
        yield from ()


class SingleInputNode(NodeBase):
    """A node that reads from one other."""

    input: NodeRef = Field(description="the node to read from")

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        yield self.input, ("input",)
