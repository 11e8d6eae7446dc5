"""The Spark settings of a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from clinker.engine.session.batches import MAX_BYTES, MAX_RECORDS
from clinker.engine.session.memory import AMPLE, MemorySplit, batch_size, split_memory
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine.session.workspace import SPILL

_LARGEST_LOCAL = "spark.sql.execution.arrow.localRelationThreshold"
"""How large tables may be that Spark holds as rows, not as the Arrow data they come as: that is
faster to plan with, but many times as large."""
TIME_ZONE = "spark.sql.session.timeZone"
REQUIRED = {
    TIME_ZONE: "UTC",
    "spark.sql.caseSensitive": "true",
}
"""Without these a pipeline would give other results."""
_MOST_PARTITIONS = 2000
_LEAST_OF_EXECUTOR = 256
"""MiB of heap without which executors of a cluster do not come up."""
_FOLDER = "clinker-env"
"""Where workers unpack the packages that are sent to them, below their working directory."""
DAEMON = "clinker.engine.session.daemon"
UNSUBSTITUTED = {"spark.sql.variable.substitute": "false"}
"""With it Spark would put environment variables, passwords included, in the place of names such as
`${env:NAME}`, which may come from the header of a file."""


def runtime_conf(settings: SessionSettings) -> dict[str, str]:
    """What can be set on any session, a remote one included."""
    chosen = {name: value for name, value in settings.spark_conf.items() if _is_runtime(name)}
    return _runtime_defaults(settings) | chosen | REQUIRED | UNSUBSTITUTED


def _runtime_defaults(settings: SessionSettings) -> dict[str, str]:
    return {
        MAX_RECORDS: str(settings.batch_size),
        MAX_BYTES: f"{batch_size(settings.memory_limit)}m",
        _LARGEST_LOCAL: "1m",
        # What workers read, Spark takes for next to nothing until it has seen it, and would send
        # gigabytes through the heap to every task. What is known to be small is marked.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold": "10m",
    }


def _is_runtime(name: str) -> bool:
    return name.startswith("spark.sql.")


def session_conf(
    settings: SessionSettings, directory: Path, environment: Path | None = None
) -> dict[str, str]:
    """The settings a session of our own starts with; `environment` is for its workers."""
    if "," in str(directory):
        message = f"Spark takes the comma in '{directory.parent}' for the end of a directory's name"
        raise SessionError(f"{message}: set storage.spill.dir in clinker.toml to another one")
    memory = memory_split(settings)
    compress = str(settings.compress).lower()
    conf = {
        "spark.app.name": "clinker",
        "spark.master": master(settings),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(directory / SPILL),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.shuffle.compress": compress,
        "spark.shuffle.spill.compress": compress,
        "spark.testing.reservedMemory": str(memory.reserved),
        **_runtime_defaults(settings),
    }
    if settings.memory_limit < AMPLE:
        conf |= _sparing(memory)
    if settings.is_local:
        conf |= {
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            # Who else is on this machine could otherwise hand objects to our Java.
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
            "spark.network.crypto.saslFallback": "false",
            "spark.python.daemon.module": DAEMON,
            "spark.sql.shuffle.partitions": str(_shuffle_partitions(settings, memory)),
        }
    else:
        conf |= {
            "spark.executor.memory": f"{max(memory.heap // 2**20, _LEAST_OF_EXECUTOR)}m",
            "spark.executorEnv.PYTHONSAFEPATH": "1",
        }
    shipped = _shipped(environment, settings.spark_conf) if environment else {}
    return conf | dict(settings.spark_conf) | shipped | REQUIRED | UNSUBSTITUTED


def _shipped(environment: Path, chosen: Mapping[str, str]) -> dict[str, str]:
    """Workers unpack the archive and import from there, besides what the user sends them."""
    ours = {
        "spark.archives": (f"{environment.as_uri()}#{_FOLDER}", ","),
        "spark.executorEnv.PYTHONPATH": (_FOLDER, ":"),
    }
    return {
        name: separator.join(filter(None, (value, chosen.get(name))))
        for name, (value, separator) in ours.items()
    }


def master(settings: SessionSettings) -> str:
    return settings.master or f"local[{memory_split(settings).tasks}]"


def memory_split(settings: SessionSettings) -> MemorySplit:
    """What of the memory limit is for what; on a cluster each task has its machine's."""
    return split_memory(settings.memory_limit, cores(settings) if settings.is_local else 1)


def _shuffle_partitions(settings: SessionSettings, memory: MemorySplit) -> int:
    """So many that all cores have work, and that each is spilled in a few pieces only."""
    by_size = -(-(settings.input_size or 0) // memory.of_partition)
    return max(2 * cores(settings), 4, min(by_size, _MOST_PARTITIONS))


def _sparing(memory: MemorySplit) -> dict[str, str]:
    """What a small heap has no room for: large partitions, and spilled data read ahead of time."""
    return {
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": str(memory.of_partition // 2),
        "spark.unsafe.sorter.spill.read.ahead.enabled": "false",
    }


def cores(settings: SessionSettings) -> int:
    if settings.threads:
        return settings.threads
    if hasattr(os, "sched_getaffinity"):  # a container may have fewer than the machine
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
