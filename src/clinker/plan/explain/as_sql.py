"""The Spark SQL of a plan, for as far as there is any."""

from __future__ import annotations

from clinker.plan.explain.facts import Facts


def as_sql(facts: Facts) -> str:
    return "".join(
        f"-- Node {node.index}: {node.name} ({node.title}): "
        "Spark SQL is produced when pipelines run, which this version does not do\n"
        for node in facts.nodes
    )
