"""Frames of other libraries, read in place of the files of sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import pyarrow as pa

from clinker.config.nodes import SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.cxl.failure import printable
from clinker.diagnostics.suggest import did_you_mean
from clinker.engine.report.facts import Exit, RunError
from clinker.formats.common.read_spec import FRAME, FormatError
from clinker.formats.files.spool import Spool
from clinker.formats.parquet.spooling import spool_frame
from clinker.formats.registry import FORMATS
from clinker.plan.compile import Plan
from clinker.plan.options import GivenFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@runtime_checkable
class ArrowStream(Protocol):
    """A frame of any library that hands over its rows as Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


def with_frames(plan: Plan, frames: Mapping[str, ArrowStream], spool: Spool) -> Plan:
    """A plan whose sources read these frames instead of their files.

    ValueError if there is no such source, or its frame has no records; TypeError for what is no
    frame.
    """
    known = {unit.name: node.config for unit, node in plan.graph.of(SourceNode)}
    for name, frame in frames.items():
        if name not in known:
            help = did_you_mean(name, known) or f"its sources are: {', '.join(known)}"
            raise ValueError(f"the pipeline has no source '{printable(name)}'; {help}")
        if not isinstance(frame, ArrowStream):
            raise TypeError(
                f"source '{name}' was given a {type(frame).__name__}, not a frame of pandas, "
                "Polars, Arrow or Spark"
            )
    given = {name: _spooled(name, frame, known[name], spool) for name, frame in frames.items()}
    return replace(plan, options=replace(plan.options, given={**plan.options.given, **given}))


def session_of(frames: Mapping[str, ArrowStream]) -> SparkSession | None:
    """The session of the first frame of Spark; one process has no room for another."""
    found = (frame for frame in frames.values() if _is_of_spark(frame))
    return next((frame.sparkSession for frame in found), None)  # type: ignore[attr-defined]


def _is_of_spark(frame: ArrowStream) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.")


def _spooled(source: str, frame: ArrowStream, config: SourceConfig, spool: Spool) -> GivenFile:
    try:
        path = spool_frame(_rows(frame), config, spool)
    except FormatError as problem:
        raise RunError(str(problem), Exit.IO, help=problem.help) from problem
    except (pa.ArrowException, UnicodeError, ValueError) as problem:
        reason = printable(str(problem))
        raise ValueError(f"the frame for source '{source}' cannot be read: {reason}") from problem
    return GivenFile(path, FRAME, format=FORMATS["parquet"])


def _rows(frame: ArrowStream) -> pa.RecordBatchReader:
    """The rows in their order; those of Spark are collected, since its own stream needs workers
    and reads a dot in a name as a path."""
    if _is_of_spark(frame):
        frame = frame.toArrow()  # type: ignore[attr-defined]
    return pa.RecordBatchReader.from_stream(frame)
