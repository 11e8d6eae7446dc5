"""How Parquet files are written; what they are like that are read, they say themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.parquet import ParquetWriting
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig


@frozen
class ParquetDialect:
    """There is nothing to know."""


@frozen(kw_only=True)
class ParquetWriteDialect:
    """How values are compressed, and how many records a group of rows has at most."""

    compression: Literal["zstd", "snappy", "gzip", "none"] = "zstd"
    level: int | None = None
    row_group_size: int = 1 << 20
    decimals: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Columns of numbers that are written as decimals: their digits, and those behind the point."""


def read_dialect(config: SourceConfig, layout: Layout | None) -> ParquetDialect:
    return ParquetDialect()


def write_dialect(config: OutputConfig, layout: Layout | None) -> ParquetWriteDialect:
    options = cast("ParquetWriting", config.options)
    return ParquetWriteDialect(
        compression=options.compression,
        level=options.compression_level,
        row_group_size=options.row_group_size,
        decimals=options.decimals,
    )
