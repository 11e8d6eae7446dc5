"""A directory to stage sources in, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from clinker.formats.files.staging import Rules, Staging
from clinker.stores.urls import FilePath


@dataclass
class Events:
    """Remembers what happens to sources, and does something when it does."""

    seen: list[str] = field(default_factory=list)
    then: dict[str, Callable[[], object]] = field(default_factory=dict)
    bytes: int = 0
    """How many were copied and verified."""

    def _note(self, event: str) -> None:
        self.seen.append(event)
        self.then.get(event, lambda: None)()

    def purged(self, files: int) -> None:
        self._note(f"purged {files}")

    def waiting(self, source: FilePath) -> None:
        self._note("waiting")

    def copying(self, source: FilePath, size: int) -> None:
        self._note("copying")

    def verifying(self, source: FilePath, size: int) -> None:
        self._note("verifying")

    def advanced(self, size: int) -> None:
        self.bytes += size

    def copied(self, source: FilePath, size: int) -> None:
        self._note(f"copied {size}")

    def reused(self, source: FilePath) -> None:
        self._note("reused")


@dataclass
class Run:
    """A run that stages sources, until it ends."""

    directory: Path
    rules: Rules = field(default_factory=Rules)
    events: Events = field(default_factory=Events)

    def __post_init__(self) -> None:
        self.staging = Staging(self.directory, self.rules, self.events)

    def hold(self, *sources: Path) -> list[Path]:
        copies = self.staging.hold(sources)
        return [copies[source] for source in sources]

    def end(self, *, succeeded: bool = True) -> None:
        self.staging.end(succeeded=succeeded)


def run(directory: Path, *sources: Path, rules: Rules | None = None, ok: bool = True) -> list[str]:
    """What happens in a whole run that reads sources."""
    begun = Run(directory, rules or Rules())
    try:
        for source, copy in zip(sources, begun.hold(*sources), strict=True):
            assert copy.read_bytes() == source.read_bytes()
    finally:
        begun.end(succeeded=ok)
    return begun.events.seen


def kinds(directory: Path) -> list[str]:
    """What there is in a staging directory, without the names of sources."""
    return sorted(path.name.partition(".")[2] for path in directory.iterdir())


def sources(place: Path, names: Iterable[str]) -> list[Path]:
    paths = [place / name for name in names]
    for path in paths:
        path.write_bytes(path.name.encode() * 100)
    return paths
