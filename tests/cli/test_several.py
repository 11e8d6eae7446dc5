"""A pipeline run for several channels, in one session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.cli.clinker import main
from clinker.cli.several import worst

PIPELINE = """\
pipeline:
  name: orders
  vars: { least: 0 }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int } }
  - type: transform
    name: chosen
    input: orders
    config: { cxl: filter id >= $vars.least }
  - type: output
    name: result
    input: chosen
    config: { type: csv, path: "out/{channel}.csv" }
error_handling:
  strategy: continue
  dlq: { path: "out/{channel}-rejected.csv" }
"""
ROOT = Path(__file__).resolve().parents[2]
CHANNELS = ("--channel", "acme.channel.yaml", "--channel", "globex.channel.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "orders.csv").write_text("id\n1\nx\n3\n")
    for name, least in (("acme", 3), ("globex", 1)):
        channel(tmp_path, name, f"vars: {{ static: {{ least: {least} }} }}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def channel(folder: Path, name: str, more: str = "", called: str | None = None) -> None:
    text = f"channel: {{ name: {called or name}, target: p.yaml }}\n{more}\n"
    (folder / f"{name}.channel.yaml").write_text(text)


def run(*options: str) -> int:
    return main(["run", "p.yaml", *CHANNELS, *options])


def script(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with something changed about it."""
    arguments = ["run", "p.yaml", *CHANNELS, *options]
    text = f"{text}\nimport sys\nfrom clinker.cli.clinker import main\nsys.exit(main({arguments}))"
    command = [sys.executable, "-c", text]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


def written(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((folder / "out").glob("*[a-z].csv"))}


COUNTING = """
from clinker.engine.run import runs
start = runs.start_jvm
def counted(settings):
    print("Java starts")
    return start(settings)
runs.start_jvm = counted
"""
KILLING = """
import os, signal
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
"""


def test_each_channel_has_a_run_of_its_own(folder: Path) -> None:
    done = script(
        COUNTING, "--batch-id", "daily", "--metrics-spool-dir", "spool", "--report", "run.html"
    )
    assert (done.returncode, done.stdout) == (
        2,
        "Java starts\n"
        "==> acme <==\n"
        "result        out/acme.csv           1 record  5 B\n"
        "dead letters  out/acme-rejected.csv  1 entry\n"
        "  1  type_coercion_failure\n"
        "Pipeline complete: 3 total, 1 ok, 1 written, 1 dlq\n"
        "\n"
        "==> globex <==\n"
        "result        out/globex.csv           2 records  7 B\n"
        "dead letters  out/globex-rejected.csv  1 entry\n"
        "  1  type_coercion_failure\n"
        "Pipeline complete: 3 total, 2 ok, 2 written, 1 dlq\n"
        "\n"
        "Exit codes: acme 2, globex 2\n",
    )
    page = (ROOT / "docs" / "pipelines" / "channels.md").read_text("utf-8")
    assert done.stdout.removeprefix("Java starts\n") in page
    assert [line.partition("daily-")[2] for line in done.stderr.splitlines()] == [
        "acme info: the report is in 'run-acme.html'",
        "globex info: the report is in 'run-globex.html'",
    ]
    found = written(folder)
    assert (found["acme.csv"], found["globex.csv"]) == ("id\n3\n", "id\n1\n3\n")
    metrics = [json.loads(file.read_bytes()) for file in (folder / "spool").iterdir()]
    assert sorted(each["batch_id"] for each in metrics) == ["daily-acme", "daily-globex"]


def test_a_run_that_fails_keeps_no_other_from_running(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "acme.csv").write_text("mine")
    (folder / "orders.csv").write_text("id\n1\n")
    done = script("", "--format", "json")
    reports = json.loads(done.stdout)
    assert [report["exit_code"] for report in reports] == [4, 0]
    assert done.returncode == 4
    assert written(folder) == {"acme.csv": "mine", "globex.csv": "id\n1\n"}


def test_an_engine_that_is_lost_is_replaced(folder: Path) -> None:
    failing = """
from clinker.engine.run import run
complete = run._complete
def fail(prepared, session):
    if prepared.plan.channel == "acme":
        raise ConnectionError
    return complete(prepared, session)
run._complete = fail
"""
    done = script(COUNTING + failing, "--quiet")
    assert (done.returncode, done.stdout) == (4, "Java starts\nJava starts\n")
    assert done.stderr.startswith("==> acme <==\nerror: Spark ended before the run did")
    assert list(written(folder)) == ["globex-rejected.csv", "globex.csv"]


def test_a_signal_ends_all(folder: Path) -> None:
    (folder / "orders.csv").write_text("id\n3\n")
    killing = "from clinker.engine.run import settle\nsettle.check_limits = kill"
    done = script(KILLING + killing, "--quiet")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == (
        "==> acme <==\n"
        "interrupted: nothing was written\n"
        "error: interrupted: there was no run for globex\n"
    )
    assert not (folder / "out").exists()


def test_a_signal_after_a_run_ends_those_that_follow(folder: Path) -> None:
    (folder / "orders.csv").write_text("id\n3\n")
    killing = "from clinker.cli import execution\nexecution.write_metrics = kill"
    done = script(KILLING + killing, "--quiet", "--metrics-spool-dir", "spool")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "error: interrupted: there was no run for globex\n"
    assert written(folder) == {"acme.csv": "id\n3\n"}


def test_files_of_two_channels_are_refused_before_anything_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PIPELINE.replace("out/{channel}.csv", "out/all.csv")
    (folder / "p.yaml").write_text(text.replace("{channel}-rejected", "rejected"))
    for option in ("--force", "--dry-run"):
        assert run(option) == 1
        out, err = said(capsys)
        assert out == ""
        both = "would write the same file for the channels 'acme' and 'globex'"
        assert f"error[E322]: output 'result' {both}" in err
        assert f"error[E322]: the dead-letter queue {both}" in err
        assert "help: put {channel} into the path, and the path into quotes" in err
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "path",
    [
        '"out/{execution_id}.csv"',
        '"out/{batch_id}.csv"',
        "out/all.csv, if_exists: unique_suffix",
    ],
)
def test_files_that_every_run_has_anew(folder: Path, path: str) -> None:
    (folder / "p.yaml").write_text(PIPELINE.replace('"out/{channel}.csv"', path))
    assert run("--dry-run", "--batch-id", "daily") == 0


def test_a_directory_for_values_is_shared_by_channels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PIPELINE.replace("out/{channel}.csv", "out/{field:id}.csv")
    (folder / "p.yaml").write_text(text)
    assert run("--dry-run") == 1
    assert "output 'result' would write the same file" in said(capsys)[1]


def test_a_dry_run_tells_of_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--dry-run") == 0
    nodes = "1 source, 1 node between, 1 output"
    told = [f"ok: p.yaml is valid for {name}: {nodes}\n" for name in ("acme", "globex")]
    assert said(capsys) == ("".join(told), "")
    (folder / "out").mkdir()
    (folder / "out" / "acme.csv").write_text("mine")
    assert run("--dry-run") == 4
    message = f"'{folder}/out/acme.csv' exists already: a run needs --force to overwrite it"
    assert said(capsys) == (told[1], f"error: {message}\n")


def test_a_mistake_is_told_once_and_nothing_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.yaml").write_text(PIPELINE.replace("id >=", "ident >="))
    assert run("--report", "run.html") == 1
    assert said(capsys)[1].count("error[") == 1
    assert sorted(file.name for file in folder.glob("*.html")) == [
        "run-acme.html",
        "run-globex.html",
    ]


def test_a_channel_that_is_wrong_keeps_all_from_running(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    channel(folder, "globex", "vars: { static: { least: many } }")
    assert run() == 1
    assert "error[E107]" in said(capsys)[1]
    assert not (folder / "out").exists()


def test_channels_of_one_name_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    channel(folder, "globex", called="acme")
    assert run() == 1
    message = "the channels 'acme.channel.yaml' and 'globex.channel.yaml' are both called 'acme'"
    assert said(capsys) == ("", f"error: {message}\n")


def test_a_channel_is_given_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--channel", CHANNELS[1]) == 1
    assert said(capsys) == ("", "error: the channel 'acme.channel.yaml' is given twice\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--explain",), "--explain shows one run: give it one --channel"),
        (("-n", "3"), "-n shows records of one run: give it one --channel"),
    ],
)
def test_what_is_of_one_run_wants_one_channel(
    folder: Path, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*options) == 64
    assert said(capsys) == ("", f"error: {message}\n")


def test_the_worst_code_counts() -> None:
    assert worst([0, 0]) == 0
    assert worst([2, 0, 1]) == 1
    assert worst([1, 3, 2]) == 3
    assert worst([3, 4, 0]) == 4
    assert worst([4, 70]) == 70
    assert worst([70, 130]) == 130
