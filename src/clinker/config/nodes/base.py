"""What every node of a pipeline has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.reference import NodeRef, Ref
from clinker.config.variables import Declaration
from clinker.diagnostics import Diagnostic, Location


class NodeBase(Model):
    """The header of a node, and what the graph asks of every kind."""

    goes_on_without_inputs: ClassVar[bool] = False
    """Whether the node works on when some of its inputs, but not all, are not connected."""

    name: Name = Field(description="the node's name, unique in the pipeline")
    description: str | None = Field(
        default=None, description="what the node is for; ignored by the engine"
    )
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

    def label(self, ref: Ref, path: tuple[str | int, ...]) -> str:
        """What the node calls one of its `references`; empty where an input needs no name."""
        return ""

    @property
    def driver(self) -> str | None:
        """The label of the one input whose records leave; None where those of all inputs do."""
        return None

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports that records leave by; none where they leave all together."""
        return ()

    @property
    def picks_one_port(self) -> bool:
        """Whether each record leaves by one port only."""
        return True

    @property
    def init_phase(self) -> Location | None:
        """Where the node says that it works before the run, if it does."""
        return None

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The variables that the node declares."""
        return ()


class SingleInputNode(NodeBase):
    """A node that reads from one other."""

    input: NodeRef = Field(description="the node to read from")

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        yield self.input, ("input",)
