"""A journal: what is known of a run so far, also if it does not come to its end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value
from clinker.engine.report.facts import (
    Identity,
    RejectedAlike,
    RunReport,
    SourceReport,
    StepTime,
)
from clinker.engine.run.observer import Observer, Progress, Unit

_STARTING, _PUBLISHING = "starting", "publishing"


class Journal:
    """An observer that writes down what it is told, and passes it on to another one."""

    def __init__(self, reader: Observer) -> None:
        self._reader = reader
        self._sources: tuple[SourceReport, ...] = ()
        self._engine: Mapping[str, str] = {}
        self._partitions: int | None = None
        self._rejected: tuple[RejectedAlike, ...] = ()
        self._warnings: list[str] = []
        self._steps: dict[str, StepTime] = {}
        self._step = _STARTING
        self._since = time.monotonic()

    def completed(self, report: RunReport) -> RunReport:
        """A report with all that is written here and not in it."""
        self._begin("")
        sources = report.sources or self._sources
        total = report.counts.total or sum(source.records for source in sources)
        return replace(
            report,
            counts=replace(report.counts, total=total),
            sources=sources,
            engine=report.engine or self._engine,
            partitions=self._partitions,
            rejected_alike=self._rejected,
            warnings=(*report.warnings, *self._warnings),
            steps=tuple(self._steps.values()),
        )

    def began(self, identity: Identity) -> None:
        self._reader.began(identity)

    def opened(self, sources: Sequence[SourceReport]) -> None:
        self._sources = tuple(sources)
        self._reader.opened(sources)

    def engine_started(self, facts: Mapping[str, str], partitions: int | None) -> None:
        self._engine, self._partitions = facts, partitions
        self._reader.engine_started(facts, partitions)

    def rejected(self, alike: Sequence[RejectedAlike], by_source: Mapping[str, int]) -> None:
        self._rejected = tuple(alike)
        self._sources = tuple(
            replace(source, rejected=by_source.get(source.name, 0)) for source in self._sources
        )
        self._reader.rejected(alike, by_source)

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        self._begin(name)
        self._reader.step_started(name, total, unit)

    def advanced(self, amount: int) -> None:
        self._reader.advanced(amount)

    def progressed(self, progress: Progress) -> None:
        self._reader.progressed(progress)

    def measured(self, peak_rss_bytes: int) -> None:
        self._reader.measured(peak_rss_bytes)

    def warned(self, text: str) -> None:
        self._warnings.append(printable(text))
        self._reader.warned(text)

    def wants(self, level: TraceLevel) -> bool:
        return self._reader.wants(level)

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        self._reader.logged(level, text, node, fields)

    def publishing(self) -> None:
        self._reader.publishing()
        self._begin(_PUBLISHING)

    def published(self, code: int) -> None:
        self._reader.published(code)

    def _begin(self, step: str) -> None:
        """Close the step at hand; without a name none follows."""
        now = time.monotonic()
        if self._step:
            known = self._steps.get(self._step, StepTime(name=self._step, seconds=0, times=0))
            self._steps[self._step] = replace(
                known, seconds=known.seconds + now - self._since, times=known.times + 1
            )
        self._step, self._since = step, now
