"""What is shown while a pipeline runs."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path

import pytest

from clinker.cli.progress import watching
from clinker.cli.signals import Interruption
from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.report.facts import identify
from clinker.engine.run.observer import Progress

CLINKER = Path(sys.executable).with_name("clinker")
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", re.MULTILINE)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def shown(
    stream: io.StringIO, threshold: TraceLevel = TraceLevel.INFO, *, quiet: bool = False
) -> str:
    """What a small run shows."""
    with watching(threshold, Interruption(), quiet=quiet, stream=stream) as log:
        log.began(identify("daily"))
        log.step_started("reading orders", 200_000)
        log.advanced(100_000)
        log.logged(TraceLevel.DEBUG, "details")
        log.logged(TraceLevel.INFO, "Processed record", "process", {"id": 5, "price": 2.0})
        log.warned("three\nlines\x1b[2J")
        log.step_started("writing")
    return stream.getvalue()


def test_a_log_line_has_time_batch_level_node_and_fields() -> None:
    lines = _TIME.sub("", shown(io.StringIO()))
    assert lines == (
        "daily info: process: Processed record (id=5, price=2)\ndaily warn: three\\nlines\\x1b[2J\n"
    )
    assert len(_TIME.findall(shown(io.StringIO()))) == 2


@pytest.mark.parametrize(
    ("threshold", "quiet", "levels"),
    [
        (TraceLevel.ERROR, False, []),
        (TraceLevel.WARN, False, ["warn"]),
        (TraceLevel.INFO, True, ["warn"]),
        (TraceLevel.ERROR, True, []),
        (TraceLevel.DEBUG, False, ["debug", "debug", "info", "warn", "debug"]),
    ],
)
def test_only_the_levels_that_were_asked_for(
    threshold: TraceLevel, quiet: bool, levels: list[str]
) -> None:
    lines = shown(io.StringIO(), threshold, quiet=quiet).splitlines()
    assert [line.split()[2].rstrip(":") for line in lines] == levels


def test_whoever_computes_messages_is_told_which_are_wanted() -> None:
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=io.StringIO()) as log:
        assert [level.value for level in TraceLevel if log.wants(level)] == [
            "info",
            "warn",
            "error",
        ]


def test_a_terminal_shows_how_far_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=terminal) as log:
        log.step_started("reading orders", 200_000)
        log.advanced(100_000)
        shown_in_time = time.monotonic() + 5
        while "100,000 records" not in terminal.getvalue() and time.monotonic() < shown_in_time:
            time.sleep(0.02)
    screen = terminal.getvalue()
    assert "reading orders" in screen
    assert "100,000 records of 200,000 records" in screen


def test_a_terminal_shows_what_the_engine_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=terminal) as log:
        log.step_started("orders", 4_000_000_000, "bytes")
        log.progressed(Progress(1_500_000, 4_000_000_000, 2, 60))
        shown_in_time = time.monotonic() + 5
        while "tasks" not in terminal.getvalue() and time.monotonic() < shown_in_time:
            time.sleep(0.02)
    assert "1.5 MB of 4.0 GB, 2/60 tasks" in terminal.getvalue()


def test_a_log_tells_now_and_then_how_far_a_long_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = io.StringIO()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=stream) as log:
        log.began(identify("daily"))
        log.step_started("orders", 4_000_000_000, "bytes")
        for number in range(1, 8):
            clock[0] += 20
            log.progressed(Progress(number * 10**8, 4 * 10**9, number, 60 if number < 5 else 0))
    assert _TIME.sub("", stream.getvalue()) == (
        "daily info: orders: 300.0 MB of 4.0 GB read, 3 of 60 tasks done\n"
        "daily info: orders: 600.0 MB of 4.0 GB read\n"
    )


PIPELINE = """
pipeline: { name: p, concurrency: { chunk_size: 500000 } }
nodes:
  - type: source
    name: s
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - { type: output, name: records, input: s, config: { type: csv, path: out.csv } }
"""


@pytest.mark.parametrize("columns", [80, 40])
def test_a_real_terminal(tmp_path: Path, columns: int) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "in.csv").write_text("id,text\n" + f"1,{'x' * 992}\n" * 6_000)
    screen = run_at_terminal([str(CLINKER), "run", str(tmp_path / "p.yaml")], columns)
    lines = re.split(r"[\r\n]+", screen)
    progress = [line for line in lines if " records " in line and "0:0" in line]
    assert max(map(len, progress)) <= columns
    amount = r"(\S+ \S+) of 6\.0 MB" if columns == 80 else r"(\d+)%"
    assert len(set(re.findall(rf"records .*?{amount}", screen))) > 2, screen
    assert "Pipeline complete: 6000 total" in screen


def run_at_terminal(command: list[str], columns: int) -> str:
    """What a program shows on a terminal of some width, without what moves the cursor."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment["TERM"] = "xterm-256color"
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        shown = b"".join(iter(partial(_read, ours), b""))
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody writes to it any more
        return b""


def test_a_terminal_shows_log_lines_without_time_and_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    screen = shown(Terminal())
    assert "process: Processed record (id=5, price=2)\n" in screen
    assert "three\\nlines\\x1b[2J\n" in screen
    assert "daily" not in screen


@pytest.mark.parametrize(
    ("threshold", "quiet"), [(TraceLevel.INFO, True), (TraceLevel.WARN, False)]
)
def test_a_terminal_shows_no_progress_unless_wanted(threshold: TraceLevel, quiet: bool) -> None:
    assert "reading" not in shown(Terminal(), threshold, quiet=quiet)


def test_a_log_that_nobody_reads_does_not_stop_the_run() -> None:
    assert shown(ClosedPipe()) == ""


def test_names_of_steps_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=terminal) as log:
        log.step_started("staging [red]a[/blue]\x1b[2J\n.csv")
        shown_in_time = time.monotonic() + 5
        while "staging" not in terminal.getvalue() and time.monotonic() < shown_in_time:
            time.sleep(0.02)
    assert r"staging [red]a[/blue]\x1b[2J\n.csv" in terminal.getvalue()


def test_bytes_are_told_as_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    with watching(TraceLevel.INFO, Interruption(), quiet=False, stream=terminal) as log:
        log.step_started("staging orders.csv", 4_000_000_000, "bytes")
        log.advanced(1_500_000)
        shown_in_time = time.monotonic() + 5
        while "1.5 MB" not in terminal.getvalue() and time.monotonic() < shown_in_time:
            time.sleep(0.02)
    assert "1.5 MB of 4.0 GB" in terminal.getvalue()
