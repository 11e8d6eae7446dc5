"""What processes of our own do without."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Pandas(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("clinker has no use for pandas", name=name)
        return None


_PANDAS = _Pandas()


def leave_out_pandas() -> None:
    """Keep libraries from importing pandas, which they do wherever it is installed.

    It would take half a second and 50 MB. Only for processes in which no code of users runs.
    """
    sys.meta_path.insert(0, _PANDAS)


def admit_pandas() -> None:
    """Let libraries import it after all: Spark Connect insists on it."""
    if _PANDAS in sys.meta_path:
        sys.meta_path.remove(_PANDAS)
