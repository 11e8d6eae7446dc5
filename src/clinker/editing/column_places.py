"""Where in the settings of nodes columns are named."""

from __future__ import annotations

from collections.abc import Mapping

from clinker.editing.yaml_places import ANY

OWN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "source": (
        ("schema", ANY, "name"),
        ("correlation_key", ANY),
        ("watermark", "column"),
        ("sort_order", ANY, "field"),
        ("array_paths", ANY, "path"),
        ("schema_overrides", ANY, "name"),
        ("format_schema", "inline", "fields", ANY, "name"),
        ("format_schema", "inline", "records", ANY, "fields", ANY, "name"),
    ),
    "transform": (
        ("validations", ANY, "field"),
        ("log", ANY, "fields", ANY),
    ),
}
"""By kind of node, the places in its settings that name columns of what leaves it."""

READ: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "transform": (
        ("analytic_window", "group_by", ANY),
        ("analytic_window", "sort_by", ANY, "field"),
        ("analytic_window", "on"),
    ),
    "aggregate": (("group_by", ANY),),
    "combine": (("propagate_ck", "named", ANY),),
    "output": (
        ("mapping", ANY),
        ("exclude", ANY),
        ("sort_order", ANY, "field"),
        ("split", "group_key"),
    ),
}
"""By kind of node, the places in its settings that name columns of what reaches it."""


def column_places(kind: str) -> tuple[tuple[str, ...], ...]:
    """The places in the settings of a kind of node that name columns."""
    return (*OWN.get(kind, ()), *READ.get(kind, ()))
