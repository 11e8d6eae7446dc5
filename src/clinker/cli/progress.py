"""What is shown while a pipeline runs: log lines, and on a terminal how far it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from clinker.cli.signals import Interruption
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value, text_of
from clinker.engine.report.facts import Identity
from clinker.engine.report.notation import timestamp

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LEVELS = list(TraceLevel)
_STYLES = {TraceLevel.ERROR: "bold red", TraceLevel.WARN: "bold yellow"}


class Log:
    """An observer that writes log lines and shows no progress."""

    def __init__(self, threshold: TraceLevel, interruption: Interruption, stream: TextIO) -> None:
        self.identity: Identity | None = None
        """Known as soon as the run has begun."""
        self._shown = frozenset(_LEVELS[_LEVELS.index(threshold) :])
        self._interruption = interruption
        self._stream = stream
        self.is_publishing = False
        """Whether outputs are being put in place, or are there already."""

    def began(self, identity: Identity) -> None:
        self.identity = identity

    def step_started(self, name: str, total: int | None = None) -> None:
        self.logged(TraceLevel.DEBUG, name)

    def advanced(self, records: int) -> None:
        pass

    def warned(self, text: str) -> None:
        self.logged(TraceLevel.WARN, text)

    def wants(self, level: TraceLevel) -> bool:
        return level in self._shown

    def logged(
        self,
        level: TraceLevel,
        text: str,
        node: str | None = None,
        fields: Mapping[str, Value] | None = None,
    ) -> None:
        if level in self._shown:
            self._write(level, _message(text, node, fields))

    def publishing(self) -> None:
        self._interruption.check()
        self.is_publishing = True
        self._interruption.too_late()

    def published(self, code: int) -> None:
        self._interruption.stands(code)

    def _write(self, level: TraceLevel, message: str) -> None:
        batch = self.identity.batch_id if self.identity else "-"
        line = f"{timestamp(datetime.now(UTC))} {printable(batch)} {level}: {message}\n"
        try:
            self._stream.write(line)
            self._stream.flush()
        except BrokenPipeError:  # the run matters more than who reads its log
            self._shown = frozenset()


class ProgressBar(Log):
    """An observer for a terminal."""

    def __init__(
        self,
        threshold: TraceLevel,
        interruption: Interruption,
        stream: TextIO,
        progress: Progress,
    ) -> None:
        super().__init__(threshold, interruption, stream)
        self._progress = progress
        self._step: TaskID = progress.add_task("starting", total=None)

    def step_started(self, name: str, total: int | None = None) -> None:
        self._progress.remove_task(self._step)
        self._step = self._progress.add_task(printable(name), total=total)
        super().step_started(name, total)

    def advanced(self, records: int) -> None:
        self._progress.advance(self._step, records)

    def _write(self, level: TraceLevel, message: str) -> None:
        from rich.text import Text

        shown = Text.assemble((level.value, _STYLES.get(level, "dim")), f": {message}")
        self._progress.console.print(shown, soft_wrap=True)


@contextmanager
def watching(
    threshold: TraceLevel, interruption: Interruption, *, quiet: bool, stream: TextIO | None = None
) -> Iterator[Log]:
    """The observer that fits where it writes, on standard error by default."""
    stream = stream or sys.stderr
    shows_progress = not quiet and threshold not in (TraceLevel.ERROR, TraceLevel.WARN)
    if quiet and threshold is not TraceLevel.ERROR:
        threshold = TraceLevel.WARN
    if not (stream.isatty() and shows_progress):
        yield Log(threshold, interruption, stream)
        return
    with _progress(stream) as progress:
        yield ProgressBar(threshold, interruption, stream, progress)


def _progress(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Records(ProgressColumn):
        """How many records are done, of how many, and how fast."""

        def render(self, task: Task) -> Text:
            done = f"{int(task.completed):,}"
            of = f" of {int(task.total):,}" if task.total is not None else ""
            rate = f", {int(task.speed):,}/s" if task.speed else ""
            return Text(f"{done}{of} records{rate}" if task.completed or of else "")

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        Records(),
        TimeElapsedColumn(),
        console=Console(file=stream, highlight=False),
        transient=True,
    )


def _message(text: str, node: str | None, fields: Mapping[str, Value] | None) -> str:
    place = f"{node}: " if node else ""
    shown = ", ".join(f"{name}={text_of(value)}" for name, value in (fields or {}).items())
    return printable(f"{place}{text}" + (f" ({shown})" if shown else ""))
