"""Dead letters: where the rejected records of each source go, and how many are too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from clinker.config import Pipeline
from clinker.config.names import IfExists
from clinker.config.nodes import SourceNode
from clinker.config.template import Template
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.files.paths import Destination, locate, queue_path
from clinker.plan.graph.graph import Graph
from clinker.stores.urls import FilePath


@frozen
class Limit:
    """The share of rejected records that ends a run, once enough have been read to judge."""

    max_rate: float
    min_records: int


@frozen
class DeadLetters:
    """What happens to rejected records."""

    paths: Mapping[str, FilePath | None]
    """The file of each source; None where entries are only logged."""
    common_path: FilePath | None
    """The file of letters that belong to no single source, such as those of groups."""
    limit: Limit | None
    """For all sources together."""
    limits: Mapping[str, Limit]
    """For single sources."""
    if_exists: Mapping[FilePath, IfExists] = field(default_factory=dict)
    """What happens if a file is there, for each of the files."""

    @property
    def files(self) -> Iterator[FilePath]:
        """All files, in the order of their sources; the common one comes last."""
        paths = dict.fromkeys([*self.paths.values(), self.common_path])
        return (path for path in paths if path is not None)


def plan_dead_letters(
    pipeline: Pipeline, graph: Graph, base_dir: Path, channel: str
) -> DeadLetters:
    common = pipeline.error_handling.dlq

    def file(path: Template) -> FilePath:
        return locate(queue_path(path, channel), base_dir)

    paths: dict[str, FilePath | None] = {}
    limits: dict[str, Limit] = {}
    for name in _sources(graph):
        own = common.per_source.get(name)
        path = own.path if own and own.path is not None else common.path
        paths[name] = file(path) if path is not None else None
        if own and own.max_rate is not None:
            least = common.min_records if own.min_records is None else own.min_records
            limits[name] = Limit(own.max_rate, least)
    common_path = file(common.path) if common.path is not None else None
    limit = None if common.max_rate is None else Limit(common.max_rate, common.min_records)
    # Queues of sources that do not say follow the common one.
    if_exists = {
        file(queue.path): queue.if_exists or common.if_exists
        for queue in (common, *common.per_source.values())
        if queue.path is not None
    }
    return DeadLetters(paths, common_path, limit, limits, if_exists)


def check_dead_letters(
    pipeline: Pipeline, graph: Graph, destinations: Sequence[Destination]
) -> list[Diagnostic]:
    """E317 for settings of unknown sources, E070 for queues that share a file."""
    return [*_unknown_sources(pipeline, graph), *_shared_files(destinations)]


def _unknown_sources(pipeline: Pipeline, graph: Graph) -> Iterator[Diagnostic]:
    sources = _sources(graph)
    dlq = pipeline.error_handling.dlq
    for name in dlq.per_source:
        if name in sources:
            continue
        unit = graph.units.get(name)
        known = f"one of: {', '.join(sources)}"
        yield dlq.problem(
            "E317",
            f"'{name}' is not a source",
            "per_source",
            name,
            key=True,
            also=(Label(unit.node.at("name"), f"the {unit.kind} '{name}'"),) if unit else (),
            help=did_you_mean(name, sources) or known,
        )


def _shared_files(destinations: Sequence[Destination]) -> Iterator[Diagnostic]:
    first: dict[str, Destination] = {}
    for queue in destinations:
        if queue.unit is not None:
            continue
        earlier = first.setdefault(queue.identity, queue)
        if earlier is not queue:
            yield Diagnostic(
                "E070",
                f"{queue.what} has the same path as {earlier.what}",
                Label(queue.place),
                (Label(earlier.place, f"the path of {earlier.what}"),),
                help="give it a path of its own, or remove it to share the common queue",
            )


def _sources(graph: Graph) -> list[str]:
    return [unit.name for unit, _ in graph.of(SourceNode)]
