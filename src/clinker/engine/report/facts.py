"""What a run has to say when it is over: its report, or the error that ended it."""

from __future__ import annotations

import enum
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from clinker.diagnostics import Diagnostic, Location
from clinker.diagnostics.render import render_text
from clinker.formats.files.uuid7 import Uuid7Source
from clinker.frozen import frozen
from clinker.plan.analyses.passing import NodePassing
from clinker.stores.urls import FilePath

if TYPE_CHECKING:
    import pyarrow as pa

    from clinker.engine.rejects.entries import Rejected
    from clinker.plan.compile import Plan


class Exit(enum.IntEnum):
    """The exit code of a run."""

    OK = 0
    CONFIGURATION = 1
    DEAD_LETTERS = 2
    EVALUATION = 3
    IO = 4
    INTERNAL = 70
    INTERRUPTED = 130


@frozen(kw_only=True)
class Identity:
    """Which run it is."""

    execution_id: str
    """A UUIDv7."""
    batch_id: str
    """What the user calls the run; without a wish, a UUIDv7 of its own."""
    started: datetime
    """In UTC, as all times of a report."""
    begun: float = field(default_factory=time.monotonic)
    """The same by a clock that nobody sets."""

    @property
    def elapsed(self) -> timedelta:
        """The time since then, also if the clock of the machine is set meanwhile."""
        return timedelta(seconds=time.monotonic() - self.begun)


def identify(batch_id: str | None) -> Identity:
    """The identity of a run that starts now."""
    ids = Uuid7Source()
    own = str(ids.next())
    return Identity(
        execution_id=own, batch_id=batch_id or str(ids.next()), started=datetime.now(UTC)
    )


@frozen(kw_only=True)
class Counts:
    """Records, over all sources and outputs."""

    total: int = 0
    """Read from the sources, rejected ones included."""
    ok: int = 0
    """Source records that reached an output."""
    written: int = 0
    """Records in the output files."""
    dlq: int = 0
    """Entries in the dead-letter queue."""
    filtered: int | None = None
    """Dropped by `filter` statements; None where nobody can tell."""
    distinct: int | None = None
    """Dropped as duplicates; None where nobody can tell."""


@frozen(kw_only=True)
class SourceReport:
    """What a source read."""

    name: str
    files: tuple[FilePath, ...]
    records: int
    rejected: int | None
    """None if the run ended before that was known."""
    rollback_cursor: int | None = None
    """The last record that was not rejected, counted over all its files; None if there is none."""
    bytes: int = 0
    """The size of its files, as they are stored."""


Content: TypeAlias = bytes


@frozen(kw_only=True)
class OutputReport:
    """What an output wrote."""

    name: str
    paths: tuple[FilePath, ...]
    records: int
    bytes: int
    preview: Content | None = None
    """What would have been written, if the run is a preview."""
    table: pa.Table | None = None
    """The same as a table, if the preview is to be one."""


@frozen(kw_only=True)
class DeadLetterFile:
    """Where rejected records are told."""

    path: FilePath
    entries: int
    bytes: int = 0


@frozen(kw_only=True)
class SpilledNode:
    """What was written to disk since a node had no memory for it."""

    node: str | None
    """None for what is the work of no node in particular."""
    bytes: int
    estimate: int | None
    """What `--explain` expects it to spill at most, if it knows."""


@frozen(kw_only=True)
class Retracted:
    """What it took to settle records that fall together."""

    rounds: int
    """How often outputs were computed."""
    computed_again: int
    """Rows of outputs that all rounds but the first have computed."""
    key_columns: int
    """Relaxed aggregates whose groups are numbered, or were known by what they are made of."""
    output_rows: int
    """Rows that outputs held back, since others of their groups had failed."""
    failed_groups: int
    """Records of aggregates that led back to what they were made of."""
    records_taken_back: int
    groups_recomputed: int | None
    """Groups of relaxed aggregates that lost records; None if some may have."""
    partitions_recomputed: int | None
    """Partitions of windows that lost records; None if some may have."""


@frozen(kw_only=True)
class RejectedRecord:
    """A record that was rejected, cut to what one can take in at a glance."""

    place: str
    """Where it stands in its source, in words."""
    field: str
    value: str
    detail: str


@frozen(kw_only=True)
class RejectedAlike:
    """The records that were rejected for one reason, in one place of the pipeline."""

    category: str
    node: str
    rule: str
    """The validation rule that they broke."""
    field: str
    location: Location | None
    """What of the pipeline rejected them."""
    count: int
    samples: tuple[RejectedRecord, ...]
    """The first of them; none where dead letters are not to tell reasons."""


@frozen(kw_only=True)
class StepTime:
    """How long a part of the work took, from its beginning to that of the next."""

    name: str
    seconds: float
    times: int = 1
    """How often it was done."""


@frozen(kw_only=True)
class RunReport(Identity):
    """A run that came to its end."""

    pipeline: str
    finished: datetime
    exit_code: int
    """What `clinker run` ends with."""
    counts: Counts
    sources: tuple[SourceReport, ...] = ()
    outputs: tuple[OutputReport, ...] = ()
    dead_letter_files: tuple[DeadLetterFile, ...] = ()
    rejections: Mapping[str, int] = field(default_factory=dict)
    """How many dead letters there are of each category."""
    peak_rss_bytes: int | None = None
    engine: Mapping[str, str] = field(default_factory=dict)
    """What ran it: engine, version, master, Java."""
    partitions: int | None = None
    """Into how many parts the engine divides what it shuffles, at most."""
    warnings: tuple[str, ...] = ()
    """What was odd, but ended nothing."""
    retracted: Retracted | None = None
    """None if no source has a correlation key."""
    spilled: tuple[SpilledNode, ...] | None = None
    """None if the engine does not tell."""
    nodes: tuple[NodePassing, ...] = ()
    """What came into each node that was computed, and left it."""
    rejected: Rejected | None = None
    """The rejected records, if the run is a preview that lists them."""
    rejected_alike: tuple[RejectedAlike, ...] = ()
    """The most frequent reasons of rejection, each with some of its records."""
    steps: tuple[StepTime, ...] = ()
    plan: Plan | None = field(default=None, compare=False, repr=False)
    """What was run."""

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from clinker.engine.report.as_html import report_fragment

        return report_fragment(self)

    def __repr__(self) -> str:
        counts = self.counts
        told = f"{counts.total} read, {counts.written} written, {counts.dlq} dead letters"
        return f"<RunReport {self.pipeline!r}: {told}, exit code {int(self.exit_code)}>"


def failed_report(
    identity: Identity,
    pipeline: str,
    exit_code: int,
    counts: Counts | None = None,
    plan: Plan | None = None,
) -> RunReport:
    """The report of a run that did not come to its end."""
    return RunReport(
        execution_id=identity.execution_id,
        batch_id=identity.batch_id,
        started=identity.started,
        pipeline=pipeline,
        finished=identity.started + identity.elapsed,
        exit_code=exit_code,
        counts=counts or Counts(),
        plan=plan,
    )


class RunError(Exception):
    """A run cannot go on; nothing it would have written is visible.

    With diagnostics, these are what the user reads; the message sums them up for metrics and logs.
    """

    def __init__(
        self,
        message: str,
        exit_code: int,
        diagnostics: Sequence[Diagnostic] = (),
        help: str | None = None,
        counts: Counts | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.diagnostics = tuple(diagnostics)
        self.help = help
        self.counts = counts
        """How far the run came, if it read records."""
        self.notes = tuple(notes)
        """What belongs to the message, a line each."""

    def __str__(self) -> str:
        if self.diagnostics:
            return render_text(self.diagnostics).rstrip()
        help = f"help: {self.help}" if self.help else None
        return "\n  ".join(filter(None, (self.message, *self.notes, help)))
