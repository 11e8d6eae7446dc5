"""What came of a round."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TypeAlias

Files: TypeAlias = Mapping[str, bytes]
"""Contents by path."""


class Verdict(enum.Enum):
    SURVIVED = "survived"
    LOST = "lost"
    MIXED = "mixed"
    LEFTOVERS = "leftovers"
    WRONG_CODE = "wrong exit code"


def judged(found: Files, before: Files, *after: Files) -> Verdict:
    """Whether the files are all as they were before, or all as one of the runs left them."""
    states = (before, *after)
    visible = {name: data for name, data in found.items() if not _is_aside(name)}
    if visible in states:
        return Verdict.SURVIVED if len(visible) == len(found) else Verdict.LEFTOVERS
    versions = {name: {state.get(name) for state in states} for name in set().union(*states)}
    is_known = all(visible.get(name) in known for name, known in versions.items())
    is_known &= visible.keys() <= versions.keys()
    return Verdict.MIXED if is_known else Verdict.LOST


def _is_aside(name: str) -> bool:
    return any(part.startswith((".clinker-", "clinker-run-")) for part in name.split("/"))
