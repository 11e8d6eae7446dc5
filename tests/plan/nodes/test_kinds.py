"""Every kind of node is known to every layer."""

from __future__ import annotations

import importlib.util
from typing import Any, get_args, get_origin

import pytest

from clinker.config.nodes import NODE_MODELS, GraphNode, PipelineNode
from clinker.plan.nodes import BINDINGS, Planned, PlannedNode, Shape

EXPANDED = {"composition"}
"""In place of a call, graphs have the nodes of the composition's body."""


def kind_of(model: Any) -> str:
    (kind,) = get_args(model.model_fields["type"].annotation)
    return str(kind)


def planned_class(kind: str) -> type[PlannedNode[Any]]:
    (found,) = (cls for cls in get_args(Planned) if cls.__name__ == f"Planned{kind.capitalize()}")
    return found  # type: ignore[no-any-return]


def test_the_models_of_nodes_are_those_that_may_be_written() -> None:
    union, _ = get_args(PipelineNode)
    assert {kind_of(model): model for model in get_args(union)} == dict(NODE_MODELS)
    assert set(get_args(GraphNode)) == {NODE_MODELS[k] for k in NODE_MODELS.keys() - EXPANDED}


def test_every_kind_that_may_be_written_can_be_planned() -> None:
    assert set(BINDINGS) == NODE_MODELS.keys() - EXPANDED
    assert len(get_args(Planned)) == len(BINDINGS)


@pytest.mark.parametrize("kind", BINDINGS)
def test_a_kind_has_one_module_in_each_layer(kind: str) -> None:
    planned = planned_class(kind)
    assert NODE_MODELS[kind].__module__ == f"clinker.config.nodes.{kind}"
    assert planned.__module__ == BINDINGS[kind].__module__ == f"clinker.plan.nodes.{kind}"
    assert importlib.util.find_spec(f"clinker.engine.nodes.{kind}") is not None


@pytest.mark.parametrize("kind", BINDINGS)
def test_a_planned_node_is_typed_by_what_the_user_wrote(kind: str) -> None:
    (base,) = (b for b in vars(planned_class(kind))["__orig_bases__"] if get_origin(b))
    assert get_origin(base) is PlannedNode
    assert get_args(base) == (NODE_MODELS[kind],)


def test_every_kind_has_a_shape_and_every_shape_a_kind() -> None:
    assert {planned_class(kind).shape for kind in BINDINGS} == set(Shape)
