"""Storage facts: what a run may spill, where to, and which source files it copies first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from clinker.config.nodes import SourceNode
from clinker.plan.compile import Plan
from clinker.plan.explain.operators import Operator
from clinker.plan.explain.volumes import Volume
from clinker.plan.files.discovery import Discovery, SourceFile
from clinker.plan.files.storage import HEADROOM, is_staged
from clinker.plan.graph.graph import Unit
from clinker.staged_copies import StagedCopy


@dataclass(frozen=True)
class SpillingNode:
    """A node that may write what it holds to disk."""

    node: str
    label: str
    noun: str
    estimate: int | None
    compressed: bool


@dataclass(frozen=True)
class Headroom:
    """What is left of the spill cap if the estimate is right."""

    cap: int
    estimate: int

    @property
    def left(self) -> int:
        return self.cap - self.estimate

    @property
    def percent(self) -> float | None:
        """How much of the cap the estimate takes; None of a cap of nothing."""
        return self.estimate * 100 / self.cap if self.cap else None

    @property
    def is_tight(self) -> bool:
        return self.estimate >= self.cap * HEADROOM


@dataclass(frozen=True)
class StagedFile:
    """A file of a source, and the copy that is read in its place if there is one."""

    file: str
    copy: str | None
    reuse: str | None
    """Whether the copy of an earlier run may be read, `hit` or `miss`; None if none would be."""


@dataclass(frozen=True)
class StagedSource:
    source: str
    is_network: bool
    files: tuple[StagedFile, ...]


@dataclass(frozen=True)
class StorageFacts:
    spill_dir: str
    spill_dir_origin: str
    """Who has chosen it."""
    disk_cap: int | None
    compress: str
    compress_is_default: bool
    spilling: tuple[SpillingNode, ...]
    staging: tuple[StagedSource, ...] | None
    """None unless staging is enabled."""

    @property
    def total_known(self) -> int:
        return sum(node.estimate or 0 for node in self.spilling)

    @property
    def any_unknown(self) -> bool:
        return any(node.estimate is None for node in self.spilling)

    @property
    def headroom(self) -> Headroom | None:
        if self.disk_cap is None or not self.total_known:
            return None
        return Headroom(self.disk_cap, self.total_known)


def describe_storage(
    plan: Plan,
    operators: Mapping[str, Operator],
    estimates: Mapping[str, Volume],
    labels: Mapping[str, str],
    files: Mapping[str, Discovery],
) -> StorageFacts:
    spill = plan.storage.spill
    spilling = [unit for unit in plan.graph if operators[unit.name].spills]
    return StorageFacts(
        spill_dir=str(plan.storage.spill_dir),
        spill_dir_origin="storage.spill.dir" if spill.dir else "OS temp dir (default)",
        disk_cap=spill.disk_cap_bytes,
        compress=spill.compress,
        compress_is_default=not spill.has("compress"),
        spilling=tuple(
            SpillingNode(
                unit.name,
                labels[unit.name],
                operators[unit.name].noun,
                # A source without a single byte leaves nothing to preview.
                estimates[unit.name].peak or None,
                plan.storage.compresses(_width(plan, unit), plan.pipeline.pipeline.batch_size),
            )
            for unit in spilling
        ),
        staging=tuple(_staging(plan, files)) if plan.storage.staging_dir else None,
    )


def _width(plan: Plan, unit: Unit) -> int:
    keys = plan.correlation.visible[unit.name].columns
    return len(plan.nodes[unit.name].row.columns) + len(keys)


def _staging(plan: Plan, files: Mapping[str, Discovery]) -> Iterator[StagedSource]:
    for unit, _ in plan.graph.of(SourceNode):
        discovery = files.get(unit.name)
        staged = _staged(plan, discovery.files) if discovery else ()
        yield StagedSource(unit.name, discovery is None, tuple(staged))


def _staged(plan: Plan, files: Iterable[SourceFile]) -> Iterator[StagedFile]:
    staging = plan.storage.staging
    for file in files:
        path, directory = file.path, plan.storage.staging_dir
        if directory is None or not is_staged(plan.storage, path, plan.options.base_dir):
            yield StagedFile(file.name, None, None)
            continue
        copy = StagedCopy.of(directory, path)
        reuse = None
        if staging.on_existing == "reuse":
            reuse = "hit" if copy.is_fresh(path) else "miss"
        yield StagedFile(file.name, str(copy.path), reuse)
