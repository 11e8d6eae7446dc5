"""The Spark SQL of a plan, node by node."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.plan.explain.facts import Facts, NodeFacts


def as_sql(facts: Facts) -> str:
    return "\n".join(line for node in facts.nodes for line in _node(node)) + "\n"


def _node(node: NodeFacts) -> Iterator[str]:
    yield f"-- Node {node.index}: {node.name} ({node.title})"
    if node.sql is None:
        yield "-- no expressions"
    else:
        yield from (f"-- in the interpreter: {text}" for text in node.sql.interpreted)
        yield from (f"WITH {text}" for text in node.sql.shared)
        yield from node.sql.lines
    yield ""
