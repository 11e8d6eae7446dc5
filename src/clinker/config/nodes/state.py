"""State nodes: the only writers of scoped variables."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name, Phase, Scope
from clinker.config.nodes.base import SingleInputNode
from clinker.diagnostics import Location


class Assignment(Model):
    var: Name = Field(description="the variable to write")
    cxl: str = Field(min_length=1, description="the CXL expression of its value")


class StateConfig(Model):
    scope: Scope = Field(description="pipeline, source or record")
    set: tuple[Assignment, ...] = Field(min_length=1, description="the assignments")
    phase: Phase = Field(
        default="runtime", description="before the run (init), or while records pass"
    )


class StateNode(SingleInputNode):
    """Passes records on and writes variables."""

    type: Literal["state"]
    config: StateConfig = Field(description="what to write")

    @property
    def init_phase(self) -> Location | None:
        return self.config.at("phase") if self.config.phase == "init" else None
