"""Parquet: columns with types of their own, in groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model
from clinker.config.names import Name, Positive
from clinker.diagnostics import Diagnostic

Digits: TypeAlias = tuple[int, int]

_MOST_DIGITS = 38
_HIGHEST_LEVELS = {"zstd": 22, "gzip": 9}


class ParquetReading(Model):
    """Files tell all there is to know of them."""


class ParquetWriting(Model):
    compression: Literal["zstd", "snappy", "gzip", "none"] = Field(
        default="zstd", description="how the values in the file are compressed"
    )
    compression_level: Positive | None = Field(
        default=None, description="how hard to try: 1 to 22 for zstd, 1 to 9 for gzip"
    )
    row_group_size: Positive = Field(
        default=1_048_576, description="the most records of a group of rows"
    )
    decimals: dict[Name, Digits] = Field(
        default_factory=dict,
        description="columns of numbers that are decimals: how many digits they have, and how many "
        "of these are behind the point",
    )

    def check(self) -> Iterator[Diagnostic]:
        yield from self._check_level()
        for name, (digits, behind) in self.decimals.items():
            if not (1 <= digits <= _MOST_DIGITS and 0 <= behind <= digits):
                yield self.problem(
                    "E007",
                    f"there are no decimals of {digits} digits, {behind} of them behind the point",
                    "decimals",
                    name,
                    help=f"they have 1 to {_MOST_DIGITS} digits: [12, 2]",
                )

    def _check_level(self) -> Iterator[Diagnostic]:
        if self.compression_level is None:
            return
        highest = _HIGHEST_LEVELS.get(self.compression)
        if highest is None:
            yield self.problem(
                "E007",
                f"'{self.compression}' has no compression levels",
                "compression_level",
                key=True,
                help="remove 'compression_level', or use zstd or gzip",
            )
        elif self.compression_level > highest:
            yield self.problem(
                "E007",
                f"the levels of {self.compression} are 1 to {highest}",
                "compression_level",
                help=f"write {highest} for the smallest files",
            )


FORMAT = FormatOptions(
    name="parquet",
    reading=ParquetReading,
    writing=ParquetWriting,
    holds_maps=True,
    tells_schema=True,
    compresses_itself=True,
    is_text=False,
)
