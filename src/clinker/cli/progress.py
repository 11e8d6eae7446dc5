"""What is shown while a pipeline runs: log lines, and on a terminal how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from clinker.cli.log_lines import end_line, log_line
from clinker.cli.signals import Interruption
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value, text_of
from clinker.engine.report.facts import Identity, RunError, RunReport
from clinker.engine.report.notation import timestamp
from clinker.engine.run.observer import Quiet, Unit

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

_LEVELS = list(TraceLevel)
_STYLES = {TraceLevel.ERROR: "bold red", TraceLevel.WARN: "bold yellow"}


class Log(Quiet):
    """An observer that writes log lines and shows no progress."""

    def __init__(self, threshold: TraceLevel, interruption: Interruption, stream: TextIO) -> None:
        self.identity: Identity | None = None
        """Known as soon as the run has begun."""
        self._shown = frozenset(_LEVELS[_LEVELS.index(threshold) :])
        self._interruption = interruption
        self._stream = stream
        self.on_begin: Callable[[Identity], None] | None = None
        """Who wants to know as well."""
        self.is_publishing = False
        """Whether outputs are being put in place, or are there already."""
        self.peak_rss_bytes: int | None = None
        """The most memory that was in use, once the run has ended."""

    def began(self, identity: Identity) -> None:
        self.identity = identity
        if self.on_begin:
            self.on_begin(identity)

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        self.logged(TraceLevel.DEBUG, name)

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
            self._write(level, text, node, fields)

    def ended(self, report: RunReport, error: RunError | None) -> None:
        """The run is over; its summary or its error is shown by others."""

    def measured(self, peak_rss_bytes: int) -> None:
        self.peak_rss_bytes = peak_rss_bytes

    def publishing(self) -> None:
        self._interruption.check()
        self.is_publishing = True
        self._interruption.too_late()

    def published(self, code: int) -> None:
        self._interruption.stands(code)

    def _write(
        self,
        level: TraceLevel,
        text: str,
        node: str | None,
        fields: Mapping[str, Value] | None,
    ) -> None:
        batch = self.identity.batch_id if self.identity else "-"
        message = _message(text, node, fields)
        self._put(f"{timestamp(datetime.now(UTC))} {printable(batch)} {level}: {message}\n")

    def _put(self, line: str) -> None:
        try:
            self._stream.write(line)
            self._stream.flush()
        except BrokenPipeError:  # the run matters more than who reads its log
            self._shown = frozenset()


class JsonLog(Log):
    """An observer that writes an object of JSON on every line, and on the last how it ended."""

    def _write(
        self,
        level: TraceLevel,
        text: str,
        node: str | None,
        fields: Mapping[str, Value] | None,
    ) -> None:
        self._put(log_line(level, text, self.identity, node=node, fields=fields or None))

    def ended(self, report: RunReport, error: RunError | None) -> None:
        level, line = end_line(report, error)
        if level in self._shown:
            self._put(line)


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

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        self._progress.remove_task(self._step)
        self._step = self._progress.add_task(printable(name), total=total, unit=unit)
        super().step_started(name, total, unit)

    def advanced(self, amount: int) -> None:
        self._progress.advance(self._step, amount)

    def _write(
        self,
        level: TraceLevel,
        text: str,
        node: str | None,
        fields: Mapping[str, Value] | None,
    ) -> None:
        from rich.text import Text

        message = _message(text, node, fields)
        shown = Text.assemble((level.value, _STYLES.get(level, "dim")), f": {message}")
        self._progress.console.print(shown, soft_wrap=True)


@contextmanager
def watching(
    threshold: TraceLevel,
    interruption: Interruption,
    *,
    quiet: bool,
    as_json: bool = False,
    stream: TextIO | None = None,
) -> Iterator[Log]:
    """The observer that fits where it writes, on standard error by default."""
    stream = stream or sys.stderr
    shows_progress = not quiet and threshold not in (TraceLevel.ERROR, TraceLevel.WARN)
    if quiet and threshold is not TraceLevel.ERROR:
        threshold = TraceLevel.WARN
    if as_json:
        yield JsonLog(threshold, interruption, stream)
        return
    if not (stream.isatty() and shows_progress):
        yield Log(threshold, interruption, stream)
        return
    with _progress(stream) as progress:
        yield ProgressBar(threshold, interruption, stream, progress)


def _progress(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Amount(ProgressColumn):
        """How much is done, of how much, and how fast."""

        def render(self, task: Task) -> Text:
            if not task.completed and task.total is None:
                return Text()
            if task.fields.get("unit") == "bytes":
                return Text(_amount(task, decimal, ""))
            return Text(_amount(task, "{:,}".format, " records"))

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        Amount(),
        TimeElapsedColumn(),
        console=Console(file=stream, highlight=False),
        transient=True,
    )


def _amount(task: Task, shown: Callable[[int], str], unit: str) -> str:
    of = f" of {shown(int(task.total))}" if task.total is not None else ""
    rate = f", {shown(int(task.speed))}/s" if task.speed else ""
    return f"{shown(int(task.completed))}{of}{unit}{rate}"


def _message(text: str, node: str | None, fields: Mapping[str, Value] | None) -> str:
    place = f"{node}: " if node else ""
    shown = ", ".join(f"{name}={text_of(value)}" for name, value in (fields or {}).items())
    return printable(f"{place}{text}" + (f" ({shown})" if shown else ""))
