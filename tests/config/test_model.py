"""What all models have in common."""

from __future__ import annotations

import pytest

from clinker.config.nodes import SourceNode
from tests.config.loading import CSV, accepted, load_config


def test_models_are_frozen_and_know_their_place() -> None:
    (node,) = accepted(load_config("source", CSV)).nodes
    assert isinstance(node, SourceNode)
    with pytest.raises(ValueError, match="frozen"):
        node.name = "other"
    assert node.location.start == (3, 5)
    assert node.at("name").start == (4, 11)
    assert node.key_at("name").start == (4, 5)
    assert node.config.at("columns", 0, "type").start == (9, 21)
    # What was left out is located by what it was left out of.
    assert node.config.options.at("delimiter").start == (7, 7)
    assert node.config.at("glob").start == (7, 7)
