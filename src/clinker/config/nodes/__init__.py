"""The nodes of a pipeline, one module per kind: what a user may write for it.

A kind is named in the unions, by which the type checker knows whether a `match` is complete, and in
the table of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import Field

from clinker.config.nodes.aggregate import AggregateNode
from clinker.config.nodes.base import NodeBase
from clinker.config.nodes.combine import CombineNode
from clinker.config.nodes.composition import CompositionNode
from clinker.config.nodes.merge import MergeNode
from clinker.config.nodes.output import OutputNode
from clinker.config.nodes.route import RouteNode
from clinker.config.nodes.source import SourceNode
from clinker.config.nodes.state import StateNode
from clinker.config.nodes.transform import TransformNode

GraphNode: TypeAlias = (
    SourceNode
    | TransformNode
    | AggregateNode
    | RouteNode
    | MergeNode
    | CombineNode
    | OutputNode
    | StateNode
)
"""The nodes that records pass: all but calls of compositions, in whose place their bodies stand."""

PipelineNode: TypeAlias = Annotated[
    SourceNode
    | TransformNode
    | AggregateNode
    | RouteNode
    | MergeNode
    | CombineNode
    | OutputNode
    | CompositionNode
    | StateNode,
    Field(discriminator="type"),
]
"""What may be written under `nodes`; where a type is unknown, messages list them in this order."""

NODE_MODELS: Mapping[str, type[NodeBase]] = {
    "source": SourceNode,
    "transform": TransformNode,
    "aggregate": AggregateNode,
    "route": RouteNode,
    "merge": MergeNode,
    "combine": CombineNode,
    "output": OutputNode,
    "composition": CompositionNode,
    "state": StateNode,
}

__all__ = [
    "NODE_MODELS",
    "AggregateNode",
    "CombineNode",
    "CompositionNode",
    "GraphNode",
    "MergeNode",
    "NodeBase",
    "OutputNode",
    "PipelineNode",
    "RouteNode",
    "SourceNode",
    "StateNode",
    "TransformNode",
]
