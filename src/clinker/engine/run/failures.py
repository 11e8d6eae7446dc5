"""What goes wrong inside the engine, in words for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.at_work import AtWork
from clinker.engine.run.watch import Watch
from clinker.engine.session.jvm import Jvm
from clinker.engine.session.memory import LEAST_FOR_LITTLE, LEAST_FOR_MUCH, SMALLEST_LIMIT
from clinker.engine.session.secrets import hide_secrets
from clinker.engine.session.settings import SessionSettings
from clinker.engine_names import TITLES
from clinker.plan.explain.as_text import size
from clinker.plan.files.storage import why_unusable

_OUT_OF_MEMORY = re.compile(
    r"OutOfMemory|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY"
    r"|^(?:pyarrow\.lib\.Arrow)?MemoryError\b"
    r"|exceeding (?:\w+ )?memory limits|OOMKilled"
    r"|^Resources exhausted\b",
    re.MULTILINE,
)
_WORKER_ENDED = "Python worker exited unexpectedly"
_RESULT_LOST = "TaskResultLost"
_EXECUTOR_LOST = re.compile(rf"(?:ExecutorLostFailure .*Reason: (.+)|{_RESULT_LOST})")
_MISSING_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)
_OTHER_PYTHON = re.compile(r"Python in worker has different version: ([\d.]+) than .*: ([\d.]+\d)")
_DISK_FULL = {
    "No space left on device": "no space left on {}",
    "Disk quota exceeded": "this user's disk quota is used up on {}",
    "File too large": "a file is larger than processes may write here (ulimit -f), on {}",
}
"""How the system says that no more can be written, and what that means."""
_OUT_OF_DISK = re.compile("|".join(_DISK_FULL))
_OURS = re.compile(r"^clinker\.[\w.]+Error: (.+)$", re.MULTILINE)
"""An error for the user that a task raised, in the stack trace that brings it here."""
_GONE = re.compile(
    r"Answer from Java side is empty|Error while sending or receiving|UNAVAILABLE"
    r"|^An error occurred while calling \S+\Z"  # without a word why
)
_CALLED = re.compile(r"^An error occurred while calling \S+\n: ")
_LONGEST = 300


@contextmanager
def engine_errors(
    settings: SessionSettings, jvm: Jvm | None = None, watch: Watch | None = None
) -> Iterator[None]:
    """Whatever Spark raises inside becomes a `RunError`; `jvm` is the one it runs in, if ours."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as problem:
        raise failure(problem, settings, jvm, watch.at_work if watch else None) from problem


def memory_problem(settings: SessionSettings) -> Diagnostic | None:
    """What is wrong if an engine on this machine needs more than the limit, whatever it does."""
    limit, smallest = settings.memory_limit, size(SMALLEST_LIMIT)
    if not settings.is_local or limit >= SMALLEST_LIMIT:
        return None
    message = f"a memory limit of {size(limit)} is less than the {smallest} that the engine needs"
    help = f"the smallest limit is {smallest}: set it with --memory-limit or memory.limit"
    return Diagnostic("E312", message, help=help)


def memory_warning(settings: SessionSettings, *, is_little: bool) -> str | None:
    """What to say if a run, of little input or much, is sure to take more than its limit."""
    limit = settings.memory_limit
    if not settings.is_local or limit >= (LEAST_FOR_LITTLE if is_little else LEAST_FOR_MUCH):
        return None
    others = "Python takes" if settings.engine == "sail" else "Java and Python take"
    return f"a memory limit of {size(limit)} is kept by records only: {others} more"


def failure(
    problem: Exception,
    settings: SessionSettings,
    jvm: Jvm | None = None,
    at_work: AtWork | None = None,
) -> RunError:
    """The error for the user that an error of the engine stands for."""
    from clinker.engine.reading.scan import format_error

    text = _text(problem)
    unreadable = format_error(text)
    if unreadable:
        return RunError(str(unreadable), Exit.IO, help=unreadable.help)
    text = hide_secrets(_CALLED.sub("", text), settings)
    if ours := _OURS.findall(text):
        return RunError(ours[-1], Exit.IO)
    if full := _OUT_OF_DISK.search(text):
        where = settings.local_dir or "the disk for temporary files"
        return _diagnosed(
            "E321",
            _DISK_FULL[full[0]].format(where),
            Exit.IO,
            "make room, or set storage.spill.dir in clinker.toml to another disk",
        )
    if jvm and (reason := why_unusable(jvm.directory.spill)):
        return _lost_directory(jvm.directory.spill, reason)
    title = TITLES[settings.engine]
    is_gone = isinstance(problem, ConnectionError) or _GONE.search(text) is not None
    return (
        _memory_failure(text, is_gone, settings, jvm, at_work)
        or _unfit_worker(text)
        or _lost_process(text, is_gone, jvm, title)
        or _other_failure(text, problem, title)
    )


def _lost_directory(directory: Path, reason: str) -> RunError:
    message = f"the directory for spilled data became unavailable: {directory} {reason}"
    help = (
        "it may have been unmounted, remounted read-only or removed by a cleaner, "
        "or its permissions were taken away"
    )
    return RunError(message, Exit.IO, help=help)


def _memory_failure(
    text: str,
    is_gone: bool,
    settings: SessionSettings,
    jvm: Jvm | None,
    at_work: AtWork | None,
) -> RunError | None:
    # On this machine nobody but Spark itself, short of memory, drops results.
    is_dropped = settings.is_local and _RESULT_LOST in text
    if (
        _OUT_OF_MEMORY.search(text)
        or is_dropped
        or (is_gone and jvm is not None and jvm.ran_out_of_memory())
    ):
        if at_work:
            return at_work.memory_exceeded(settings.memory_limit)
        return _diagnosed(
            "E310",
            f"the run exceeded the memory limit of {size(settings.memory_limit)}",
            Exit.CONFIGURATION,
            "raise it with --memory-limit or memory.limit in the pipeline",
        )
    if (is_gone or _WORKER_ENDED in text) and jvm is not None and jvm.was_memory_short():
        return _diagnosed(
            "E310",
            "the machine ran out of memory, and the system killed a process of the run",
            Exit.CONFIGURATION,
            "make memory free, or use less of it with --threads or --memory-limit",
        )
    return None


def _unfit_worker(text: str) -> RunError | None:
    """What is wrong with the Python of a cluster's workers."""
    if missing := _MISSING_MODULE.search(text):
        message = f"Spark's workers cannot import '{missing[1]}', which their Python lacks"
        help = "install clinker-spark there as well, or send what is installed here with --ship-env"
    elif other := _OTHER_PYTHON.search(text):
        message = f"Spark's workers run Python {other[1]}, and this is {other[2]}"
        help = "have PYSPARK_PYTHON name a Python of the same version on the cluster's machines"
    else:
        return None
    return RunError(message, Exit.IO, help=help)


def _lost_process(text: str, is_gone: bool, jvm: Jvm | None, title: str) -> RunError | None:
    if is_gone:
        killer = jvm.killed_by() if jvm else None
        message = f"{title} ended before the run did" + (
            f": {killer} killed Java" if killer else ""
        )
        help = "it may have run out of memory, or was killed; try a larger --memory-limit"
    elif _WORKER_ENDED in text:
        message = "a Python worker of Spark ended unexpectedly: it was killed, or it crashed"
        help = "run again; if it happens again, the log of the system may tell who killed it"
    elif lost := _EXECUTOR_LOST.search(text):
        why = printable(lost[1] or "it was killed, or it crashed")
        message = f"Spark lost an executor of the run: {why}"
        help = "run again; if it happens again, the log of the cluster tells more"
    else:
        return None
    return RunError(message, Exit.IO, help=help)


def _other_failure(text: str, problem: Exception, title: str) -> RunError:
    first = next((line for line in text.splitlines() if line.strip()), type(problem).__name__)
    cut = first if len(first) <= _LONGEST else first[: _LONGEST - 1] + "…"
    help = "run again with --log-level debug for the details"
    return RunError(f"{title} failed: {printable(cut)}", Exit.IO, help=help)


def _text(problem: Exception) -> str:
    """What an error says. That of an error in Java has to be asked for, which may be too late."""
    from py4j.protocol import Py4JError

    try:
        return str(problem)
    except (Py4JError, ConnectionError):
        return "Answer from Java side is empty"


def _diagnosed(code: str, message: str, exit_code: int, help: str) -> RunError:
    return RunError(message, exit_code, [Diagnostic(code, message, help=help)])
