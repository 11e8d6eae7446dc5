"""How large the records of a file are."""

from __future__ import annotations


class RecordSizes:
    """The size of records where they are largest: on average over those of one block."""

    def __init__(self) -> None:
        self.largest = 0
        self._bytes = self._records = 0

    def add(self, size: int, records: int) -> None:
        """A block of so many bytes in which so many records end."""
        self._bytes += size
        self._records += records
        if self._records:
            self.largest = max(self.largest, -(-self._bytes // self._records))
            self._bytes = self._records = 0
