"""What a caller decides about a run, besides what the pipeline file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from clinker.frozen import frozen
from clinker.plain_files import read_plain
from clinker.stores.access import read_object
from clinker.stores.urls import ObjectUrl


@frozen
class Preview:
    """A run that writes nothing: what it would have written is in its report."""

    records: int | None = None
    """How many records of each source are read; None for all."""
    output: Path | None = None
    lists_rejected: bool = False
    """Whether rejected records are in the report, not in the log."""
    as_tables: bool = False
    """Whether the report has tables of records, not what files of them would hold."""


@frozen
class GivenFile:
    """A file that is read in place of those that a source names."""

    path: Path
    name: str
    """What people call it."""
    is_packed: bool = False
    """Whether it is compressed as the source says, or as its name does."""
    format: str | None = None
    """The module of the format it is in; None for that of the source."""


@frozen
class Options:
    """Options of a compilation and of the run that may follow; None leaves it to the file."""

    base_dir: Path
    """Where relative paths start."""
    workspace: Path | None = None
    """The highest directory that relative paths may reach, if that is not the base directory."""
    channel: Path | None = None
    """The file of a channel, or what it is called in the directory of channels."""
    channels: Path | None = None
    """The directory of channels that the workspace has."""
    rules_path: Path | None = None
    allow_absolute_paths: bool = False
    objects: tuple[str, ...] = ()
    """What the workspace allows of object stores: the beginnings of URLs."""
    memory_limit: int | None = None
    threads: int | None = None
    error_threshold: int = 0
    batch_id: str | None = None
    preview: Preview | None = None
    force: bool = False
    count_nodes: bool = False
    """Whether records between nodes are counted where their number does not follow."""
    wait: float | None = None
    """For how many seconds to wait for other runs that write the same files."""
    given: Mapping[str, GivenFile] = field(default_factory=dict)
    """Files in place of those that sources name, by the sources."""
    metrics_spool_dir: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    """The environment, from which `${NAME}` in the file is replaced."""
    read: Callable[[Path], bytes] = read_plain
    """How the files that a pipeline refers to are read: an editor has some that are not saved."""
    read_object: Callable[[ObjectUrl], bytes] = read_object

    @property
    def root(self) -> Path:
        """The directory below which the files of a pipeline are."""
        return self.workspace or self.base_dir
