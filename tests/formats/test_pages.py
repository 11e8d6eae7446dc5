"""Files that are pages of one: their records are numbered through."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.common.read_spec import FILE_SHIFT, POSITION
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.reading import (
    InputFile,
    Inventory,
    ReadSpec,
    count_records,
    input_file,
    limit_records,
    read_origins,
    read_split,
    take_inventory,
)
from tests.formats.reading import spec_of

PAGES = ['[{"a": 1}, {"a": 2}]', "[]", '{"a": 3}', '[{"a": 4}, {"a": 5}, {"a": 6}]']


@pytest.fixture
def pages(tmp_path: Path) -> list[InputFile]:
    files: list[InputFile] = []
    for number, content in enumerate(PAGES):
        path = tmp_path / f"{number}"
        path.write_text(content)
        files.append(input_file(number, str(path), f"page {number + 1}", page_of=0))
    return files


@pytest.fixture
def spec() -> ReadSpec:
    return spec_of(JsonDialect(), {"a": "int"})


def rows(spec: ReadSpec, inventory: Inventory) -> list[tuple[int, int]]:
    batches = (b for split in inventory.splits for b in read_split(spec, inventory, split))
    return [(row[POSITION], row["a"]) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("split_bytes", [1, 12, 1000])
def test_rows_go_on_from_page_to_page(
    spec: ReadSpec, pages: list[InputFile], split_bytes: int
) -> None:
    inventory = take_inventory(spec, pages, split_bytes)
    assert rows(spec, inventory) == [(n, n) for n in range(1, 7)]


@pytest.mark.parametrize("most", range(1, 8))
@pytest.mark.parametrize("split_bytes", [1, 1000])
def test_only_so_many_are_read(
    spec: ReadSpec, pages: list[InputFile], most: int, split_bytes: int
) -> None:
    inventory = limit_records(spec, take_inventory(spec, pages, split_bytes), most)
    expected = range(1, min(most, 6) + 1)
    assert rows(spec, inventory) == [(n, n) for n in expected]
    counts = [count_records(spec, inventory, split) for split in inventory.splits]
    assert sum(counts) == len(expected)


def test_origins_of_a_later_page(spec: ReadSpec, pages: list[InputFile]) -> None:
    inventory = take_inventory(spec, pages, 1000)
    last = inventory.splits[-1]
    assert last.first_row == 4
    assert read_origins(spec, inventory, last, [5]).to_pylist() != [None]
    assert "5" in read_origins(spec, inventory, last, [5])[0].as_py()


def test_other_files_keep_their_own_numbers(spec: ReadSpec, tmp_path: Path) -> None:
    for name in "xy":
        (tmp_path / name).write_text(PAGES[0])
    files = [input_file(at, str(tmp_path / name)) for at, name in enumerate("xy")]
    inventory = take_inventory(spec, files, 1000)
    shifted = 1 << FILE_SHIFT
    assert rows(spec, inventory) == [(1, 1), (2, 2), (shifted + 1, 1), (shifted + 2, 2)]
