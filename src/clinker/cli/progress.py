"""What is shown while a pipeline runs: log lines, and on a terminal how far it is."""

from __future__ import annotations

import sys
import threading
import time
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
from clinker.engine.run.observer import Progress, Quiet, Unit

if TYPE_CHECKING:
    from rich.progress import Progress as Screen
    from rich.progress import Task, TaskID

_LEVELS = list(TraceLevel)
_SECONDS_BETWEEN = 60.0
"""How often a log tells how far the run is."""
_WIDE, _PARTS_OF_BAR = 70, 5
"""From how many columns on a terminal has room for a bar, and which part of them that takes."""
_STYLES = {TraceLevel.ERROR: "bold red", TraceLevel.WARN: "bold yellow"}


class Log(Quiet):
    """An observer that writes log lines, and of long steps now and then how far they are."""

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
        self._step = ""
        self._last_word = time.monotonic()
        """When it was told last how far the run is."""

    def began(self, identity: Identity) -> None:
        self.identity = identity
        if self.on_begin:
            self.on_begin(identity)

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        self._step = name
        self.logged(TraceLevel.DEBUG, name)

    def progressed(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last_word >= _SECONDS_BETWEEN and self.wants(TraceLevel.INFO):
            self._last_word = now
            self._write_progress(progress)

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

    def _write_progress(self, progress: Progress) -> None:
        self._write(TraceLevel.INFO, f"{self._step}: {_progress_text(progress)}", None, None)

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

    def _write_progress(self, progress: Progress) -> None:
        amounts = {
            "step": self._step,
            "bytes_read": progress.read,
            "bytes_total": progress.to_read,
            "tasks_done": progress.tasks_done,
            "tasks_total": progress.tasks,
        }
        text = f"{self._step}: {_progress_text(progress)}"
        self._put(log_line(TraceLevel.INFO, text, self.identity, progress=amounts))

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
        screen: Screen,
    ) -> None:
        super().__init__(threshold, interruption, stream)
        self._screen = screen
        self._changing = threading.Lock()
        """Another thread tells how far a step is, be it over or not."""
        self._shown_step: TaskID = screen.add_task("starting", total=None)

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        with self._changing:
            self._screen.remove_task(self._shown_step)
            self._shown_step = self._screen.add_task(printable(name), total=total, unit=unit)
        super().step_started(name, total, unit)

    def advanced(self, amount: int) -> None:
        self._screen.advance(self._shown_step, amount)

    def progressed(self, progress: Progress) -> None:
        tasks = (progress.tasks_done, progress.tasks)
        with self._changing:
            self._screen.update(self._shown_step, completed=progress.read, tasks=tasks)

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
        self._screen.console.print(shown, soft_wrap=True)


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
    with _screen(stream) as screen:
        yield ProgressBar(threshold, interruption, stream, screen)


def _screen(stream: TextIO) -> Screen:
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Screen
    from rich.table import Column
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    is_wide = console.width >= _WIDE

    class Amount(ProgressColumn):
        """How much is done, where there is room of how much and how fast, and of how many tasks."""

        def render(self, task: Task) -> Text:
            in_bytes = task.fields.get("unit") == "bytes"
            shown = decimal if in_bytes else "{:,} records".format
            amount = _amount(task, shown) if is_wide or not task.total else _share(task)
            done, tasks = task.fields.get("tasks", (0, 0))
            of_tasks = f"{done}/{tasks} tasks" if tasks else ""
            return Text(", ".join(filter(None, (amount, of_tasks))), no_wrap=True)

    name = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    bar = [BarColumn(bar_width=console.width // _PARTS_OF_BAR)] if is_wide else []
    return Screen(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False, table_column=name),
        *bar,
        Amount(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
        expand=not is_wide,
    )


def _amount(task: Task, shown: Callable[[int], str]) -> str:
    if not task.completed and task.total is None:
        return ""
    of = f" of {shown(int(task.total))}" if task.total is not None else ""
    rate = f", {shown(int(task.speed))}/s" if task.speed else ""
    return f"{shown(int(task.completed))}{of}{rate}"


def _share(task: Task) -> str:
    return f"{int(task.percentage)}%"


def _progress_text(progress: Progress) -> str:
    from rich.filesize import decimal

    told: list[str] = []
    if progress.to_read:
        told.append(f"{decimal(progress.read)} of {decimal(progress.to_read)} read")
    if progress.tasks:
        told.append(f"{progress.tasks_done} of {progress.tasks} tasks done")
    return ", ".join(told)


def _message(text: str, node: str | None, fields: Mapping[str, Value] | None) -> str:
    place = f"{node}: " if node else ""
    shown = ", ".join(f"{name}={text_of(value)}" for name, value in (fields or {}).items())
    return printable(f"{place}{text}" + (f" ({shown})" if shown else ""))
