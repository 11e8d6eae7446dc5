"""The `clinker` command as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clinker.cli.clinker import main

CLINKER = str(Path(sys.executable).with_name("clinker"))

PIPELINE = """\
pipeline:
  name: orders
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
  - type: transform
    name: priced
    input: orders
    config:
      cxl: |
        emit gross = amount * 1.2
  - type: output
    name: result
    input: priced
    config: { type: csv, path: result.csv }
"""

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def clinker(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*args: str) -> tuple[int, str, str]:
        try:
            code = main(args)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    (tmp_path / "orders.csv").write_text("id,amount\n1,2.5\n")
    return tmp_path


def test_dry_run_accepts_a_pipeline(clinker: Command, folder: Path) -> None:
    path = str(folder / "pipeline.yaml")
    code, out, err = clinker("run", path, "--dry-run")
    assert (code, err) == (0, "")
    assert out == f"ok: {path} is valid: 1 source, 1 node between, 1 output\n"
    assert sorted(p.name for p in folder.iterdir()) == ["orders.csv", "pipeline.yaml"]


def test_the_environment_is_what_the_file_calls_it(clinker: Command, folder: Path) -> None:
    path = folder / "pipeline.yaml"
    path.write_text(path.read_text().replace("name: orders", "name: orders-${CLINKER_ENV}", 1))
    code, out, _ = clinker("explain", str(path), "--env", "prod")
    assert code == 0
    assert out.startswith("Execution Plan: orders-prod\n")


def test_what_is_shown_has_one_channel(clinker: Command, folder: Path) -> None:
    path = str(folder / "pipeline.yaml")
    code, _, err = clinker("show", path, "--channel", "a.channel.yaml", "--channel=b.channel.yaml")
    message = "argument --channel: it can be given once; run the command for each"
    assert (code, err.splitlines()[0]) == (64, f"clinker show: error: {message}")


def test_a_dry_run_tells_what_a_run_would_not_overwrite(clinker: Command, folder: Path) -> None:
    path = str(folder / "pipeline.yaml")
    assert clinker("run", path, "--dry-run")[0] == 0
    (folder / "result.csv").write_text("")
    code, out, err = clinker("run", path, "--dry-run")
    message = f"'{folder}/result.csv' exists already: a run needs --force to overwrite it"
    assert (code, out, err) == (4, "", f"error: {message}\n")
    assert clinker("run", path, "--dry-run", "--force")[0] == 0


def test_a_dry_run_tells_what_directories_a_run_could_not_use(
    clinker: Command, folder: Path
) -> None:
    (folder / "clinker.toml").write_text('[storage.spill]\ndir = "nowhere/spill"\n')
    (folder / "nowhere").write_text("")
    run = ("run", str(folder / "pipeline.yaml"))
    code, _, err = clinker(*run, "--dry-run")
    assert (code, "nowhere/spill" in err) == (1, True)
    assert clinker(*run)[::2] == (code, err)


def test_dry_run_points_into_the_file(clinker: Command, folder: Path) -> None:
    path = folder / "pipeline.yaml"
    path.write_text(PIPELINE.replace("amount * 1.2", "amuont * 1.2"))
    code, out, err = clinker("run", str(path), "--dry-run")
    assert (code, out) == (1, "")
    assert err == (
        f"error[E200]: unknown field 'amuont' (at {path}:17)\n"
        "   17 |         emit gross = amuont * 1.2\n"
        "      |                      ^^^^^^\n"
        "  help: did you mean 'amount'?\n"
    )


def test_all_errors_are_reported_at_once(clinker: Command, folder: Path) -> None:
    path = folder / "pipeline.yaml"
    broken = PIPELINE.replace("amount * 1.2", "amuont * 1.2")
    broken = broken.replace(
        "    name: result\n    input: priced", "    name: result\n    inputt: priced"
    )
    broken = broken.replace("type: int", "type: integr")
    path.write_text(broken)
    _, out, _ = clinker("run", str(path), "--dry-run", "--format", "json")
    found = [(d["code"], d["primary"]["start"]["line"]) for d in json.loads(out)]
    assert found == [("E014", 10), ("E005", 20)]


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_less_memory_than_the_engine_needs(
    clinker: Command, folder: Path, options: tuple[str, ...]
) -> None:
    pipeline = str(folder / "pipeline.yaml")
    code, out, err = clinker("run", pipeline, "--memory-limit", "255M", *options)
    assert (code, out) == (1, "")
    assert err == (
        "error[E312]: a memory limit of 255M is less than the 256M that the engine needs\n"
        "  help: the smallest limit is 256M: set it with --memory-limit or memory.limit\n"
    )
    assert sorted(p.name for p in folder.iterdir()) == ["orders.csv", "pipeline.yaml"]


def test_a_missing_input_is_found_by_a_dry_run(clinker: Command, folder: Path) -> None:
    (folder / "orders.csv").unlink()
    code, _, err = clinker("run", str(folder / "pipeline.yaml"), "--dry-run")
    assert code == 4
    assert "error[E216]" in err


@pytest.mark.parametrize(
    "command", [("run", "--dry-run"), ("run",), ("run", "--explain"), ("show",)]
)
def test_files_that_should_tell_their_columns(
    clinker: Command, folder: Path, command: tuple[str, ...]
) -> None:
    pipeline = folder / "pipeline.yaml"
    text = pipeline.read_text().replace("type: csv", "type: parquet", 1)
    begin, end = text.index("      schema:"), text.index("  - type: transform")
    pipeline.write_text(text[:begin] + text[end:])
    name, *options = command
    code, _, err = clinker(name, str(pipeline), *options)
    assert code == 4
    assert "error[E222]: 'orders.csv' does not tell its columns: it is not a Parquet file" in err
    (folder / "orders.csv").unlink()
    code, _, err = clinker(name, str(pipeline), *options)
    assert code == 4
    assert "error[E216]: 'orders.csv' does not exist" in err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["run", "nowhere.yaml", "--dry-run"], 4, "cannot read 'nowhere.yaml'"),
        (["run"], 64, "the following arguments are required: CONFIG"),
        (["run", "p.yaml", "--threads", "0"], 64, "'0' is not a whole number of 1 or more"),
        (["run", "p.yaml", "--memory-limit", "lots"], 64, "'lots' is not a size such as 512M"),
        (["run", "p.yaml", "--log-level", "loud"], 64, "invalid choice: 'loud'"),
        (["run", "p.yaml", "--explain", "pdf"], 64, "invalid choice: 'pdf'"),
        (["run", "p.yaml", "--dry-run-output", "x"], 64, "--dry-run-output needs -n"),
        (["run", "p.yaml", "--foce"], 64, "arguments: --foce; did you mean '--force'?"),
        (["rnu"], 64, "did you mean 'run'?"),
        (["explain"], 64, "a code or a pipeline file"),
        (["explain", "--code", "E999"], 1, "E999"),
        (["explain", "E999"], 1, "E999"),
        (["explain", "--field", "a.b"], 64, "a code or a pipeline file"),
        (["completion", "basch"], 64, "did you mean 'bash'?"),
        (["metrics"], 64, "required: ACTION"),
        (["metrics", "collect", "--spool-dir", "none", "--output-file", "x"], 4, "does not exist"),
    ],
)
def test_wrong_usage(clinker: Command, args: list[str], code: int, message: str) -> None:
    found, out, err = clinker(*args)
    assert (found, out) == (code, "")
    assert message in err


def test_explain_prints_the_page_of_a_code(clinker: Command) -> None:
    code, out, _ = clinker("explain", "--code", "e153")
    assert (code, out) == clinker("explain", "E153")[:2]
    assert code == 0
    assert out.startswith("E153")
    assert "correlation" in out


def test_a_plan_is_explained_wherever_the_file_stands(clinker: Command, folder: Path) -> None:
    pipeline = str(folder / "pipeline.yaml")
    code, out, _ = clinker("run", pipeline, "--explain")
    assert (code, out.splitlines()[0]) == (0, "Execution Plan: orders")
    assert clinker("run", "--explain", pipeline)[:2] == (code, out)
    assert clinker("explain", pipeline)[:2] == (code, out)
    code, out, _ = clinker("run", "--explain", "dot", pipeline)
    assert (code, out[:7]) == (0, "digraph")
    assert clinker("explain", pipeline, "--plan", "dot")[:2] == (code, out)


def test_colour_can_be_asked_for(clinker: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in clinker("explain", "E153")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in clinker("explain", "E153")[1]


def test_explain_tells_what_became_of_a_retired_code(clinker: Command) -> None:
    code, out, _ = clinker("explain", "--code", "E307")
    assert (code, out) == (0, "E307 is no longer used: an input that names no node is E004\n")


def test_schema_prints_json_schema(clinker: Command) -> None:
    code, out, _ = clinker("schema")
    assert code == 0
    assert json.loads(out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_metrics_are_collected_in_the_order_of_the_runs(clinker: Command, tmp_path: Path) -> None:
    spool, archive = tmp_path / "spool", tmp_path / "archive.ndjson"
    spool.mkdir()
    for name, execution in (("b", "0002"), ("a", "0003"), ("c", "0001")):
        report = {"schema_version": 3, "execution_id": execution, "pipeline_name": name}
        (spool / f"{name}.json").write_text(json.dumps(report))
    (spool / "old.json").write_text('{"schema_version": 1}')
    (spool / "broken.json").write_text("{")
    args = ("metrics", "collect", "--spool-dir", str(spool), "--output-file", str(archive))
    code, out, err = clinker(*args, "--dry-run")
    assert code == 0
    assert out.startswith(f"Would collect 3 file(s) from {spool}\n")
    assert err == (
        f"warning: {spool}/broken.json is skipped: it is not JSON\n"
        f"warning: {spool}/old.json is skipped: it holds no metrics\n"
    )
    assert not archive.exists()
    code, out, _ = clinker(*args, "--delete-after-collect")
    assert (code, out) == (0, f"Collected 3 file(s) → {archive}\n")
    collected = [json.loads(line)["execution_id"] for line in archive.read_text().splitlines()]
    assert collected == ["0001", "0002", "0003"]
    assert sorted(p.name for p in spool.iterdir()) == ["broken.json", "old.json"]


def test_files_that_no_run_left_are_no_metrics(clinker: Command, tmp_path: Path) -> None:
    spool, outside = tmp_path / "spool", tmp_path / "outside.json"
    spool.mkdir()
    good = json.dumps({"schema_version": 1, "execution_id": "1", "pipeline_name": "p\x1b[2J"})
    outside.write_text(good)
    (spool / "good.json").write_text(good)
    (spool / "deep.json").write_text('{"a":' * 200_000)
    (spool / "folder.json").mkdir()
    (spool / "latin.json").write_bytes(b'{"name": "caf\xe9"}')
    (spool / "link.json").symlink_to(outside)
    (spool / "loop.json").symlink_to(spool / "loop.json")
    (spool / "nan.json").write_text(good.replace("1,", "NaN,"))
    (spool / "new\nline.json").write_text("[]")
    os.mkfifo(spool / "pipe.json")
    (spool / "types.json").write_text(good.replace('"1"', "[1]"))
    with (spool / "vast.json").open("wb") as stream:
        stream.truncate(10 * 2**30)
    archive = spool / "archive.json"
    args = ("metrics", "collect", "--spool-dir", str(spool), "--output-file", str(archive))
    assert clinker(*args, "--dry-run")[1].endswith(r"good.json (p\x1b[2J)" + "\n")
    code, out, err = clinker(*args)
    assert (code, out) == (0, f"Collected 1 file(s) → {archive}\n")
    skipped = {
        "deep": "it is nested too deeply",
        "folder": "it is not a regular file",
        "latin": "it is not JSON",
        "link": "it is not a regular file",
        "loop": "it is not a regular file",
        "nan": "it is not JSON",
        r"new\nline": "it holds no metrics",
        "pipe": "it is not a regular file",
        "types": "it holds no metrics",
        "vast": "it is larger than 64 MiB",
    }
    assert err.splitlines() == [
        f"warning: {spool}/{name}.json is skipped: {reason}" for name, reason in skipped.items()
    ]
    told = clinker(*args, "--delete-after-collect")[1]  # the archive is not collected
    assert told == f"Collected 0 file(s) → {archive}, 1 known\n"
    assert [json.loads(line)["execution_id"] for line in archive.open()] == ["1"]
    assert not (spool / "good.json").exists()
    assert outside.exists()


def test_compiling_imports_neither_spark_nor_other_languages(folder: Path) -> None:
    script = (
        "import sys; from clinker.cli.clinker import main;"
        f"main(['run', {str(folder / 'pipeline.yaml')!r}, '--dry-run']);"
        "print(not sys.modules.keys().isdisjoint(['pyspark', 'babel', 'pyarrow.parquet']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_a_dry_run_is_interactive(folder: Path) -> None:
    def cpu_seconds() -> float:
        command = [CLINKER, "run", str(folder / "pipeline.yaml"), "--dry-run"]
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        usage = os.wait4(started.pid, 0)[2]
        return usage.ru_utime + usage.ru_stime

    # Processor time, so that a busy machine does not count; on an idle one it is the wall time.
    assert min(cpu_seconds() for _ in range(3)) < 1.0


@pytest.mark.parametrize("option", ["--batch-id", "--var"])
def test_what_records_and_reports_hold_is_text(clinker: Command, folder: Path, option: str) -> None:
    code, _, said = clinker("run", str(folder / "pipeline.yaml"), option, "a=\udcff")
    assert code == 64
    assert said.startswith(
        rf"clinker run: error: argument {option}: 'a=\udcff' is not text in UTF-8"
    )
