"""No module is imported from the working directory, where anybody may have put a `json.py`."""

from __future__ import annotations

import os
import sys


def forget_working_directory() -> None:
    """Undo an empty entry of `PYTHONPATH`, which is easily made (`PYTHONPATH=$PYTHONPATH:/lib`)."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if len(entries) == 1 or "" not in entries:
        return
    try:
        here = os.getcwd()  # noqa: PTH109, pathlib would be imported from there
    except FileNotFoundError:
        return
    if here not in entries:
        sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
