"""How CSV files are written, those that are read and those that come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.csv import CsvReading, CsvWriting
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig


@frozen(kw_only=True)
class CsvDialect:
    """How records are written in a file that is read."""

    delimiter: str = ","
    quote_char: str = '"'
    has_header: bool = True
    encoding: str = "utf-8"


@frozen(kw_only=True)
class CsvWriteDialect:
    """How records are to be written."""

    delimiter: str = ","
    include_header: bool = True


def read_dialect(config: SourceConfig, layout: Layout | None) -> CsvDialect:
    options = cast("CsvReading", config.options)
    return CsvDialect(
        delimiter=options.delimiter,
        quote_char=options.quote_char,
        has_header=options.has_header,
        encoding=options.encoding,
    )


def write_dialect(config: OutputConfig, layout: Layout | None) -> CsvWriteDialect:
    options = cast("CsvWriting", config.options)
    return CsvWriteDialect(delimiter=options.delimiter, include_header=config.include_header)
