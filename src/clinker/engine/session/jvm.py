"""Spark's JVM as a child of this process.

It lives in a session of its own, so that a Ctrl-C at the terminal reaches only us, and it ends
when the pipe to its standard input closes, however this process comes to its end.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from clinker.engine.session import aot
from clinker.engine.session.allocation import allocation_variables
from clinker.engine.session.command import (
    argument_file,
    class_path,
    fixed_flags,
    program,
    run_flags,
)
from clinker.engine.session.conf import session_conf
from clinker.engine.session.java import find_java
from clinker.engine.session.kernel import out_of_memory_kills
from clinker.engine.session.secrets import hide_secrets
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine.session.unsigned import unsigned_copies
from clinker.engine.session.workspace import ARGUMENTS, RunDirectory

PACKAGE_ROOT = Path(__file__).parents[3]
_START_SECONDS = 120
_STOP_SECONDS = 10
_LAST_SECONDS = 2
_OUT_OF_MEMORY = 3
"""What a JVM exits with that is told to exit when its heap is full."""
_LOG = "jvm.log"
_GATEWAY = "gateway"


class Jvm:
    """A JVM that is starting or running, with the directory of its run."""

    def __init__(self, settings: SessionSettings, train: Path | None = None) -> None:
        self.settings = settings
        self.java = find_java(os.environ)
        self.directory = RunDirectory(settings.local_dir)
        self.is_cold = False
        """Whether it would start faster if the machine were prepared for it."""
        self._kills_before = out_of_memory_kills()
        try:
            self._process = self._start(train)
        except OSError as problem:
            self.directory.remove()
            raise SessionError(
                f"cannot start '{self.java.executable}': {problem.strerror}"
            ) from problem
        except SessionError:
            self.directory.remove()
            raise
        self._end = weakref.finalize(self, _kill, self._process, self.directory)

    def _start(self, train: Path | None) -> subprocess.Popen[bytes]:
        path = self.directory.path
        self.directory.spill.mkdir(mode=0o700)
        spark = spark_home()
        flags = fixed_flags(self.java)
        self.is_cold = aot.is_missing(self.java, flags, spark)
        cache = aot.training_flags(train) if train else aot.flags(self.java, flags, spark)
        # As soon as there is a cache it is used with the jars that it was made with.
        known = aot.cache_file(self.java, flags, spark) if cache else None
        copies = unsigned_copies(known) if known else {}
        conf = session_conf(self.settings, path, self._environment_to_ship())
        properties, main = program(self.settings, conf)
        arguments = [
            *flags,
            *cache,
            *run_flags(self.settings, path),
            *properties,
            "-cp",
            class_path(spark / "jars", self.settings, os.environ, copies),
            *main,
        ]
        file = path / ARGUMENTS
        file.touch(mode=0o600)
        file.write_text(argument_file(arguments), encoding="utf-8")
        with self._log() as log:
            return subprocess.Popen(
                [str(self.java.executable), f"@{file}"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environment(path, spark),
                start_new_session=True,
            )

    def _environment_to_ship(self) -> Path | None:
        if not self.settings.ships_environment:
            return None
        from clinker.engine.session.environment import packed_environment

        return packed_environment()

    def _log(self) -> IO[bytes]:
        if self.settings.debug:
            return os.fdopen(os.dup(2), "wb")
        return (self.directory.path / _LOG).open("wb")

    def _environment(self, path: Path, spark: Path) -> dict[str, str]:
        # An empty entry would be the working directory.
        python_path = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        environment = {
            **os.environ,
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(path / _GATEWAY),
            "SPARK_CONNECT_MODE": "0",
            "PYTHONPATH": os.pathsep.join([str(PACKAGE_ROOT), *python_path]),
            "PYTHONSAFEPATH": "1",  # workers import nothing from the working directory
            "TMPDIR": str(path),
            **allocation_variables(self.settings.memory_limit),
        }
        if self.settings.is_local:
            # Workers would import Spark's zipped copy of pyspark, which is slower.
            environment.pop("SPARK_HOME", None)
            environment["PYSPARK_PYTHON"] = sys.executable
        else:
            environment.setdefault("SPARK_HOME", str(spark))
        return environment

    @property
    def process_id(self) -> int:
        return self._process.pid

    def address(self) -> tuple[int, str]:
        """Port and secret of the gateway, as soon as the JVM has one."""
        file = self.directory.path / _GATEWAY
        deadline = time.monotonic() + _START_SECONDS
        while not file.exists():
            if self._process.poll() is not None:
                raise SessionError(f"Java ended while Spark was starting{self.last_words()}")
            if time.monotonic() > deadline:
                raise SessionError(f"Spark did not start in {_START_SECONDS} s{self.last_words()}")
            time.sleep(0.005)
        content = file.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        return port, content[8 : 8 + length].decode()

    def last_words(self, lines: int = 5) -> str:
        """The end of what the JVM printed, to be appended to a message."""
        try:
            printed = (self.directory.path / _LOG).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        shown = hide_secrets(printed, self.settings)
        said = [line for line in shown.splitlines() if not line.startswith("\tat ")]
        return "".join(f"\n  {line}" for line in said[-lines:])

    def ran_out_of_memory(self) -> bool:
        """Whether that is how the JVM, which does not answer any more, has ended."""
        return self._last_code() == _OUT_OF_MEMORY

    def was_memory_short(self) -> bool:
        """Whether the system has killed processes for want of memory since the JVM was started."""
        return out_of_memory_kills() > self._kills_before

    def killed_by(self) -> str | None:
        """The signal that ended the JVM, if one did."""
        code = self._last_code()
        return signal.Signals(-code).name if code is not None and code < 0 else None

    def _last_code(self) -> int | None:
        try:
            return self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def finish(self, seconds: float = _STOP_SECONDS) -> None:
        """Let the JVM end by itself: it reports to a cluster, or writes what it was asked to."""
        if self._process.stdin:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """End the JVM at once and remove what it leaves on disk."""
        self._end()


def _kill(process: subprocess.Popen[bytes], directory: RunDirectory) -> None:
    process.kill()
    process.wait()
    if process.stdin:
        process.stdin.close()
    directory.remove()


def spark_home() -> Path:
    """Where pyspark, with Spark's jars, is installed; found without importing it."""
    found = find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise SessionError("pyspark is not installed: run 'pip install pyspark'")
    return Path(found.submodule_search_locations[0])
