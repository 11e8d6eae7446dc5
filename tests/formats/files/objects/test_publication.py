"""Objects of a run appear together, and whatever is killed in between is completed or removed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.formats.common.writing import WriteError
from clinker.formats.files.claims import Claimant
from clinker.formats.files.objects import commit, marks
from clinker.formats.files.objects.recovery import recover_objects
from clinker.formats.files.publication import Publication, Target
from clinker.stores.access import StoreError, put_in_place
from clinker.stores.urls import FilePath, ObjectUrl
from tests.object_store import Store

OUT = ObjectUrl("s3", "data", "out")
OTHER = ObjectUrl("s3", "data", "other")

KILLED = """
import os, signal, sys, tempfile
from pathlib import Path
from clinker.formats.files import publication
from clinker.formats.files.objects import commit, marks
from clinker.formats.files.publication import Publication, Target
from clinker.stores.urls import FilePath, ObjectUrl

left = int(sys.argv[1])

def dying(verb):
    def before(*arguments):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        verb(*arguments)
    return before

for module in (publication, commit, marks):
    for name in "upload write_object put_in_place remove_object remove_directory".split():
        if hasattr(module, name):
            setattr(module, name, dying(getattr(module, name)))
folder = Path(sys.argv[2])
with Publication("run", lambda: Path(tempfile.mkdtemp(dir=folder))) as run:
    for directory in ("out", "other"):
        target = Target(path=ObjectUrl("s3", "data", f"{directory}/a.csv"), if_exists="overwrite")
        with run.prepare(target) as file:
            file.write(b"new")
    run.remove(ObjectUrl("s3", "data", "out/gone.csv"))
    run.commit()
"""


def publication(folder: Path, run_id: str = "run") -> Publication:
    made = iter(range(100))

    def make_folder() -> Path:
        path = folder / f"{run_id}-{next(made)}"
        path.mkdir()
        return path

    return Publication(run_id, make_folder)


def prepare(run: Publication, path: FilePath, content: bytes = b"new") -> None:
    with run.prepare(Target(path=path, if_exists="overwrite")) as file:
        file.write(content)


def test_nothing_is_seen_before_the_commit(store: Store, tmp_path: Path) -> None:
    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
        prepare(run, OTHER / "b.csv")
        assert store.listed() == [
            "other/.clinker/run/2.tmp",
            "other/.clinker/run/run.json",
            "out/.clinker/run/1.tmp",
            "out/.clinker/run/run.json",
        ]
        published = run.commit()
    assert [str(file.path) for file in published] == [
        "s3://data/out/a.csv",
        "s3://data/other/b.csv",
    ]
    assert store.listed() == ["other/b.csv", "out/a.csv"]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_nothing_is_left_without_a_commit(store: Store, tmp_path: Path) -> None:
    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
    assert store.listed() == []


def test_large_objects_are_uploaded_in_parts(store: Store, tmp_path: Path) -> None:
    content = bytes(range(256)) * (30 << 12)
    with publication(tmp_path) as run:
        prepare(run, OUT / "a.bin", content)
        run.commit()
    assert len(content) == 30 << 20
    assert store.get("out/a.bin") == content


@pytest.mark.parametrize("step", range(9))
def test_killed_at_any_moment(store: Store, tmp_path: Path, step: int) -> None:
    """After a recovery everything is old, or everything is new."""
    for key in ("out/a.csv", "other/a.csv", "out/gone.csv"):
        store.put(key, "old")
    old = {"other/a.csv": b"old", "out/a.csv": b"old", "out/gone.csv": b"old"}
    new = {"other/a.csv": b"new", "out/a.csv": b"new"}
    done = subprocess.run([sys.executable, "-c", KILLED, str(step), str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    recovered = recover_objects([OTHER, OUT])
    assert [each.problem for each in recovered if each.problem] == []
    state = {key: store.get(key) for key in store.listed()}
    assert state == (old if step < 5 else new)
    assert any(each.completed for each in recovered) == (5 <= step < 8)
    assert recover_objects([OTHER, OUT]) == []


def test_objects_can_only_vanish(store: Store, tmp_path: Path) -> None:
    for keys in (["out/a.csv"], ["out/a.csv", "other/b.csv", "other/missing.csv"]):
        for key in keys[:2]:
            store.put(key, "old")
        with publication(tmp_path) as run:
            for key in keys:
                run.remove(ObjectUrl("s3", "data", key))
            assert run.commit() == []
        assert store.listed() == []


def test_what_others_have_changed_since_stays(store: Store, tmp_path: Path) -> None:
    for key in ("out/a.csv", "other/a.csv"):
        store.put(key, "old")
    subprocess.run([sys.executable, "-c", KILLED, "5", str(tmp_path)])
    store.put("out/a.csv", "someone else's")
    (recovered, *_) = recover_objects([OTHER])
    assert [str(url) for url in recovered.completed] == ["s3://data/other/a.csv"]
    assert store.get("out/a.csv") == b"someone else's"
    assert store.get("other/a.csv") == b"new"


def test_a_commit_that_cannot_go_on_is_completed_later(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(aside: ObjectUrl, url: ObjectUrl) -> None:
        if url.key.startswith("other"):
            raise StoreError("access denied")
        put_in_place(aside, url)

    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
        prepare(run, OTHER / "a.csv")
        monkeypatch.setattr(commit, "put_in_place", refuse)
        with pytest.raises(WriteError) as problem:
            run.commit()
    assert str(problem.value) == (
        "cannot write s3://data/other/a.csv: access denied; 1 of 2 objects are in place: when that "
        "is mended, `clinker recover s3://data/out` completes it"
    )
    monkeypatch.setattr(commit, "put_in_place", put_in_place)
    assert recover_objects([OUT]) == []  # its process lives
    (recovered,) = recover_objects([OUT], force=True)
    assert str(recovered) == (
        "run run, which was killed while it put its objects in place, is completed: "
        "'s3://data/other/a.csv'"
    )
    assert store.listed() == ["other/a.csv", "out/a.csv"]


@pytest.mark.parametrize(("beside_files", "is_left"), [(False, False), (True, True)])
def test_a_single_object_is_left_for_later_only_beside_files(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    beside_files: bool,
    is_left: bool,
) -> None:
    def refuse(aside: ObjectUrl, url: ObjectUrl) -> None:
        raise StoreError("access denied")

    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
        if beside_files:
            prepare(run, tmp_path / "b.csv")
        monkeypatch.setattr(commit, "put_in_place", refuse)
        with pytest.raises(WriteError, match="access denied"):
            run.commit()
        monkeypatch.setattr(commit, "put_in_place", put_in_place)
    assert [
        str(url) for found in recover_objects([OUT], force=True) for url in found.completed
    ] == (["s3://data/out/a.csv"] if is_left else [])
    assert store.listed() == (["out/a.csv"] if is_left else [])
    assert (tmp_path / "b.csv").exists() == beside_files


def claimant(run_id: str) -> Claimant:
    return Claimant(run_id=run_id, batch_id="b", process=1, host="h", started="now")


def test_claims_keep_runs_apart(store: Store, tmp_path: Path) -> None:
    with publication(tmp_path, "one") as one, publication(tmp_path, "two") as two:
        first = one.object_claims(claimant("one"))
        second = two.object_claims(claimant("two"))
        assert first.make([OUT / "a.csv"]) is None
        assert second.make([OUT / "b.csv"]) is None
        conflict = second.make([OUT / "b.csv", OUT / "a.csv"])
        assert conflict
        assert (str(conflict.path), conflict.claimant.run_id) == ("s3://data/out/a.csv", "one")
        # Whoever is refused claims nothing.
        assert first.make([OUT / "a.csv", OUT / "b.csv"]) is None
    assert store.listed() == []


def test_runs_of_other_machines_live_as_long_as_they_renew_their_marks(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
        key = "out/.clinker/run/run.json"
        mark = json.loads(store.get(key))
        mark["process"] |= {"host": "elsewhere", "number": 0}
        store.put(key, json.dumps(mark))
        assert recover_objects([OUT]) == []
        monkeypatch.setattr(marks, "LEASE", marks.LEASE * 0)
        (recovered,) = recover_objects([OUT])
        assert str(recovered) == (
            "removed a file that run run, which was killed, left in 's3://data/out'"
        )
        with pytest.raises(WriteError, match="another run took this one for killed"):
            run.commit()
    assert store.listed() == []


def test_marks_are_renewed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_RENEWAL_SECONDS", 0.01)
    with publication(tmp_path) as run:
        prepare(run, OUT / "a.csv")
        key = "out/.clinker/run/run.json"
        store.client.delete_object(Bucket="data", Key=key)
        for _ in range(1000):
            if key in store.listed():
                break
        assert key in store.listed()
    assert store.listed() == []


@pytest.mark.parametrize(
    "change",
    [
        ["s3://data/payroll/a.csv", "s3://data/out/.clinker/x/1.tmp", None],
        ["s3://data/out/a.csv", "s3://data/payroll/b.csv", None],
        ["s3://data/payroll/b.csv", None, "FACTS"],
        ["s3://data/out/../payroll/b.csv", None, "FACTS"],
    ],
)
def test_nobody_has_changes_made_where_he_cannot_write(
    store: Store, change: list[str | None]
) -> None:
    """Who recovers may be allowed more than who has written what is recovered."""
    store.put("payroll/b.csv", "salaries")
    state = commit.state_of(ObjectUrl("s3", "data", "payroll/b.csv"))
    told = [state if each == "FACTS" else each for each in change]
    store.put("out/.clinker/x/1.tmp", "mine")
    mark: dict[str, object] = {
        "home": "s3://data/out",
        "process": None,
        "claimant": None,
        "paths": [],
    }
    store.put("out/.clinker/x/run.json", json.dumps(mark))
    record = {"version": 1, "changes": [told], "directories": ["s3://data/payroll"]}
    store.put("out/.clinker/x/commit.json", json.dumps(record))
    (recovered,) = recover_objects([OUT], force=True)
    assert recovered.problem
    assert "it has left no mark in" in recovered.problem
    assert [key for key in store.listed() if ".clinker" not in key] == ["payroll/b.csv"]
    assert store.get("payroll/b.csv") == b"salaries"


def test_names_that_no_run_has_are_left_alone(store: Store) -> None:
    store.put("out/.clinker/../1.tmp", "x")
    store.put("out/.clinker/a b/1.tmp", "x")
    assert recover_objects([OUT], force=True) == []
    assert len(store.listed()) == 2


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"process": 1}', '{"home": "x", "process": {}}']
)
def test_marks_that_are_none_are_those_of_the_dead(store: Store, content: str) -> None:
    store.put("out/.clinker/x/run.json", content)
    store.put("out/.clinker/x/1.tmp", "x")
    (recovered,) = recover_objects([OUT])
    assert recovered.removed == 1
    assert store.listed() == []
