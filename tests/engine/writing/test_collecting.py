"""Collecting: the records of an output, by the files they come from."""

from __future__ import annotations

import time

import pyarrow as pa

from clinker.engine.flow.flow import POSITION, SOURCE
from clinker.engine.writing.collecting import ONE_FILE, Filing, by_file
from clinker.formats.common.read_spec import FILE_SHIFT

BY_INPUT = Filing(path="{source_file}.csv", by_input=True)


def table_of(*places: tuple[int | None, int, int]) -> pa.Table:
    """Records by source, file and row; each holds its number."""
    positions = [None if source is None else (f << FILE_SHIFT) + row for source, f, row in places]
    return pa.table(
        {
            "n": range(len(places)),
            SOURCE: pa.array([source for source, _, _ in places], pa.int32()),
            POSITION: pa.array(positions, pa.int64()),
        }
    )


def test_records_of_a_file_stay_in_their_order() -> None:
    table = table_of((1, 0, 5), (0, 2, 1), (1, 0, 3), (None, 0, 0), (0, 0, 1), (0, 2, 9))
    found = {key: part["n"].to_pylist() for key, part in by_file(table, BY_INPUT)}
    assert found == {ONE_FILE: [3], (0, 0, ()): [4], (0, 2, ()): [1, 5], (1, 0, ()): [0, 2]}


def test_no_records_are_of_no_file() -> None:
    assert list(by_file(table_of(), BY_INPUT)) == []


def test_thousands_of_files_are_taken_apart_at_once() -> None:
    table = table_of(*((0, number % 20_000, number) for number in range(40_000)))
    began = time.process_time()
    found = list(by_file(table, BY_INPUT))
    assert time.process_time() - began < 10
    assert [key for key, _ in found] == [(0, number, ()) for number in range(20_000)]
    assert all(len(part) == 2 for _, part in found)
