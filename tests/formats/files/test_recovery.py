"""Recovery: a run that was killed at any moment leaves all old files or all new ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from faults.commits import (
    AFTER,
    BEFORE,
    RUN,
    content,
    empty_directories,
    half_committed,
    moments,
    prepare,
    publish,
    recover_all,
)
from faults.dying import killed_at

from clinker.formats.files.marks import Marks, mark_in
from clinker.formats.files.publication import Publication, Target
from clinker.formats.files.recovery import recover


def test_what_an_undisturbed_run_does(tmp_path: Path) -> None:
    prepare(tmp_path)
    publish(tmp_path)
    assert content(tmp_path) == AFTER


@pytest.mark.parametrize("has_links", [True, False])
def test_a_run_that_is_killed_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    seen = {"old": 0, "new": 0}
    for place in moments(tmp_path, every=2):
        recover_all(place)
        found = content(place)
        assert found in (BEFORE, AFTER), place.name
        assert empty_directories(place) == ([] if found == BEFORE else ["letters"])
        seen["old" if found == BEFORE else "new"] += 1
    assert seen["old"] > 30
    assert seen["new"] > 5


def refuse(path: Path, target: Path) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_recovery_that_is_killed_at_any_moment(tmp_path: Path) -> None:
    place = half_committed(tmp_path / "runs")
    for moment in count(1, 2):
        again = tmp_path / str(moment)
        # Copies would not be the files that the journal means, other names of them are.
        shutil.copytree(place, again, copy_function=os.link)
        is_killed = killed_at(moment, partial(recover_all, again))
        recover_all(again)
        assert content(again) == BEFORE, moment
        if not is_killed:
            break
    assert moment > 50


def test_any_of_the_directories_is_enough(tmp_path: Path) -> None:
    place = half_committed(tmp_path)
    (found,) = recover([place / "other"])
    assert set(found.undone) >= {place / "out/a.csv", place / "other/c-2.csv"}
    assert {name for name in content(place) if not name.startswith(".")} == set(BEFORE)


def test_a_living_run_is_left_alone(tmp_path: Path) -> None:
    with Publication("run") as publication:
        for name in ("one/a.csv", "two/b.csv"):
            (tmp_path / name).parent.mkdir()
            with publication.prepare(Target(path=tmp_path / name)) as file:
                file.write(b"new")
        before = content(tmp_path)
        assert recover([tmp_path / "two", tmp_path / "one"]) == []
        assert content(tmp_path) == before
        publication.commit()
    assert content(tmp_path) == {"one/a.csv": b"new", "two/b.csv": b"new"}


def test_what_others_have_put_there_since_stays(tmp_path: Path) -> None:
    place = half_committed(tmp_path)
    assert (place / "out/a.csv").read_bytes() == b"new a\n"
    (place / "out/a.csv").unlink()
    (place / "out/a.csv").write_bytes(b"mended by hand")
    recover_all(place)
    assert content(place) == {**BEFORE, "out/a.csv": b"mended by hand"}


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    names = (".clinker", ".clinker-", ".clinker-x.txt", ".clinker-x-1.tmp.bak", "clinker-x.run")
    for name in names:
        (tmp_path / name).write_bytes(b"mine")
    assert recover([tmp_path]) == []
    assert sorted(content(tmp_path)) == sorted(names)


def test_a_mark_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "out").mkdir()
    mark_in(tmp_path / "out", RUN).symlink_to(tmp_path / "precious")
    (found,) = recover([tmp_path / "out"])
    assert found.problem
    assert (tmp_path / "precious").read_bytes() == b"precious"


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    place = half_committed(tmp_path)
    shutil.move(place / "other", place / "elsewhere")
    (found,) = recover([place / "out"])
    assert found.problem == f"'{place}/other', which it wrote to as well, is not there"
    assert list(place.rglob("*.journal"))
    shutil.move(place / "elsewhere", place / "other")
    recover_all(place)
    assert content(place) == BEFORE


def test_a_damaged_journal(tmp_path: Path) -> None:
    (tmp_path / f".clinker-{RUN}.run").touch()
    (tmp_path / f".clinker-{RUN}.journal").write_bytes(b"{")
    (found,) = recover([tmp_path])
    assert str(found) == (
        f"'{tmp_path}' has files of run {RUN}, which may have been killed; they are left alone: "
        "its journal is damaged"
    )


def test_a_mark_is_made_although_others_take_it_for_an_abandoned_one(tmp_path: Path) -> None:
    """Many processes mark directories, while others recover them all the time."""
    program = (
        "import sys; from pathlib import Path; from clinker.formats.files.recovery import recover\n"
        "while not Path(sys.argv[1], 'stop').exists(): assert not recover([Path(sys.argv[1])])"
    )
    others = [subprocess.Popen([sys.executable, "-c", program, tmp_path]) for _ in range(2)]
    try:
        for number in range(400):
            marks = Marks(f"run-{number}")
            marks.put(tmp_path)
            assert mark_in(tmp_path, f"run-{number}").exists()
            marks.remove()
    finally:
        (tmp_path / "stop").touch()
    assert [other.wait() for other in others] == [0, 0]


def test_a_commit_waits_for_the_recovery_of_another(tmp_path: Path) -> None:
    """Otherwise what it has done would be undone together with what the killed run did."""
    moment = int(half_committed(tmp_path / "rehearsal").name)
    for number in count(moment):
        place = tmp_path / str(number)
        prepare(place)
        with Publication("later") as publication:
            with publication.prepare(
                Target(path=place / "out/a.csv", if_exists="overwrite")
            ) as file:
                file.write(b"later")
            assert killed_at(number, partial(publish, place))
            if (place / "out/b.csv").read_bytes() == BEFORE["out/b.csv"]:
                continue
            assert list(place.rglob("*.journal"))
            publication.commit()
        break
    assert content(place) == {**BEFORE, "out/a.csv": b"later"}


@pytest.mark.parametrize(
    ("name", "before"), [("a.csv", {}), ("a.csv", {"a.csv": b"old"}), ("made/a.csv", {})]
)
def test_a_single_file(tmp_path: Path, name: str, before: dict[str, bytes]) -> None:
    """One rename needs no journal, unless a directory is made for it."""

    def publish_one(place: Path) -> None:
        with Publication(RUN) as publication:
            with publication.prepare(Target(path=place / name, if_exists="overwrite")) as file:
                file.write(b"new")
            publication.commit()

    states, journals = [], 0
    for moment in count(1):
        place = tmp_path / str(moment)
        place.mkdir()
        for old, data in before.items():
            (place / old).write_bytes(data)
        is_killed = killed_at(moment, partial(publish_one, place))
        journals += len(list(place.rglob("*.journal")))
        recover([place, (place / name).parent])
        states.append(content(place))
        assert empty_directories(place) == []
        if not is_killed:
            break
    assert all(state in (before, {name: b"new"}) for state in states)
    assert (states[0], states[-1]) == (before, {name: b"new"})
    assert bool(journals) == name.startswith("made")
