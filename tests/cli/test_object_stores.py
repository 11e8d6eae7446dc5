"""Objects of a store as users of the command meet them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clinker.cli.clinker import main
from clinker.formats.files.objects.marks import MARK
from tests.object_store import Store
from tests.web import Reply, Request, json_reply, serving

CLINKER = str(Path(sys.executable).with_name("clinker"))
PIPELINE = """
pipeline: { name: p }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: "s3://data/in.csv", schema: { id: int } }
  - type: output
    name: a
    input: rows
    config: { type: csv, path: "s3://data/out/{batch_id}/a.csv", if_exists: overwrite }
  - { type: output, name: b, input: rows, config: { type: csv, path: s3://data/out/b.csv } }
"""


WAITING = """
  - type: source
    name: slow
    config:
      type: json
      transport:
        kind: rest
        url: "http://%s/rows"
        timeout_secs: 60
        max_pages: 1
        pagination: { strategy: link_header }
      schema: { id: int }
  - { type: output, name: c, input: slow, config: { type: csv, path: c.csv } }
"""


@pytest.fixture
def folder(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Path:
    store.put("in.csv", "id\n1\n")
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "clinker.toml").write_text('[storage.objects]\nallow = ["s3://data"]\n')
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path


def test_a_run_that_is_killed_and_the_next_one(folder: Path, store: Store) -> None:
    """The whole command is killed while it waits for a service; another one takes its place."""
    asked, answers = threading.Event(), threading.Event()

    def answer(request: Request) -> Reply:
        asked.set()
        answers.wait(60)
        return json_reply([{"id": 1}])

    command = [CLINKER, "run", "p.yaml", "--batch-id", "x", "--metrics-spool-dir", "metrics"]
    environment = os.environ | {"TMPDIR": str(folder / "temporary")}
    with serving(answer) as service:
        (folder / "p.yaml").write_text(PIPELINE + WAITING % service.host)
        with subprocess.Popen(command, cwd=folder, env=environment) as killed:
            assert asked.wait(60)
            killed.send_signal(signal.SIGKILL)
        answers.set()
        assert [key for key in store.listed() if key.endswith(f"/{MARK}")]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert store.listed() == ["in.csv", "out/b.csv", "out/x/a.csv"]
    (metrics,) = (folder / "metrics").iterdir()
    told = json.loads(metrics.read_text())
    assert told["input_files"] == ["s3://data/in.csv"]
    assert set(told["output_files"]) >= {"s3://data/out/x/a.csv", "s3://data/out/b.csv"}


def test_what_is_left_is_removed_by_hand(
    folder: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave() -> None:
        for place in ("out", "out/1", "elsewhere"):
            store.put(f"{place}/.clinker/gone/1.tmp", "x")

    def removed(where: str) -> str:
        return f"removed a file that run gone, which was killed, left in 's3://data/{where}'\n"

    leave()
    assert main(["recover", "s3://data/out/"]) == 0
    assert capsys.readouterr().out == removed("out") + removed("out/1")
    leave()
    assert main(["recover", str(folder / "p.yaml")]) == 0
    assert capsys.readouterr().out == removed("out") + removed("out/1")
    assert [key for key in store.listed() if ".clinker" in key] == ["elsewhere/.clinker/gone/1.tmp"]
    assert main(["recover", "s3://data"]) == 0
    assert capsys.readouterr().out == removed("elsewhere")


def test_stores_that_refuse_are_told(
    folder: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recover", "s3://missing/out"]) == 4
    told = "error: 's3://missing/out': the bucket 'missing' does not exist\n"
    assert capsys.readouterr().err == told
    assert main(["infer", "s3://data/missing.csv"]) == 4
    assert (
        capsys.readouterr().err == "error: s3://data/missing.csv: cannot be read: does not exist\n"
    )
    for command in ("infer", "recover"):
        assert main([command, "s3://AKIA:SECRET@data/x?token=SECRET"]) == 64
        told = capsys.readouterr().err
        assert "'s3://***@data/x?***' carries credentials or parameters" in told
        assert "SECRET" not in told


def test_sources_are_inferred_from_objects(
    folder: Path, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["infer", "s3://data/in.csv"]) == 0
    shown = capsys.readouterr()
    assert "path: s3://data/in.csv" in shown.out.replace('"', "")
    assert shown.err == ""
    (folder / "clinker.toml").write_text("")
    assert main(["infer", "s3://data/in.csv"]) == 0
    assert 'write allow = ["s3://data/"] under' in capsys.readouterr().err


def test_plans_name_objects(folder: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(folder / "p.yaml"), "--dry-run"]) == 0
    assert main(["run", str(folder / "p.yaml"), "--explain"]) == 0
    assert "'b' → s3://data/out/b.csv" in capsys.readouterr().out
    store.clear()
    assert main(["run", str(folder / "p.yaml"), "--dry-run"]) == 4
    assert "'s3://data/in.csv' does not exist" in capsys.readouterr().err
