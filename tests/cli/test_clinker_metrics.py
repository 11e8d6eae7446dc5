"""Metrics are collected: each run is in the archive once, whatever happens."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clinker.cli.clinker import main

CLINKER = str(Path(sys.executable).with_name("clinker"))


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    directory = tmp_path / "spool"
    directory.mkdir()
    return directory


def leave(spool: Path, *runs: str, **more: object) -> None:
    for run in runs:
        content = {"execution_id": run, "schema_version": 1, "pipeline_name": "p", **more}
        (spool / f"{run}.json").write_text(json.dumps(content))


def collect(spool: Path, archive: Path, *options: str) -> int:
    return main(
        ["metrics", "collect", "--spool-dir", str(spool), "--output-file", str(archive), *options]
    )


def runs(archive: Path) -> list[str]:
    return [json.loads(line)["execution_id"] for line in archive.read_text().splitlines()]


def test_a_run_is_collected_once(
    spool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "all.ndjson"
    leave(spool, "a")
    assert collect(spool, archive) == 0
    leave(spool, "b")
    assert collect(spool, archive, "--dry-run") == 0
    assert collect(spool, archive) == 0
    assert capsys.readouterr().out == (
        f"Collected 1 file(s) → {archive}\n"
        f"Would collect 1 file(s) from {spool}\n  {spool}/b.json (p)\n"
        f"Collected 1 file(s) → {archive}, 1 known\n"
    )
    assert runs(archive) == ["a", "b"]
    # As if an earlier one had been killed before it could delete them.
    assert collect(spool, archive, "--delete-after-collect") == 0
    assert runs(archive) == ["a", "b"]
    assert not [*spool.iterdir()]


def test_a_copy_of_a_file_is_no_other_run(spool: Path, tmp_path: Path) -> None:
    leave(spool, "a")
    (spool / "copy.json").write_text((spool / "a.json").read_text())
    assert collect(spool, tmp_path / "all.ndjson", "--delete-after-collect") == 0
    assert runs(tmp_path / "all.ndjson") == ["a"]
    assert not [*spool.iterdir()]


@pytest.mark.parametrize("half", ['{"execution_id":"x","sch', '{"execution_id":'])
def test_half_a_line_is_removed(
    spool: Path, tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "all.ndjson"
    archive.write_text('{"execution_id":"first"}\n' + half)
    leave(spool, "x")
    assert collect(spool, archive) == 0
    assert runs(archive) == ["first", "x"]
    assert "half of a line" in capsys.readouterr().err


@pytest.mark.parametrize(
    "other", ["not ours", '{"execution_id":"whole"}', '{"other": 1}', "\0\xff"]
)
def test_what_others_have_written_stays(spool: Path, tmp_path: Path, other: str) -> None:
    archive = tmp_path / "all.ndjson"
    archive.write_bytes(b'[1]\n"x"\n' + other.encode("latin-1"))
    leave(spool, "x")
    assert collect(spool, archive) == 0
    lines = archive.read_bytes().splitlines()
    assert lines[:3] == [b"[1]", b'"x"', other.encode("latin-1")]
    assert json.loads(lines[3])["execution_id"] == "x"


def test_a_long_last_line_without_an_end(spool: Path, tmp_path: Path) -> None:
    archive = tmp_path / "all.ndjson"
    whole = json.dumps({"execution_id": "long", "x": "y" * 3_000_000}, separators=(",", ":"))
    archive.write_text(f"{{}}\n{whole}")
    leave(spool, "x")
    assert collect(spool, archive) == 0
    assert archive.read_text().splitlines()[1] == whole
    archive.write_text(f"{{}}\n{whole[:-1]}")
    assert collect(spool, archive) == 0
    assert [json.loads(line) for line in archive.read_text().splitlines()][1]["execution_id"] == "x"


def test_what_is_half_written_is_left_to_the_run_that_writes_it(
    spool: Path, tmp_path: Path
) -> None:
    leave(spool, "a")
    young, old = spool / ".b.json.17.tmp", spool / ".c.json.18.tmp"
    for file in (young, old, spool / ".hidden"):
        file.write_text('{"execution_id": "b"')
    long_ago = time.time() - 100_000
    os.utime(old, (long_ago, long_ago))
    os.utime(spool / ".hidden", (long_ago, long_ago))
    assert collect(spool, tmp_path / "all.ndjson") == 0
    assert old.exists()
    assert collect(spool, tmp_path / "all.ndjson", "--delete-after-collect") == 0
    assert sorted(file.name for file in spool.iterdir()) == [".b.json.17.tmp", ".hidden"]
    assert runs(tmp_path / "all.ndjson") == ["a"]


def test_hostile_names_and_contents(
    spool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(spool, "x\n\x1b[2J", pipeline_name="$(rm -rf /)\r\n")
    (spool / "link.json").symlink_to("/etc/passwd")
    os.mkfifo(spool / "pipe.json")
    (spool / "directory.json").mkdir()
    (spool / "nan.json").write_text('{"execution_id": NaN}')
    (spool / "deep.json").write_text("[" * 100_000)
    (spool / "list.json").write_text("[]")
    (spool / os.fsdecode(b"\xff.json")).write_text("{")
    assert collect(spool, tmp_path / "all.ndjson", "--dry-run") == 0
    assert collect(spool, tmp_path / "all.ndjson", "--delete-after-collect") == 0
    assert runs(tmp_path / "all.ndjson") == ["x\n\x1b[2J"]
    shown = capsys.readouterr()
    assert shown.err.count("is skipped") == 14
    assert "\x1b" not in shown.out + shown.err
    assert len([*spool.iterdir()]) == 7


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_an_archive_that_is_none(
    spool: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(spool, "a")
    archive = tmp_path / "archive"
    if kind == "directory":
        archive.mkdir()
    else:
        os.mkfifo(archive)
    assert collect(spool, archive, "--delete-after-collect") == 4
    assert "cannot write" in capsys.readouterr().err
    assert (spool / "a.json").exists()


def test_nothing_to_collect_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--dry-run",)):
        assert collect(tmp_path / "none", tmp_path / "all.ndjson", *options) == 4
        assert "does not exist" in capsys.readouterr().err
    assert not (tmp_path / "all.ndjson").exists()


@pytest.mark.parametrize("archives", [1, 2])
def test_several_collect_at_once_while_runs_end_and_some_are_killed(
    spool: Path, tmp_path: Path, archives: int
) -> None:
    chance = random.Random(archives)
    every: list[str] = []
    working: list[subprocess.Popen[bytes]] = []
    for number in range(12):
        names = [f"run-{number}-{n}" for n in range(20)]
        leave(spool, *names)
        every += names
        archive = str(tmp_path / f"{number % archives}.ndjson")
        options = ["--spool-dir", str(spool), "--output-file", archive, "--delete-after-collect"]
        working.append(
            subprocess.Popen(
                [CLINKER, "metrics", "collect", *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        )
        time.sleep(chance.random() / 5)
        if archives == 1 and number % 3 == 2:
            chance.choice(working).send_signal(signal.SIGKILL)
    for process in working:
        process.communicate(timeout=60)
    assert collect(spool, tmp_path / "0.ndjson", "--delete-after-collect") == 0
    found = [run for n in range(archives) for run in runs(tmp_path / f"{n}.ndjson")]
    assert sorted(found) == sorted(every)
    assert not [*spool.iterdir()]
