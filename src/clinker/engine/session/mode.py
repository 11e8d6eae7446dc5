"""Which kind of columns pyspark's functions make: those of Spark Connect, or those of a JVM."""

from __future__ import annotations

import os
from collections.abc import Callable

# Set, it stands for Connect; child processes inherit it from those that use Connect.
_VARIABLE = "SPARK_CONNECT_MODE_ENABLED"


def enter_mode(*, connect: bool) -> Callable[[], None]:
    """Choose for this process; gives what undoes it."""
    before = os.environ.get(_VARIABLE)
    _set("1" if connect else None)
    return lambda: _set(before)


def _set(value: str | None) -> None:
    if value is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = value
