"""Signals that end a command: the first one cancels it, a second one ends the process at once.

Once the outcome of a command is certain, no signal changes its exit code.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_REPEAT_SECONDS = 0.02
_SHOW_CURSOR = b"\x1b[?25h"


class Heeding:
    """A command that heeds signals, for as long as it has not ended.

    They raise `KeyboardInterrupt`, unless whoever started the process had them ignored.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._received = 0
        self._is_over = False
        for number in _ENDING:
            before = signal.getsignal(number)
            if before in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = before
                signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received += 1
        if self._is_over:
            return
        if self._received > 1:
            os._exit(INTERRUPTED)
        raise KeyboardInterrupt

    def end(self, *, with_process: bool) -> None:
        """Heed them no more; if the process ends as well, nobody will.

        While it ends, Python would let them kill it, whatever the exit code was to be: those, too,
        that were ignored before an `Interruption` heeded them.
        """
        self._is_over = True
        after = dict.fromkeys(_ENDING, signal.SIG_IGN) if with_process else self._before
        for number, handler in after.items():
            signal.signal(number, handler)


@contextmanager
def broken_connections_told() -> Iterator[None]:
    """A connection to Spark that breaks is an error to report, not a reason to vanish."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


class Interrupted(KeyboardInterrupt):
    """The user, or the system, wants the run to end.

    It is raised wherever the main thread happens to be, also inside of calls into Spark, whose
    libraries let a KeyboardInterrupt through and would take any `Exception` for one of their own.
    Python ignores it where an object is being finalized, as those of Spark often are; there it is
    raised again a moment later.
    """


class Interruption:
    """While it is entered, signals that would end the process raise `Interrupted` instead.

    Once the exit code of the run stands, they do nothing any more, also when it is left: then the
    command is about to end, see `Heeding`.
    """

    def __init__(self) -> None:
        self._received = 0
        self._is_too_late = False
        self._code: int | None = None
        self._before: dict[int, Any] = {}
        self._tell_ignored = sys.unraisablehook

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._tell_ignored, sys.unraisablehook = sys.unraisablehook, self._repeat_ignored
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._raise_again)
            for number in _ENDING:
                self._install(number)
        return self

    def _install(self, number: int) -> None:
        before = signal.getsignal(number)
        if number == getattr(signal, "SIGHUP", None) and before == signal.SIG_IGN:
            return  # nohup
        self._before[number] = signal.signal(number, self._receive)

    def check(self) -> None:
        """Raise `Interrupted` if a signal was received, whatever has become of it since."""
        if self._received:
            raise Interrupted

    def too_late(self) -> None:
        """From here on the run is finished rather than cancelled."""
        self._is_too_late = True

    def stands(self, code: int) -> None:
        """From here on the run ends with this code, at once if a second signal wants it to."""
        self._is_too_late = True
        self._code = code

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received += 1
        if self._received > 1:
            if sys.stderr.isatty():
                os.write(sys.stderr.fileno(), _SHOW_CURSOR)
            # The JVM ends by itself when this process is gone.
            os._exit(INTERRUPTED if self._code is None else self._code)
        if not self._is_too_late:
            raise Interrupted

    def _repeat_ignored(self, ignored: sys.UnraisableHookArgs) -> None:
        if isinstance(ignored.exc_value, Interrupted):
            signal.setitimer(signal.ITIMER_REAL, _REPEAT_SECONDS)
        else:
            self._tell_ignored(ignored)

    def _raise_again(self, number: int, frame: FrameType | None) -> None:
        if frame and frame.f_code is Interruption._repeat_ignored.__code__:
            # It would be ignored there as well.
            signal.setitimer(signal.ITIMER_REAL, _REPEAT_SECONDS)
        elif not self._is_too_late:
            raise Interrupted

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = self._tell_ignored
        if self._code is not None:
            return
        for number, before in self._before.items():
            signal.signal(number, before)
