"""Files that keep a run from writing its outputs, as far as their names are known before it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from clinker.config.nodes import OutputNode
from clinker.plan.compile import Plan
from clinker.plan.files.paths import known_values, locate, render, split_name
from clinker.stores.access import find_if_any
from clinker.stores.urls import FilePath, ObjectUrl


def existing_files(plan: Plan) -> Iterator[FilePath]:
    """The outputs and dead-letter files that are there already, and may not be overwritten."""
    if plan.options.force:
        return
    for unit, node in plan.graph.of(OutputNode):
        config = node.config
        rendered = render(config.path, known_values(plan.graph, unit, plan.options, plan.channel))
        path = locate(rendered, plan.options.base_dir)
        if config.split and config.split.has_limit:
            path = path.parent / split_name(config.split.naming, rendered, 1)
        if config.if_exists == "error" and _exists(path):
            yield path
    for path in plan.dead_letters.files:
        if plan.dead_letters.if_exists[path] == "error" and _exists(path):
            yield path


def _exists(path: FilePath) -> bool:
    if isinstance(path, ObjectUrl):
        return find_if_any(path) is not None
    return os.path.lexists(path)
