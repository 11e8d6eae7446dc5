"""Volumes: how many bytes nodes may hold, estimated from the sizes of the input files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clinker.plan.compile import Plan
from clinker.plan.explain.operators import Operator
from clinker.plan.files.discovery import Discovery
from clinker.plan.nodes import Planned, Shape


@dataclass(frozen=True)
class Volume:
    """What a node may hold; None where the size of an input is not known."""

    peak: int | None
    """The bytes that pass through it, which is what it holds if it holds all its records."""
    freed: int
    """What it gives back when it is done."""
    subtree_reclaim: int
    """The most that it or a node that depends on it alone gives back."""


def estimate_volumes(
    plan: Plan, operators: Mapping[str, Operator], files: Mapping[str, Discovery]
) -> dict[str, Volume]:
    peaks: dict[str, int | None] = {}
    for name, planned in plan.nodes.items():
        peaks[name] = _peak(planned, files, peaks)
    freed = {
        name: (peak or 0) if operators[name].holds_records else 0 for name, peak in peaks.items()
    }
    reclaim: dict[str, int] = {}
    for unit in reversed(list(plan.graph)):
        # Where chains meet, what is freed after it belongs to none of them.
        alone = [
            reclaim[consumer.name]
            for consumer, _ in plan.graph.consumers(unit.name)
            if len(consumer.inputs) == 1
        ]
        reclaim[unit.name] = max([freed[unit.name], *alone])
    return {name: Volume(peaks[name], freed[name], reclaim[name]) for name in peaks}


def _peak(
    planned: Planned, files: Mapping[str, Discovery], peaks: Mapping[str, int | None]
) -> int | None:
    if planned.shape is Shape.READS:
        return _size(files[planned.name]) if planned.name in files else None
    known = [peaks[edge.upstream] for edge in planned.unit.inputs]
    sizes = [size for size in known if size is not None]
    return sum(sizes) if len(sizes) == len(known) else None


def _size(discovery: Discovery) -> int | None:
    """The bytes a run reads; not known where there is no file or one is missing."""
    if discovery.missing or discovery.outside or not discovery.files:
        return None
    return sum(file.size for file in discovery.files)
