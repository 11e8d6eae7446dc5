"""Files that change between the survey and the end of the reading."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.reading import (
    FormatError,
    check_unchanged,
    count_records,
    input_file,
    read_split,
    take_inventory,
)
from tests.formats.reading import inventory_of, records_of, spec_of

CSV = b"id,name\n" + b"".join(b"%d,bolt\n" % n for n in range(100, 200))
LINES = b"".join(b'{"id": %d, "name": "bolt"}\n' % n for n in range(100, 200))
ARRAY = b'[{"id": 1, "name": "bolt"}, {"id": 2, "name": "nut"}]'
FORMS = [(CsvDialect(), CSV), (JsonDialect(), LINES), (JsonDialect(), ARRAY)]


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"7,late\n")


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def rewrite(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content.replace(b"bolt", b"gear"))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))


def exchange(path: Path) -> None:
    path.with_name("other").write_bytes(b"id,name\n")
    path.with_name("other").replace(path)


@pytest.mark.parametrize("dialect, content", FORMS)
@pytest.mark.parametrize(
    "change, how",
    [
        (append, r"it had \d+ bytes, now it has \d+"),
        (truncate, r"it had \d+ bytes, now it has \d+"),
        (exchange, r"it had \d+ bytes, now it has \d+"),
        (rewrite, r"it was last written at .*, now at .*"),
    ],
)
@pytest.mark.parametrize("when", ["before", "between"])
def test_a_change_is_noticed(
    tmp_path: Path,
    dialect: CsvDialect | JsonDialect,
    content: bytes,
    change: Callable[[Path], None],
    how: str,
    when: str,
) -> None:
    spec = spec_of(dialect, {"id": "int", "name": "string"})
    inventory = inventory_of(tmp_path, spec, content, split_bytes=500)
    path = tmp_path / "0.data"
    if when == "before":
        change(path)
    with pytest.raises(FormatError, match=rf"0\.data: changed while it was read: {how}") as told:
        for split in inventory.splits:
            for _ in read_split(spec, inventory, split):
                if when == "between" and path.exists() and path.stat().st_size == len(content):
                    change(path)
    assert told.value.help
    assert "rename it when it is complete" in told.value.help


def test_counting_is_reading(tmp_path: Path) -> None:
    spec = spec_of(JsonDialect(), {"id": "int"})
    inventory = inventory_of(tmp_path, spec, b'{\n"id": 1}')
    append(tmp_path / "0.data")
    with pytest.raises(FormatError, match="changed while it was read"):
        count_records(spec, inventory, inventory.splits[0])


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(CSV)
    file = input_file(0, str(tmp_path / "in.csv"))
    (tmp_path / "in.csv").unlink()
    with pytest.raises(FormatError, match="changed while it was read: it is gone"):
        check_unchanged(file)


def test_another_file_that_looks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(CSV)
    file = input_file(0, str(path))
    check_unchanged(file)
    copy = tmp_path / "copy"
    copy.write_bytes(CSV)
    os.utime(copy, ns=(0, file.mtime_ns))
    copy.replace(path)
    with pytest.raises(FormatError, match="another file has taken its name"):
        check_unchanged(file)


def test_records_that_vanish_without_a_trace(tmp_path: Path) -> None:
    """Someone restores the time of the last change."""
    spec = spec_of(CsvDialect(), {"id": "int", "name": "string"})
    inventory = inventory_of(tmp_path, spec, CSV)
    path = tmp_path / "0.data"
    before = path.stat().st_mtime_ns
    path.write_bytes(CSV.replace(b"\n150,", b".150,"))
    os.utime(path, ns=(0, before))
    with pytest.raises(FormatError, match=r"100 were counted .*, 99 are there now"):
        records_of(spec, inventory)


def test_what_others_do_to_a_file_while_it_is_surveyed(tmp_path: Path) -> None:
    """An unreadable file may be one that is being written; that is said first."""
    spec = spec_of(CsvDialect(), {"id": "int"})
    path = tmp_path / "in.csv"
    path.write_bytes(b'id\n"1')
    file = input_file(0, str(path))
    path.write_bytes(b'id\n"12')
    with pytest.raises(FormatError, match="changed while it was read: it had 5 bytes"):
        take_inventory(spec, [file], 1000)
