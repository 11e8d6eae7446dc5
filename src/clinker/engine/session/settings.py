"""What a run asks of the engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from clinker.engine_names import EngineName
from clinker.frozen import frozen

DEFAULT_MEMORY = 512 * 2**20
DEFAULT_BATCH = 16_384
_HERE = r"local(\[(\d+|\*)(, *\d+)?\])?"
"""Masters that need no other process; `local-cluster[…]` is a cluster on this machine."""


class SessionError(Exception):
    """The engine cannot be started or used; the message is for the user."""


@frozen(kw_only=True)
class SessionSettings:
    """Where a pipeline runs and what it may use there.

    Without `master` and `remote` it runs on this machine: Spark in a JVM of its own, Sail in this
    process.
    """

    engine: EngineName = "spark"
    master: str | None = None
    remote: str | None = None
    threads: int | None = None
    memory_limit: int = DEFAULT_MEMORY
    batch_size: int = DEFAULT_BATCH
    local_dir: Path | None = None
    """Where Spark spills; the system's directory for temporary files if not given."""
    compress: bool = True
    """Whether what Spark spills and shuffles is compressed."""
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    """The user's own Spark settings; they win over ours."""
    brief: bool = False
    """Whether little is to be read, so that starting takes longer than computing."""
    debug: bool = False
    """Whether Spark's log goes to standard error."""

    @property
    def is_local(self) -> bool:
        return self.remote is None and re.fullmatch(_HERE, self.master or "local") is not None
