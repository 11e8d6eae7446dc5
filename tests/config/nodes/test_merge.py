"""What may be written for a merge, and what is said about mistakes."""

from __future__ import annotations

import pytest

from clinker.config.nodes import MergeNode
from clinker.config.reference import Ref
from tests.config.loading import accepted, brief, load_config, load_node


def test_merge_settings() -> None:
    (merge,) = accepted(load_node("- { type: merge, name: m, inputs: [a, r.low] }")).nodes
    assert isinstance(merge, MergeNode)
    assert merge.inputs == (Ref("a"), Ref("r", "low"))
    assert merge.config.mode == "concat"
    assert list(merge.references)[1] == (Ref("r", "low"), ("inputs", 1))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("mode: conkat", ["E007 7:13 unknown mode 'conkat'"]),
        ("interleave_seed: 4", ["W013 7:7 'interleave_seed' has no effect with 'mode: concat'"]),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("merge", config).diagnostics) == expected
