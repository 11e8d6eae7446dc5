"""What goes wrong inside the engine, in words for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from clinker.diagnostics import Diagnostic
from clinker.engine.report import Exit, RunError
from clinker.engine.session.jvm import Jvm
from clinker.engine.session.secrets import hide_secrets
from clinker.engine.session.settings import SessionSettings
from clinker.plan.explain.as_text import size

_OUT_OF_MEMORY = re.compile(
    r"OutOfMemory|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY"
    r"|Python worker exited unexpectedly|TaskResultLost"
)
_OUT_OF_DISK = re.compile(r"No space left on device")
_OURS = re.compile(r"^clinker\.[\w.]+Error: (.+)$", re.MULTILINE)
"""An error for the user that a task raised, in the stack trace that brings it here."""
_GONE = re.compile(
    r"Answer from Java side is empty|Error while sending or receiving|UNAVAILABLE"
    r"|^An error occurred while calling \S+\Z"  # without a word why
)
_CALLED = re.compile(r"^An error occurred while calling \S+\n: ")
_LONGEST = 300


@contextmanager
def engine_errors(settings: SessionSettings, jvm: Jvm | None = None) -> Iterator[None]:
    """Whatever Spark raises inside becomes a `RunError`; `jvm` is the one it runs in, if ours."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as problem:
        raise failure(problem, settings, jvm) from problem


def failure(problem: Exception, settings: SessionSettings, jvm: Jvm | None = None) -> RunError:
    """The error for the user that an error of the engine stands for."""
    from clinker.engine.scan import format_error

    unreadable = format_error(problem)
    if unreadable:
        return RunError(str(unreadable), Exit.IO, help=unreadable.help)
    text = hide_secrets(_CALLED.sub("", str(problem)), settings)
    if ours := _OURS.findall(text):
        return RunError(ours[-1], Exit.IO)
    if _OUT_OF_DISK.search(text):
        where = settings.local_dir or "the disk for temporary files"
        return _diagnosed(
            "E321",
            f"no space left on {where}",
            Exit.IO,
            "make room, or set storage.spill.dir in clinker.toml to another disk",
        )
    is_gone = isinstance(problem, ConnectionError) or _GONE.search(text)
    if _OUT_OF_MEMORY.search(text) or (is_gone and jvm and jvm.ran_out_of_memory()):
        return _diagnosed(
            "E310",
            f"the run exceeded the memory limit of {size(settings.memory_limit)}",
            Exit.CONFIGURATION,
            "raise it with --memory-limit or memory.limit in the pipeline",
        )
    if is_gone:
        help = "it may have run out of memory, or was killed; try a larger --memory-limit"
        return RunError("Spark ended before the run did", Exit.IO, help=help)
    first = next((line for line in text.splitlines() if line.strip()), type(problem).__name__)
    shown = first if len(first) <= _LONGEST else first[: _LONGEST - 1] + "…"
    help = "run again with --log-level debug for the details"
    return RunError(f"Spark failed: {shown}", Exit.CONFIGURATION, help=help)


def _diagnosed(code: str, message: str, exit_code: int, help: str) -> RunError:
    return RunError(message, exit_code, [Diagnostic(code, message, help=help)])
