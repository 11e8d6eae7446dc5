"""The source files that a run copies to a local disk before it reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clinker.config.workspace import Staging as Settings
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.observer import Observer
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.staging import (
    CapExceeded,
    CopyDiffers,
    CopyExists,
    Rules,
    Staging,
)
from clinker.plan.compile import Plan
from clinker.plan.files.storage import is_staged
from clinker.stores.urls import FilePath


class StagedSources:
    """The copies that a run reads instead of source files, as long as it lasts."""

    def __init__(self, plan: Plan, staging: Staging | None) -> None:
        self._plan = plan
        self._staging = staging
        self.run_succeeded = False
        """Whether the run has ended as it should, without a dead letter."""

    def copies(self, sources: Iterable[FilePath]) -> Mapping[FilePath, Path]:
        """The copies of those sources that are to be staged; `RunError` if one cannot be."""
        if self._staging is None:
            return {}
        plan = self._plan
        wanted = [path for path in sources if is_staged(plan.storage, path, plan.options.base_dir)]
        with _errors(plan.storage.staging):
            return self._staging.hold(wanted)


@contextmanager
def staged_sources(plan: Plan, observer: Observer) -> Iterator[StagedSources]:
    """What a run stages, which is nothing if it is only a preview."""
    directory, settings = plan.storage.staging_dir, plan.storage.staging
    if directory is None or plan.options.preview:
        yield StagedSources(plan, None)
        return
    staging = Staging(directory, _rules(settings), _Telling(observer, directory))
    sources = StagedSources(plan, staging)
    try:
        yield sources
    finally:
        try:
            staging.end(succeeded=sources.run_succeeded)
        except OSError as problem:
            observer.warned(f"staged copies in '{directory}' cannot be removed: {problem.strerror}")


def _rules(settings: Settings) -> Rules:
    return Rules(
        on_existing=settings.on_existing,
        cleanup=settings.cleanup,
        verifies=settings.verify == "blake3",
        most=settings.disk_cap_bytes,
    )


@contextmanager
def _errors(settings: Settings) -> Iterator[None]:
    """What keeps a source from being staged, in words for the user."""
    try:
        yield
    except FormatError as problem:
        raise RunError(str(problem), Exit.IO, help=problem.help) from problem
    except CopyDiffers as problem:
        raise _refused(_differs(problem)) from problem
    except CapExceeded as problem:
        raise _refused(_exceeds(problem, settings)) from problem
    except CopyExists as problem:
        raise _refused(_exists(problem, settings)) from problem


def _refused(found: Diagnostic) -> RunError:
    return RunError(found.message, Exit.CONFIGURATION, [found])


def _differs(problem: CopyDiffers) -> Diagnostic:
    message = f"the staged copy of '{problem.source}' is not what the original holds: {problem}"
    help = "run again when the connection is sound, or stage from a snapshot"
    return Diagnostic("E335", printable(message), help=help)


def _exceeds(problem: CapExceeded, settings: Settings) -> Diagnostic:
    before = f" after {problem.copied} others" if problem.copied else ""
    message = (
        f"staging '{problem.source}', {problem.size} bytes{before}, would exceed "
        f"storage.staging.disk_cap_bytes, which is {settings.disk_cap_bytes}"
    )
    help = "raise disk_cap_bytes, or narrow storage.staging.patterns"
    return settings.problem("E336", printable(message), "disk_cap_bytes", help=help)


def _exists(problem: CopyExists, settings: Settings) -> Diagnostic:
    message = f"'{problem.source}' has been staged before, as {problem.copy}"
    help = "remove the copy, or set on_existing to 'overwrite' or 'reuse'"
    return settings.problem("E337", printable(message), "on_existing", help=help)


class _Telling:
    """Tells the observer of a run what happens to its sources."""

    def __init__(self, observer: Observer, directory: Path) -> None:
        self._observer = observer
        self._directory = directory

    def purged(self, files: int) -> None:
        what = "a file" if files == 1 else f"{files} files"
        self._info(f"removed {what} that killed runs have left in '{self._directory}'")

    def waiting(self, source: FilePath) -> None:
        self._info(f"waiting for another run that stages or reads the copy of '{source}'")

    def copying(self, source: FilePath, size: int) -> None:
        self._observer.step_started(f"staging {source.name}", size, "bytes")

    def verifying(self, source: FilePath, size: int) -> None:
        self._observer.step_started(f"verifying {source.name}", size, "bytes")

    def advanced(self, size: int) -> None:
        self._observer.advanced(size)

    def copied(self, source: FilePath, size: int) -> None:
        self._info(f"staged '{source}': {size} bytes")

    def reused(self, source: FilePath) -> None:
        self._info(f"'{source}' was staged before: its copy is read")

    def _info(self, text: str) -> None:
        self._observer.logged(TraceLevel.INFO, text)
