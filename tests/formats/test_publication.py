"""Publication: all files of a run appear together, or none and nothing is touched."""

from __future__ import annotations

import json
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clinker.formats.publication import Publication, Published, Target
from clinker.formats.writing import IfExists, WriteError


def stage(publication: Publication, target: Target, data: bytes, records: int = 1) -> None:
    with publication.stage(target) as file:
        file.write(data)
        file.records = records


def publish(path: Path, data: bytes, if_exists: IfExists = "error", width: int = 0) -> Path:
    with Publication("run") as publication:
        target = Target(path=path, if_exists=if_exists, unique_suffix_width=width)
        stage(publication, target, data)
        (published,) = publication.commit()
    return published.path


def tree(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def test_files_appear_at_the_commit(tmp_path: Path) -> None:
    with Publication("run") as publication:
        stage(publication, Target(path=tmp_path / "a.csv"), b"a\n", 1)
        stage(publication, Target(path=tmp_path / "new" / "deep" / "b.csv"), b"b\nb\n", 2)
        assert not (tmp_path / "a.csv").exists()
        assert publication.commit() == [
            Published(path=tmp_path / "a.csv", records=1, size=2),
            Published(path=tmp_path / "new" / "deep" / "b.csv", records=2, size=4),
        ]
    assert (tmp_path / "a.csv").read_bytes() == b"a\n"
    assert tree(tmp_path) == ["a.csv", "new", "new/deep", "new/deep/b.csv"]


def test_a_commit_leaves_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"before")
    publication = Publication("run")
    stage(publication, Target(path=tmp_path / "new" / "a.csv"), b"a")
    stage(publication, Target(path=tmp_path / "b.csv", if_exists="overwrite"), b"b")
    publication.commit()
    assert tree(tmp_path) == ["b.csv", "new", "new/a.csv"]


def test_without_commit_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with Publication("run") as publication:
        stage(publication, Target(path=tmp_path / "old" / "a.csv"), b"a")
        stage(publication, Target(path=tmp_path / "new" / "deep" / "b.csv"), b"b")
        assert len(tree(tmp_path)) == 5
    assert tree(tmp_path) == ["old"]


def test_a_file_whose_writing_failed_is_no_part_of_it(tmp_path: Path) -> None:
    with Publication("run") as publication:
        with pytest.raises(ZeroDivisionError), publication.stage(Target(path=tmp_path / "a.csv")):
            raise ZeroDivisionError
        assert publication.commit() == []
    assert tree(tmp_path) == []


def test_a_name_that_is_taken_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"before")
    with (
        Publication("run") as publication,
        pytest.raises(WriteError, match=r"b\.csv: it exists already"),
    ):
        stage(publication, Target(path=tmp_path / "a.csv"), b"a")
        stage(publication, Target(path=tmp_path / "b.csv"), b"b")
        publication.commit()
    assert tree(tmp_path) == ["b.csv"]
    assert (tmp_path / "b.csv").read_bytes() == b"before"


def test_overwriting(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"before")
    assert publish(tmp_path / "a.csv", b"after", "overwrite") == tmp_path / "a.csv"
    assert (tmp_path / "a.csv").read_bytes() == b"after"
    assert tree(tmp_path) == ["a.csv"]


def test_unique_suffixes(tmp_path: Path) -> None:
    names = [publish(tmp_path / "a.csv", b"", "unique_suffix").name for _ in range(3)]
    assert names == ["a.csv", "a-1.csv", "a-2.csv"]
    assert publish(tmp_path / "a.csv", b"", "unique_suffix", width=3).name == "a-001.csv"


def test_the_same_file_twice(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with Publication("run") as publication, pytest.raises(WriteError, match="written twice"):
        stage(publication, Target(path=tmp_path / "a.csv"), b"a")
        stage(publication, Target(path=tmp_path / "link" / "a.csv"), b"a")


def test_a_failing_rename_restores_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(b"before")
    replace = Path.replace

    def fail_on_b(path: Path, target: Path) -> Path:
        if target.name == "b.csv" and path.read_bytes() == b"after":
            raise OSError(5, "Input/output error")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fail_on_b)
    with (
        Publication("run") as publication,
        pytest.raises(WriteError, match=r"b\.csv: Input/output error"),
    ):
        for name in ("a.csv", "new/c.csv", "b.csv"):
            target = Target(path=tmp_path / name, if_exists="overwrite", meta={})
            stage(publication, target, b"after")
        publication.commit()
    assert tree(tmp_path) == ["a.csv", "b.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"before"
    assert (tmp_path / "b.csv").read_bytes() == b"before"


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert publish(tmp_path / "a.csv", b"1") == tmp_path / "a.csv"
    assert publish(tmp_path / "a.csv", b"2", "unique_suffix") == tmp_path / "a-1.csv"
    assert publish(tmp_path / "a.csv", b"3", "overwrite") == tmp_path / "a.csv"
    with pytest.raises(WriteError, match="it exists already"):
        publish(tmp_path / "a.csv", b"4")
    assert (tmp_path / "a.csv").read_bytes() == b"3"
    assert tree(tmp_path) == ["a-1.csv", "a.csv"]


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        publish(tmp_path / "a.csv", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o640


def test_replaced_files_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch(0o600)
    publish(tmp_path / "a.csv", b"", "overwrite")
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "out.csv").symlink_to("data/real.csv")
    publish(tmp_path / "out.csv", b"1")
    publish(tmp_path / "out.csv", b"2", "overwrite")
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "data" / "real.csv").read_bytes() == b"2"


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WriteError, match="a directory of that name exists"):
        publish(tmp_path / "directory", b"", "overwrite")
    with pytest.raises(WriteError, match="no regular file"):
        publish(tmp_path / "pipe", b"", "overwrite")
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="cannot write"):
        publish(tmp_path / "file" / "a.csv", b"")


def test_meta(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    with Publication("run") as publication:
        target = Target(
            path=tmp_path / "a.csv", if_exists="unique_suffix", meta={"pipeline": "orders"}
        )
        stage(publication, target, b"abc", 7)
        publication.commit()
    assert tree(tmp_path) == ["a-1.csv", "a-1.csv.meta.json", "a.csv"]
    assert json.loads((tmp_path / "a-1.csv.meta.json").read_text()) == {
        "pipeline": "orders",
        "record_count": 7,
        "bytes_written": 3,
    }


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file can become larger; the nearest to a full disk that needs no disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("chunk", [100, 3_000_000])
def test_a_full_disk(tmp_path: Path, chunk: int) -> None:
    with (
        disk_of(1000),
        Publication("run") as publication,
        pytest.raises(WriteError, match=r"cannot write .*a\.csv: File too large"),
        publication.stage(Target(path=tmp_path / "a.csv")) as file,
    ):
        for _ in range(20):
            file.write(b"x" * chunk)
    assert tree(tmp_path) == []
