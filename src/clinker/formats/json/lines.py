"""Lines of JSON that stand in a file one after the other."""

from __future__ import annotations

from functools import cached_property

from clinker.formats.common.json_numbers import LOADS, find_spelling
from clinker.formats.common.unfolding import Record
from clinker.formats.json.records import WholeRecords, block_records


class Lines:
    """The lines of a block, without blank ones."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.spelling = find_spelling(block)

    @cached_property
    def texts(self) -> list[bytes]:
        return list(filter(bytes.strip, self.block.split(b"\n")))

    def check_encoding(self) -> None:
        """UnicodeDecodeError if a text is not UTF-8: in skipped ones, nobody else looks."""
        if not self.block.isascii():
            self.block.decode()

    def whole_records(self) -> WholeRecords:
        return WholeRecords(block_records(self.block, None))

    def record(self, at: int) -> Record:
        record: Record = LOADS[self.spelling](self.texts[at])
        return record
