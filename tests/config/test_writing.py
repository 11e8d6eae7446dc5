"""Values written as YAML are read as what they were."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clinker.config.interpolate import verbatim
from clinker.config.tree import Node, ScalarNode, SequenceNode
from clinker.config.writing import flow
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        _TEXTS,
        st.sampled_from(["yes", "null", "1", "1e5", "- a", "a: b", "#", "'", "2024-01-31", "~"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)


@given(_VALUES)
def test_a_value_is_read_as_what_it_was(value: Any) -> None:
    root, problems = parse_yaml(verbatim(Source("p", f"value: {flow(value)}\n")))
    assert root is not None, problems
    read = _data(root)["value"]
    assert (read, type(read)) == (value, type(value))


def _data(node: Node) -> Any:
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [_data(item) for item in node.items]
    return {key: _data(entry.value) for key, entry in node.entries.items()}
