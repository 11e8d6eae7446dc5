"""Merges: several streams of the same shape, one after another or interleaved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Natural
from clinker.config.nodes.base import NodeBase
from clinker.config.reference import NodeRef, Ref
from clinker.diagnostics import Diagnostic


class MergeConfig(Model):
    mode: Literal["concat", "interleave"] = Field(
        default="concat", description="one input after the other, or mixed"
    )
    interleave_seed: Natural | None = Field(
        default=None, description="a number that makes the mixture the same in every run"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.interleave_seed is not None and self.mode != "interleave":
            yield self.problem(
                "W013",
                "'interleave_seed' has no effect with 'mode: concat'",
                "interleave_seed",
                key=True,
                help="remove it, or use 'mode: interleave'",
                warning=True,
            )


class MergeNode(NodeBase):
    """Concatenates streams that share a schema."""

    goes_on_without_inputs: ClassVar[bool] = True

    type: Literal["merge"]
    inputs: tuple[NodeRef, ...] = Field(min_length=1, description="the nodes to read from")
    config: MergeConfig = Field(
        default_factory=MergeConfig.model_construct, description="how streams are put together"
    )

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        for index, ref in enumerate(self.inputs):
            yield ref, ("inputs", index)

    def label(self, ref: Ref, path: tuple[str | int, ...]) -> str:
        return ref.node
