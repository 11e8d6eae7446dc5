"""Who watches a run: told how far it is, and what it logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value
from clinker.engine.report.facts import Identity, RejectedAlike, SourceReport
from clinker.frozen import frozen

Unit: TypeAlias = Literal["records", "bytes"]
"""What is counted of a step."""


@frozen
class Progress:
    """How far the engine is in a step."""

    read: int
    """Bytes of sources that workers have read."""
    to_read: int
    """0 if workers read nothing."""
    tasks_done: int
    tasks: int
    """Those of the stages at hand; 0 if that is not known."""


class Observer(Protocol):
    """Is called from the thread that runs the pipeline, unless it says otherwise."""

    def began(self, identity: Identity) -> None:
        """The run has a name now; it is the first thing to be told."""

    def opened(self, sources: Sequence[SourceReport]) -> None:
        """What the sources are going to read is known, and nothing else."""

    def engine_started(self, facts: Mapping[str, str], partitions: int | None) -> None:
        """What is going to compute: the facts of an engine, and its parts of what is shuffled."""

    def rejected(self, alike: Sequence[RejectedAlike], by_source: Mapping[str, int]) -> None:
        """What was rejected is known; it may be more than the run may go on with."""

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        """Another part of the work begins; so much of it lies ahead, if that is known."""

    def advanced(self, amount: int) -> None:
        """So much more of the step is done."""

    def progressed(self, progress: Progress) -> None:
        """The engine is so far; another thread tells, several times a second."""

    def warned(self, text: str) -> None:
        """Something about the whole run deserves attention."""

    def wants(self, level: TraceLevel) -> bool:
        """Whether messages of this level are shown, and so worth the work of collecting them."""

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        """A message of the pipeline: a log directive, a trace, a dead letter without a file."""

    def measured(self, peak_rss_bytes: int) -> None:
        """The most memory that the run has had in use, when it has ended, however it did."""

    def publishing(self) -> None:
        """The outputs are about to be put in place; from here on nothing can be taken back."""

    def published(self, code: int) -> None:
        """The outputs are in place: whatever happens, the run ends with this exit code."""


class Quiet:
    """Watches nothing."""

    def began(self, identity: Identity) -> None:
        pass

    def opened(self, sources: Sequence[SourceReport]) -> None:
        pass

    def engine_started(self, facts: Mapping[str, str], partitions: int | None) -> None:
        pass

    def rejected(self, alike: Sequence[RejectedAlike], by_source: Mapping[str, int]) -> None:
        pass

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        pass

    def advanced(self, amount: int) -> None:
        pass

    def progressed(self, progress: Progress) -> None:
        pass

    def warned(self, text: str) -> None:
        pass

    def wants(self, level: TraceLevel) -> bool:
        return False

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        pass

    def measured(self, peak_rss_bytes: int) -> None:
        pass

    def publishing(self) -> None:
        pass

    def published(self, code: int) -> None:
        pass
