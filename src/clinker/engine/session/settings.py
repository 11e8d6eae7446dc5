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


_LITTLE_INPUT = 32 * 2**20
"""Up to so many bytes a run ends before Java's optimizing compiler has paid off."""


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
    input_size: int | None = None
    """How many bytes are to be read, if that is known."""
    debug: bool = False
    """Whether Spark's log goes to standard error."""
    ships_environment: bool = False
    """Whether the workers of a cluster get the packages that are installed here."""

    @property
    def is_brief(self) -> bool:
        """Whether so little is to be read that starting takes longer than computing."""
        return self.input_size is not None and self.input_size <= _LITTLE_INPUT

    @property
    def is_local(self) -> bool:
        return self.remote is None and re.fullmatch(_HERE, self.master or "local") is not None
