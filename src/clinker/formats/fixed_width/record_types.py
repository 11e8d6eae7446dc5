"""Which type of record a line is: told by the tag in a certain place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.fixed_width.decoding import Codec
from clinker.formats.fixed_width.dialect import FixedWidthDialect
from clinker.formats.fixed_width.lines import Lines, Positions


class RecordTypes:
    """Finds the types of lines."""

    def __init__(self, dialect: FixedWidthDialect, codec: Codec) -> None:
        self._codec = codec
        self._place = dialect.discriminator
        self._tags = pa.array([record.tag for record in dialect.records], pa.string())

    def tags(self, lines: Lines) -> pa.StringArray:
        """What stands in the place of the tag."""
        assert self._place
        texts = self._codec.decode(lines.cut(*self._place)).texts
        return pc.utf8_trim_whitespace(texts)

    def find(self, lines: Lines) -> Positions:
        """The number of each line's type, -1 if it is none."""
        if self._place is None:
            return np.zeros(lines.count, np.int64)
        found = pc.index_in(self.tags(lines), self._tags)
        return np.asarray(found.fill_null(-1)).astype(np.int64)
