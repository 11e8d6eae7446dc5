"""Part files, as the tasks of a run write them."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

from clinker.cxl.types import ANY, INT, STRING
from clinker.formats.common.writing import OutputColumn, Split, WriteError
from clinker.formats.files.assembly import write_document
from clinker.formats.files.parts import Part, PartWriter, write_part
from clinker.formats.renderer import renderer
from tests.formats.files.test_publication import disk_of
from tests.formats.records import Columns, batch, spec

RECORDS: Columns = {"a": (INT, [1, 22, 3]), "b": (STRING, ["x", "y", "y"])}


def copied(part: Part, begin: int, end: int) -> bytes:
    file = io.BytesIO()
    part.copy_to(file, begin, end)
    return file.getvalue()


def test_a_part_is_the_body(tmp_path: Path) -> None:
    batches = [batch(RECORDS), batch(RECORDS).slice(0, 0), batch(RECORDS).slice(1)]
    part = write_part(tmp_path, spec(RECORDS, format="json"), batches, order=7)
    body = (
        b'{"a":1,"b":"x"},\n{"a":22,"b":"y"},\n{"a":3,"b":"y"},\n{"a":22,"b":"y"},\n{"a":3,"b":"y"}'
    )
    assert (part.order, part.records, part.size) == (7, 5, len(body))
    assert Path(part.path).read_bytes() == body
    assert copied(part, 1, 5) == body[1:5]
    assert pickle.loads(pickle.dumps(part)) == part


def test_parts_are_assembled_to_a_document(tmp_path: Path) -> None:
    form = spec(RECORDS, format="json")
    batches = [batch(RECORDS).slice(0, 1), batch(RECORDS).slice(0, 0), batch(RECORDS).slice(2)]
    parts = [write_part(tmp_path, form, [piece]) for piece in batches]
    assert len({part.path for part in parts}) == 3
    file = io.BytesIO()
    assert write_document(file, renderer(form), parts) == 2
    assert file.getvalue() == b'[\n{"a":1,"b":"x"},\n{"a":3,"b":"y"}\n]\n'


def test_an_index_for_splitting(tmp_path: Path) -> None:
    split = Split(max_records=1, group_key=OutputColumn("b", STRING))
    form = spec({"a": RECORDS["a"]}, format="json", split=split)
    part = write_part(tmp_path, form, [batch(RECORDS), batch(RECORDS).slice(1)])
    assert part.ends().tolist() == [7, 17, 26, 36, 45]
    groups = part.groups()
    assert groups is not None
    assert groups.to_pylist() == ['"x"', '"y"', '"y"', '"y"', '"y"']
    assert len(list(tmp_path.iterdir())) == 2


def test_an_index_without_groups(tmp_path: Path) -> None:
    part = write_part(tmp_path, spec(RECORDS, split=Split(max_bytes=9)), [batch(RECORDS)])
    assert part.ends().tolist() == [4, 9, 13]
    assert part.groups() is None


def test_numbers_are_one_group_whatever_their_kind(tmp_path: Path) -> None:
    columns: Columns = {"k": (ANY, [1, 1.0, "1", None])}
    split = Split(max_records=1, group_key=OutputColumn("k", ANY))
    groups = write_part(tmp_path, spec(columns, split=split), [batch(columns)]).groups()
    assert groups is not None
    assert groups.to_pylist() == ["1", "1", '"1"', "null"]


def test_a_part_that_cannot_be_written_is_removed(tmp_path: Path) -> None:
    good: Columns = {"a": (ANY, [1, 2])}
    bad: Columns = {"a": (ANY, [3, {}])}
    with pytest.raises(WriteError) as refusal:
        write_part(tmp_path, spec(good), [batch(good), batch(bad)])
    assert refusal.value.record == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("split", [None, Split(max_records=1)])
def test_a_full_disk(tmp_path: Path, split: Split | None) -> None:
    columns: Columns = {"a": (STRING, ["x" * 100] * 20)}
    with disk_of(1000), pytest.raises(WriteError, match=r"cannot write .*part-.*: File too large"):
        write_part(tmp_path, spec(columns, split=split), [batch(columns)])
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="No such file or directory"):
        PartWriter(tmp_path / "none", spec(RECORDS))


def test_a_part_that_was_lost(tmp_path: Path) -> None:
    part = write_part(tmp_path, spec(RECORDS), [batch(RECORDS)])
    Path(part.path).write_bytes(b"1,")
    with pytest.raises(WriteError, match="the last 11 bytes are missing"):
        copied(part, 0, part.size)
    Path(part.path).unlink()
    with pytest.raises(WriteError, match="cannot read"):
        copied(part, 0, part.size)
