"""Tallies: how often a key occurs at most in a source, counted by the workers while they read.

A group is no larger than the most frequent value of its key in every split, added up. Most sources
have only small groups, of which that much is proof enough; nothing is read twice to find out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.reading import Split
from clinker.frozen import frozen


@frozen
class Tally:
    """Where workers note what they have counted of the key of a source."""

    directory: Path
    source: int
    fields: tuple[str, ...]

    def counting(self, split: Split, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; behind the last one, what was counted of the split is noted."""
        keys: list[list[pa.Array]] = [[] for _ in self.fields]
        for batch in batches:
            for field, values in zip(self.fields, keys, strict=True):
                values.append(batch.column(field))
            yield batch
        most = min(_most_frequent(values) for values in keys)
        # A worker that does not share the directory notes nothing, which leaves the size unknown.
        with suppress(OSError):
            self._note(split, most)

    def most(self, splits: Sequence[Split]) -> int | None:
        """How large a group is at most; None if some split was not counted."""
        total = 0
        for split in splits:
            try:
                total += int(self._place(split).read_text())
            except FileNotFoundError:
                return None
        return total

    def _note(self, split: Split, most: int) -> None:
        place = self._place(split)
        aside = place.with_suffix(f".{os.getpid()}")
        aside.write_text(str(most))
        aside.replace(place)

    def _place(self, split: Split) -> Path:
        return self.directory / f"{self.source}-{split.file.position(split.first_row)}"


def _most_frequent(values: Sequence[pa.Array]) -> int:
    """How often the most frequent value occurs; null and empty ones are in no group."""
    if not values:
        return 0
    found = pa.chunked_array(values).drop_null()
    if pa.types.is_floating(found.type):
        found = pc.add(found, 0.0)  # zero has no sign here
    elif pa.types.is_string(found.type):
        found = found.filter(pc.not_equal(found, ""))
    counts = pc.value_counts(found).field("counts")
    return pc.max(counts).as_py() or 0
