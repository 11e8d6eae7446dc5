"""Commits that are killed at every moment, and recoveries of them that are killed as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

from clinker.formats.files.publication import Publication, Target
from clinker.formats.files.recovery import recover
from faults.dying import killed_at
from faults.verdict import Verdict, judged

RUN = "0198a5f2-0000-7000-8000-000000000000"
BEFORE: Mapping[str, bytes] = {
    "out/a.csv": b"old a\n",
    "out/b.csv": b"old b\n",
    "out/b.csv.meta.json": b"{}\n",
    "letters/rejected.csv": b"old letters\n",
    "other/c-1.csv": b"someone's\n",
    "other/c.csv": b"someone's\n",
}
AFTER: Mapping[str, bytes] = {
    "out/a.csv": b"new a\n",
    "out/b.csv": b"new b\n",
    "out/b.csv.meta.json": b'{\n  "record_count": 0,\n  "bytes_written": 6\n}\n',
    "other/c-1.csv": b"someone's\n",
    "other/c-2.csv": b"new c\n",
    "other/c.csv": b"someone's\n",
    "made/deep/d.csv": b"new d\n",
    "made/e.csv": b"new e\n",
}
_MOMENTS = 150
"""How often a run touches files, at least: most of it belongs to the commit."""


def prepare(place: Path) -> None:
    """The files of an earlier run."""
    for name, content in BEFORE.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def publish(place: Path) -> None:
    """Write, replace and remove files in several directories, some of them new."""
    with Publication(RUN) as publication:
        _prepare(publication, Target(path=place / "out/a.csv", if_exists="overwrite"), b"new a\n")
        target = Target(path=place / "out/b.csv", if_exists="overwrite", meta={})
        _prepare(publication, target, b"new b\n")
        target = Target(path=place / "other/c.csv", if_exists="unique_suffix")
        _prepare(publication, target, b"new c\n")
        _prepare(publication, Target(path=place / "made/deep/d.csv"), b"new d\n")
        _prepare(publication, Target(path=place / "made/e.csv"), b"new e\n")
        parts = publication.parts_directory(Target(path=place / "out/a.csv"))
        (parts / "part-1").write_bytes(b"part")
        publication.remove(place / "letters/rejected.csv")
        publication.commit()


def _prepare(publication: Publication, target: Target, content: bytes) -> None:
    with publication.prepare(target) as file:
        file.write(content)


def recover_all(place: Path) -> None:
    recover(directories(place))


def directories(place: Path) -> list[Path]:
    """Where the run writes, or has something lie aside."""
    return [place, *(place / name for name in ("out", "letters", "other", "made", "made/deep"))]


def content(place: Path) -> dict[str, bytes]:
    """All files, hidden ones included."""
    found = sorted(path for path in place.rglob("*") if path.is_file())
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in found}


def empty_directories(place: Path) -> list[str]:
    found = sorted(path for path in place.rglob("*") if path.is_dir() and not any(path.iterdir()))
    return [path.relative_to(place).as_posix() for path in found]


def moments(place: Path, every: int = 1) -> Iterator[Path]:
    """Places in which the same run was killed, each a moment later than the one before."""
    for moment in count(1, every):
        here = place / str(moment)
        prepare(here)
        if not killed_at(moment, partial(publish, here)):
            return
        yield here


def half_committed(place: Path) -> Path:
    """Where a run was killed after some of its files had got their names."""
    for killed in moments(place, every=2):
        if list(killed.rglob("*.journal")) and (killed / "other/c-2.csv").exists():
            return killed
    raise AssertionError("there is no such moment")


def commit_round(place: Path, random: Random) -> Verdict:
    """A commit is killed somewhere, sometimes on a file system that has no second names."""
    prepare(place)
    work = partial(publish if random.random() < 0.7 else publish_without_links, place)
    killed_at(random.randint(1, _MOMENTS), work)
    recover_all(place)
    return judged(content(place), BEFORE, AFTER)


def recovery_round(place: Path, random: Random) -> Verdict:
    """A commit is killed, and its recovery as well, even more than once."""
    prepare(place)
    killed_at(random.randint(_MOMENTS // 2, _MOMENTS), partial(publish, place))
    for _ in range(random.randint(1, 3)):
        killed_at(random.randint(1, _MOMENTS), partial(recover_all, place))
    recover_all(place)
    return judged(content(place), BEFORE, AFTER)


def publish_without_links(place: Path) -> None:
    """As on a file system that has none; only for processes of their own."""

    def refuse(path: Path, target: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    Path.hardlink_to = refuse  # type: ignore[method-assign, assignment]
    publish(place)
