"""Whether the engine is still there after what was asked of it."""

from __future__ import annotations

from clinker.engine.session.session import Session
from fuzz.findings import judged

_PATIENCE = 60.0


def answers(session: Session) -> bool:
    """Whether the engine computes anything at all; if not, it has ended."""
    return judged(lambda: session.spark.range(1).collect(), _PATIENCE) is None
