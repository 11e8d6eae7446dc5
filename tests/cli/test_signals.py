"""Signals during a run."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.runs import OUTPUTS, Site, server

from clinker.cli.signals import Interruption

_SCRIPT = """\
import time
from clinker.cli.signals import Interrupted, Interruption
with Interruption() as interruption:
    try:
        {before}
        print("ready", flush=True)
        time.sleep(20)
    except Interrupted:
        print("interrupted", flush=True)
        {cleanup}
print("clean", flush=True)
"""


def started(before: str = "pass", cleanup: str = "pass", first: str = "") -> subprocess.Popen[str]:
    # Whoever runs the tests may ignore the end of the terminal, which a child would inherit.
    heeding = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    script = heeding + first + _SCRIPT.format(before=before, cleanup=cleanup)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_interrupts(number: signal.Signals) -> None:
    process = started()
    process.send_signal(number)
    assert process.communicate(timeout=10)[0] == "interrupted\nclean\n"
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_an_object_is_finalized(number: signal.Signals) -> None:
    finalized = f"""\
import os
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), {number})
        sum(range(1000))
"""
    process = started(before="Finalized()", first=finalized)
    assert process.communicate(timeout=10)[0] == "interrupted\nclean\n"


def test_what_else_is_ignored_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    class Finalized:
        def __del__(self) -> None:
            raise ValueError("a defect")

    told: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda ignored: told.append(ignored.exc_value)
    try:
        with Interruption():
            Finalized()
        assert [str(problem) for problem in told] == ["a defect"]
    finally:
        sys.unraisablehook = before


def test_a_signal_that_somebody_swallows_is_remembered() -> None:
    swallowing = """\
try:
            os.kill(os.getpid(), 15)
            time.sleep(1)
        except BaseException:
            pass
        print("ready", flush=True)
        time.sleep(0.5)
        interruption.check()
"""
    process = started(before=swallowing, first="import os\n")
    assert process.communicate(timeout=10)[0] == "interrupted\nclean\n"


def test_the_second_signal_ends_the_process_at_once() -> None:
    process = started(cleanup="time.sleep(20)")
    process.send_signal(signal.SIGINT)
    assert process.stdout
    assert process.stdout.readline() == "interrupted\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=10)[0] == ""
    assert process.returncode == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_run_counts_too(number: signal.Signals) -> None:
    # As above: shells let what they start in the background ignore Ctrl-C.
    script = f"""\
import os, signal, sys, time, types
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
def run(args):
    os.kill(os.getpid(), {number})
    time.sleep(20)
sys.modules["clinker.cli.clinker_run"] = types.SimpleNamespace(run=run)
from clinker.cli.clinker import main
sys.exit(main(["run", "pipeline.yaml"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_what_is_being_put_in_place_is_not_interrupted() -> None:
    process = started(before="interruption.too_late()")
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130


def test_a_run_under_nohup_survives_the_end_of_its_terminal() -> None:
    process = started(first="import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=10)[0] == "interrupted\nclean\n"


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("times", [1, 2])
def test_a_code_that_stands_is_that_of_the_process(number: signal.Signals, times: int) -> None:
    script = f"""\
import os, signal, sys, types
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from clinker.cli.signals import Interruption
def run(args):
    with Interruption() as interruption:
        interruption.stands(2)
        for _ in range({times}):
            os.kill(os.getpid(), {number})
    os.kill(os.getpid(), {number})
    return 2
sys.modules["clinker.cli.clinker_run"] = types.SimpleNamespace(run=run)
from clinker.cli.clinker import main
sys.argv = ["clinker", "run", "pipeline.yaml"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["atexit.register(kill)", "sys.last = Finalized()"])
def test_a_signal_while_python_ends(number: signal.Signals, moment: str) -> None:
    script = f"""\
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
def kill(kill=os.kill, process=os.getpid()):
    kill(process, {number})
class Finalized:
    def __del__(self, kill=kill):
        kill()
from clinker.cli.clinker import main
sys.argv = ["clinker", "explain", "--code", "E200"]
{moment}
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_signal_while_the_python_of_a_background_job_ends() -> None:
    """Shells let it ignore Ctrl-C, and a run heeds it all the same."""
    script = """\
import os, signal, sys, types
signal.signal(signal.SIGINT, signal.SIG_IGN)
from clinker.cli.clinker import main
from clinker.cli.signals import Interruption
class Finalized:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGINT):
        kill(process, number)
def run(args):
    with Interruption() as interruption:
        interruption.stands(2)
    return 2
sys.modules["clinker.cli.clinker_run"] = types.SimpleNamespace(run=run)
sys.argv = ["clinker", "run", "pipeline.yaml"]
sys.last = Finalized()
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")


def test_a_command_that_is_called_by_a_program_puts_handlers_back() -> None:
    script = """\
import signal
from clinker.cli.clinker import main
numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
before = [signal.getsignal(number) for number in numbers]
main(["explain", "--code", "E200"])
assert [signal.getsignal(number) for number in numbers] == before
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


@pytest.fixture(scope="module")
def remote() -> Iterator[str]:
    with server() as url:
        yield url


def test_whole_runs_whose_files_are_in_place(tmp_path: Path, remote: str) -> None:
    ended: list[tuple[int, str]] = []
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    for delay in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        place = tmp_path / str(delay)
        site = Site(place, "--remote", remote)
        process = site.start()
        while process.poll() is None and not (place / OUTPUTS[-1]).exists():
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(numbers[len(ended) % len(numbers)])
        ended.append((process.wait(), (place / "errors").read_text()))
        shutil.rmtree(place)
    assert ended == [(2, "")] * len(ended)
