"""Storage: where a run spills and stages, from `clinker.toml`, and whether these places will do.

What is wrong with the file itself is found when a pipeline is compiled. Whether its directories fit
their purpose depends on the machine and is checked when a run starts, from facts that are gathered
apart from the judgement.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from clinker.config import Workspace, load_workspace
from clinker.config.workspace import Spill, Staging
from clinker.diagnostics import Diagnostic, Label, Severity
from clinker.engine_names import EngineName
from clinker.frozen import frozen
from clinker.plan.files.globs import GlobError, compile_glob, matches_any
from clinker.plan.files.paths import resolve, violation
from clinker.plan.files.workspace import FILE
from clinker.stores.urls import FilePath

HEADROOM = 0.8
"""The share of the disk cap from which a run is warned about."""

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_NETWORK = frozenset(
    "nfs nfs4 cifs smb smb2 smb3 smbfs afs ceph glusterfs lustre beegfs gpfs 9p fuse".split()
)
_MIN_ROWS_TO_COMPRESS = 1024
_MIN_BYTES_TO_COMPRESS = 4096
_BYTES_PER_COLUMN = 32


@frozen
class StorageSettings:
    """The settings in force, directories resolved."""

    spill: Spill
    spill_dir: Path
    staging: Staging
    staging_dir: Path | None
    """None unless staging is enabled."""
    objects: tuple[str, ...] = ()
    """What pipelines may use in object stores."""
    engine: EngineName = "spark"
    """The engine that the workspace chooses."""

    @property
    def spill_dir_is_default(self) -> bool:
        return self.spill.dir is None

    @property
    def own_spill_dir(self) -> Path | None:
        """The directory that was chosen for what is spilled; None for the system's."""
        return None if self.spill_dir_is_default else self.spill_dir

    def compresses(self, columns: int, batch_size: int) -> bool:
        """Whether an operator compresses what it spills."""
        if self.spill.compress != "auto":
            return self.spill.compress == "on"
        size = columns * _BYTES_PER_COLUMN * batch_size
        return batch_size >= _MIN_ROWS_TO_COMPRESS and size >= _MIN_BYTES_TO_COMPRESS


@frozen
class LoadedStorage:
    """The settings, or None if the file has errors, and what there is to say about it."""

    settings: StorageSettings | None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def load_storage(base_dir: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> LoadedStorage:
    """The storage settings of a workspace; without `clinker.toml` the defaults."""
    path = base_dir / FILE
    try:
        content = read(path)
    except FileNotFoundError:
        return LoadedStorage(_settings(Workspace(), base_dir))
    except OSError as problem:
        message = f"'{path}' cannot be read: {problem.strerror}"
        return LoadedStorage(None, [Diagnostic("E071", message, help="check its permissions")])
    loaded = load_workspace(content, str(path))
    if loaded.value is None:
        return LoadedStorage(None, list(loaded.diagnostics))
    settings = _settings(loaded.value, base_dir)
    return LoadedStorage(settings, [*loaded.diagnostics, *check_settings(settings, base_dir)])


def _settings(workspace: Workspace, base_dir: Path) -> StorageSettings:
    spill, staging = workspace.storage.spill, workspace.storage.staging
    spill_dir = resolve(spill.dir, base_dir) if spill.dir else temporary_directory()
    staged = staging.enabled and staging.dir
    staging_dir = resolve(staging.dir, base_dir) if staged and staging.dir else None
    objects = workspace.storage.objects.allow
    return StorageSettings(spill, spill_dir, staging, staging_dir, objects, workspace.engine.name)


def temporary_directory() -> Path:
    """The system's directory for temporary files, be it usable or not."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:  # there is none that can be written to
        return Path(os.environ.get("TMPDIR") or "/tmp")


def check_settings(settings: StorageSettings, base_dir: Path) -> list[Diagnostic]:
    """What is wrong with the settings on any machine."""
    spill, staging = settings.spill, settings.staging
    problems: list[Diagnostic] = []
    for model in (spill, staging):
        # Whoever keeps a workspace decides about the whole machine, so absolute paths are fine.
        wrong = violation(model.dir, base_dir, allow_absolute=True) if model.dir else None
        if wrong:
            problems.append(wrong.at(model.at("dir"), ()))
    if problems:
        return problems
    problems += _pattern_problems(staging)
    if settings.staging_dir is not None and spill.dir is not None:
        spill_dir, staging_dir = map(os.path.realpath, (settings.spill_dir, settings.staging_dir))
        if spill_dir == staging_dir:
            problems.append(
                staging.problem(
                    "E334",
                    "spilled data and staged copies share a directory",
                    "dir",
                    also=(Label(spill.at("dir"), "storage.spill.dir"),),
                    help="give storage.staging.dir a directory of its own",
                )
            )
    return problems


def _pattern_problems(staging: Staging) -> Iterator[Diagnostic]:
    for pattern in staging.patterns:
        try:
            compile_glob(pattern)
        except GlobError as wrong:
            message = f"'{pattern}' is not a glob: {wrong}"
            yield staging.problem("E212", message, "patterns", help=wrong.help)


# Staging


def is_staged(settings: StorageSettings, source: FilePath, base_dir: Path) -> bool:
    """Whether a source file is copied before it is read."""
    if settings.staging_dir is None:
        return False
    return matches_any(settings.staging.patterns, source, base_dir)


# Facts about the machine


@frozen
class Mount:
    """A mounted file system."""

    point: Path
    type: str


@frozen
class Facts:
    """What the checks of a starting run need to know about the machine."""

    mounts: tuple[Mount, ...] = ()
    devices: Mapping[Path, int] = field(default_factory=dict)
    """The device of the staging directory and of every file to be staged."""
    unusable: Mapping[Path, str] = field(default_factory=dict)
    """Directories that cannot be written to, and why."""
    free_bytes: int | None = None
    """On the volume of the spill directory."""


_ESCAPED = re.compile(r"\\([0-7]{3})")


def read_mounts(table: Path = Path("/proc/self/mounts")) -> tuple[Mount, ...]:
    """The mounted file systems; none where the system keeps no such table."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ()
    entries = [line.split(" ") for line in lines]
    return tuple(
        Mount(Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), entry[1])), entry[2])
        for entry in entries
        if len(entry) > 2
    )


def gather_facts(settings: StorageSettings, staged: Sequence[Path]) -> Facts:
    """Look at the machine. `staged` are the source files that will be copied."""
    directories = [d for d in (settings.spill_dir, settings.staging_dir) if d is not None]
    reasons = {directory: why_unusable(directory) for directory in directories}
    devices: dict[Path, int] = {}
    if settings.staging_dir is not None:
        for path in (settings.staging_dir, *staged):
            if path.exists():
                devices[path] = path.stat().st_dev
    usable = reasons[settings.spill_dir] is None
    return Facts(
        read_mounts(),
        devices,
        {directory: reason for directory, reason in reasons.items() if reason},
        shutil.disk_usage(settings.spill_dir).free if usable else None,
    )


def why_unusable(directory: Path) -> str | None:
    """What keeps files from being written to a directory; found by writing one."""
    try:
        if not directory.exists():
            return "does not exist"
        if not directory.is_dir():
            return "is not a directory"
        with tempfile.TemporaryFile(dir=directory):
            return None
    except OSError as problem:
        return f"cannot be written to: {problem.strerror}"


# Judgement


def check_storage(
    settings: StorageSettings, staged: Sequence[Path], facts: Facts, estimate: int | None = None
) -> list[Diagnostic]:
    """What a starting run has to say. `estimate` is how many bytes it may spill, if known."""
    return [
        *_check_directories(settings, facts),
        *_check_volumes(settings, facts.mounts),
        *_check_devices(settings, staged, facts.devices),
        *_check_headroom(settings, facts.free_bytes, estimate),
    ]


def file_system(path: Path, mounts: Sequence[Mount]) -> str | None:
    """The type of the file system that holds a path; the last of equal mount points counts."""
    real = Path(os.path.realpath(path))
    around = [mount for mount in mounts if real.is_relative_to(mount.point)]
    if not around:
        return None
    longest = max(len(mount.point.parts) for mount in around)
    return [mount for mount in around if len(mount.point.parts) == longest][-1].type


def is_network(file_system: str | None) -> bool:
    """Whether files live on another machine, or behind a program that makes them up."""
    return file_system is not None and file_system.partition(".")[0] in _NETWORK


def _check_directories(settings: StorageSettings, facts: Facts) -> Iterator[Diagnostic]:
    places = ((settings.spill_dir, settings.spill), (settings.staging_dir, settings.staging))
    for directory, model in places:
        reason = facts.unusable.get(directory) if directory else None
        if reason and model.dir is None:
            yield Diagnostic(
                "E074",
                f"the directory for temporary files, {directory}, {reason}",
                help="set storage.spill.dir in clinker.toml to a directory on a local disk",
            )
        elif reason:
            which = "staging" if isinstance(model, Staging) else "spill"
            yield _finding(
                "E074",
                f"storage.{which}.dir {directory} {reason}",
                model,
                "create it or point at an existing volume",
            )


def _check_volumes(settings: StorageSettings, mounts: Sequence[Mount]) -> Iterator[Diagnostic]:
    if not settings.spill_dir_is_default:
        type_ = file_system(settings.spill_dir, mounts)
        if type_ in _IN_MEMORY:
            yield _finding(
                "E330",
                f"storage.spill.dir {settings.spill_dir} is on {type_}, which is memory",
                settings.spill,
                "point it at a disk: spilling to memory frees none",
            )
        if is_network(type_):
            yield _finding(
                "E331",
                f"storage.spill.dir {settings.spill_dir} is on {type_}, a network file system",
                settings.spill,
                "point it at a local disk",
            )
    if settings.staging_dir is not None:
        type_ = file_system(settings.staging_dir, mounts)
        if is_network(type_):
            yield _finding(
                "E332",
                f"storage.staging.dir {settings.staging_dir} is on {type_}, a network file system",
                settings.staging,
                "point it at a local disk: staging is there to get away from shares",
            )


def _check_devices(
    settings: StorageSettings, staged: Sequence[Path], devices: Mapping[Path, int]
) -> Iterator[Diagnostic]:
    if settings.staging_dir is None or settings.staging_dir not in devices:
        return
    same = [s for s in staged if devices.get(s) == devices[settings.staging_dir]]
    for source in same:
        yield _finding(
            "E333",
            f"storage.staging.dir is on the same device as {source}",
            settings.staging,
            "point it at another disk, or take the file out of storage.staging.patterns",
        )


def _check_headroom(
    settings: StorageSettings, free_bytes: int | None, estimate: int | None
) -> Iterator[Diagnostic]:
    if not estimate:
        return
    if free_bytes is not None and free_bytes < estimate:
        yield _warning(
            "W330",
            f"spill volume {settings.spill_dir} has {free_bytes} bytes free but the run is "
            f"estimated to spill up to {estimate} bytes; it may end with a full volume (E321)",
            settings.spill,
            "point storage.spill.dir at a larger volume, or reduce the spill footprint "
            "(raise memory.limit, partition the input)",
        )
    cap = settings.spill.disk_cap_bytes
    if cap is not None and estimate >= cap * HEADROOM:
        share = f"{estimate * 100 // cap}%" if cap else "more than all"
        problem = _warning(
            "W331",
            f"this run is estimated to spill up to {estimate} bytes, which is {share} of "
            f"storage.spill.disk_cap_bytes ({cap} bytes); it may end with a spill-cap error (E320)",
            settings.spill,
            "raise disk_cap_bytes, or reduce the spill footprint (raise memory.limit, partition "
            "the input); runs that share the volume share the cap, so the real headroom is smaller",
        )
        yield replace(problem, primary=Label(settings.spill.at("disk_cap_bytes")))


def _finding(code: str, message: str, model: Spill | Staging, help: str) -> Diagnostic:
    """About a directory; at its setting, or nowhere when it is the default."""
    primary = Label(model.at("dir")) if model.dir is not None else None
    return Diagnostic(code, message, primary, help=help)


def _warning(code: str, message: str, model: Spill | Staging, help: str) -> Diagnostic:
    return replace(_finding(code, message, model, help), severity=Severity.WARNING)
