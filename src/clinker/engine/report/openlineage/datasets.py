"""What sources and outputs are called: always the same, from run to run.

A source of many files is one dataset, named by its pattern; so is an output whose path has tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from clinker.config.nodes import OutputNode, SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.engine.report.notation import absolute
from clinker.engine.session.secrets import shown_address
from clinker.plan.compile import Plan
from clinker.plan.files.paths import locate
from clinker.stores.urls import FilePath, ObjectUrl

_FILES = "file"


class Dataset(NamedTuple):
    namespace: str
    name: str


def source_datasets(plan: Plan) -> Mapping[str, tuple[Dataset, ...]]:
    """By source, what it reads; several datasets only where several files are listed."""
    return {unit.name: tuple(_read(plan, node.config)) for unit, node in plan.graph.of(SourceNode)}


def output_datasets(plan: Plan) -> Mapping[str, Dataset]:
    """By output, what it writes."""
    return {
        unit.name: _file(plan, node.config.path.text) for unit, node in plan.graph.of(OutputNode)
    }


def dead_letter_datasets(plan: Plan) -> list[Dataset]:
    return [_dataset(path) for path in plan.dead_letters.files]


def _read(plan: Plan, config: SourceConfig) -> Iterator[Dataset]:
    if isinstance(config.transport, RestTransport):
        address = urlsplit(shown_address(config.transport.url))
        yield Dataset(f"{address.scheme}://{address.netloc}", address.path or "/")
        return
    patterns = config.paths or filter(None, (config.path, config.glob, config.regex))
    yield from (_file(plan, pattern) for pattern in patterns)


def _file(plan: Plan, path: str) -> Dataset:
    return _dataset(locate(path, plan.options.base_dir))


def _dataset(path: FilePath) -> Dataset:
    if isinstance(path, ObjectUrl):
        return Dataset(path.store, path.key)
    return Dataset(_FILES, absolute(path))
