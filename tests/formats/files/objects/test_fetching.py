"""Objects copied to the spool."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.objects.fetching import fetch_all
from clinker.formats.files.spool import Spool
from clinker.stores.urls import ObjectUrl
from tests.object_store import Store


def url(name: str) -> ObjectUrl:
    return ObjectUrl("s3", "data", name)


def test_all_of_them_are_copied_under_their_own_names(store: Store, tmp_path: Path) -> None:
    content = bytes(range(256)) * (9 << 12)
    names = {7: "large", **{number: f"small {number}" for number in range(20, 50)}}
    for number, name in names.items():
        store.put(name, content if number == 7 else name)
    told: list[int] = []
    objects = {number: url(name) for number, name in names.items()}
    fetched = fetch_all(objects, Spool(lambda: tmp_path), told.append)
    assert {i: file.index for i, file in fetched.items()} == {i: i for i in names}
    assert {file.name for file in fetched.values()} == {str(url(name)) for name in names.values()}
    assert Path(fetched[7].path).read_bytes() == content
    assert Path(fetched[30].path).read_text() == "small 30"
    assert sum(told) == sum(file.size for file in fetched.values())


@pytest.mark.parametrize("size", [1, 20 << 20])
def test_an_object_that_is_replaced_meanwhile(store: Store, tmp_path: Path, size: int) -> None:
    store.put("a", bytes(size))

    def replace(_: int) -> None:
        store.put("a", b"\1" * size)

    with pytest.raises(FormatError, match="s3://data/a: changed while it was read"):
        fetch_all({0: url("a")}, Spool(lambda: tmp_path), replace)


def test_the_first_one_that_cannot_be_read_is_told(store: Store, tmp_path: Path) -> None:
    store.put("a", b"x")
    objects = {0: url("a"), 1: url("b"), 2: url("c")}
    with pytest.raises(FormatError, match="s3://data/b: cannot be read: does not exist"):
        fetch_all(objects, Spool(lambda: tmp_path), lambda _: None)


def test_there_must_be_room_for_all(store: Store, tmp_path: Path) -> None:
    store.put("a", bytes(10))
    store.put("b", bytes(10))
    with pytest.raises(FormatError, match=r"than storage\.spill\.disk_cap_bytes allows"):
        fetch_all({0: url("a"), 1: url("b")}, Spool(lambda: tmp_path, 15), lambda _: None)
