"""A plan as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.plan.explain.facts import Facts, NodeFacts
from clinker.plan.explain.handoffs import Crossing, HandOff


def as_dot(facts: Facts) -> str:
    return "\n".join(_lines(facts)) + "\n"


def _lines(facts: Facts) -> Iterator[str]:
    yield f"digraph {_quoted(facts.pipeline)} {{"
    yield "    rankdir=LR;"
    yield "    node [shape=box];"
    for node in facts.nodes:
        yield f"    {node.index} [label={_quoted(*_label(node))}];"
    index = {node.name: node.index for node in facts.nodes}
    for node in facts.nodes:
        for out in node.hand_offs:
            yield f"    {node.index} -> {index[out.consumer]}{_attributes(out)};"
    yield "}"


def _label(node: NodeFacts) -> tuple[str, str, str]:
    return node.name, node.title, f"parallel: {node.operator.parallelism}"


def _attributes(out: HandOff) -> str:
    label = "window" if out.is_lookup else out.port or out.qualifier
    attributes = [f"label={_quoted(label)}"] if label else []
    if out.crossing is not Crossing.PIPELINED:
        attributes.append("style=dashed")
    return f" [{', '.join(attributes)}]" if attributes else ""


def _quoted(*lines: str) -> str:
    """A string of one or more lines; names may hold any character."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    text = "\\n".join(line.replace("\r", " ").replace("\n", " ") for line in escaped)
    return f'"{text}"'
