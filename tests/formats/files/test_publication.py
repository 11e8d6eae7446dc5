"""Publication: all files of a run appear together, or none and nothing is touched."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clinker.formats.common.writing import IfExists, WriteError
from clinker.formats.files.publication import Publication, Published, Target


def stage(publication: Publication, target: Target, data: bytes, records: int = 1) -> None:
    with publication.prepare(target) as file:
        file.write(data)
        file.records = records


def publish(path: Path, data: bytes, if_exists: IfExists = "error", width: int = 0) -> Path:
    with Publication("run") as publication:
        target = Target(path=path, if_exists=if_exists, unique_suffix_width=width)
        stage(publication, target, data)
        (published,) = publication.commit()
    assert isinstance(published.path, Path)
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
        with pytest.raises(ZeroDivisionError), publication.prepare(Target(path=tmp_path / "a.csv")):
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


def modes(directory: Path) -> dict[str, int]:
    """Of everything that lies aside, by its kind."""
    found = [path for path in directory.iterdir() if path.name.startswith(".clinker-")]
    return {path.suffix: stat.S_IMODE(path.lstat().st_mode) for path in found}


def test_nobody_can_read_aside_what_is_kept_from_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch(0o600)
    before = os.umask(0o022)
    try:
        with Publication("run") as publication:
            target = Target(path=tmp_path / "a.csv", if_exists="overwrite", meta={})
            with publication.prepare(target) as file:
                file.write(b"salaries")
                assert modes(tmp_path) == {".tmp": 0o600, ".run": 0o600}
            parts = publication.parts_directory(target)
            assert stat.S_IMODE(parts.stat().st_mode) == 0o700
            publication.commit()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600


def test_what_is_more_open_than_new_files_stays_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (tmp_path / "a.csv").chmod(0o664)
    before = os.umask(0o077)
    try:
        publish(tmp_path / "a.csv", b"", "overwrite")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o664


def test_a_mode_that_changes_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch(0o644)
    with Publication("run") as publication:
        with publication.prepare(Target(path=tmp_path / "a.csv", if_exists="overwrite")) as file:
            (tmp_path / "a.csv").chmod(0o600)
            file.write(b"salaries")
        publication.commit()
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
        publication.prepare(Target(path=tmp_path / "a.csv")) as file,
    ):
        for _ in range(20):
            file.write(b"x" * chunk)
    assert tree(tmp_path) == []


def test_a_directory_that_vanishes(tmp_path: Path) -> None:
    for name in ("a/a.csv", "b/b.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"before")
    with (
        Publication("run") as publication,
        pytest.raises(WriteError, match=r"cannot write .*b.*: No such file or directory"),
    ):
        for name in ("a/a.csv", "b/b.csv"):
            stage(publication, Target(path=tmp_path / name, if_exists="overwrite"), b"after")
        shutil.rmtree(tmp_path / "b")
        publication.commit()
    assert tree(tmp_path) == ["a", "a/a.csv"]
    assert (tmp_path / "a/a.csv").read_bytes() == b"before"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_directory_that_others_own() -> None:
    with TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(WriteError, match=r"cannot write .*a\.csv: Permission denied"):
                publish(place / "a.csv", b"")
            with pytest.raises(WriteError, match=r"cannot write .*a\.csv: Permission denied"):
                publish(place / "new" / "a.csv", b"")
        finally:
            os.seteuid(0)
        assert tree(place) == []


def test_a_commit_over_several_volumes(tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second volume")
    with TemporaryDirectory(dir=other) as name:
        (Path(name) / "b.csv").write_bytes(b"before")
        with Publication("run") as publication:
            stage(publication, Target(path=tmp_path / "a.csv"), b"a")
            stage(publication, Target(path=Path(name) / "b.csv", if_exists="overwrite"), b"b")
            stage(publication, Target(path=Path(name) / "new" / "c.csv"), b"c")
            publication.commit()
        assert (tree(tmp_path), tree(Path(name))) == (["a.csv"], ["b.csv", "new", "new/c.csv"])
        assert (Path(name) / "b.csv").read_bytes() == b"b"


def test_a_name_that_is_taken_at_the_last_moment(tmp_path: Path) -> None:
    """Another process takes the free name between the plan of the commit and its renames."""
    taken = False

    def take(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal taken
        if not taken and event == "os.link" and str(arguments[1]).endswith("a-1.csv"):
            taken = True
            (tmp_path / "a-1.csv").write_bytes(b"someone's")

    (tmp_path / "a.csv").write_bytes(b"before")
    sys.addaudithook(take)
    target = Target(path=tmp_path / "a.csv", if_exists="unique_suffix", meta={})
    with Publication("run") as publication:
        stage(publication, target, b"new")
        (published,) = publication.commit()
    assert taken
    assert published.path == tmp_path / "a-2.csv"
    assert tree(tmp_path) == ["a-1.csv", "a-2.csv", "a-2.csv.meta.json", "a.csv"]
    assert (tmp_path / "a-1.csv").read_bytes() == b"someone's"
