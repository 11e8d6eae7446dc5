"""Runs that take more than they may."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.watch import Limits, Watch, run_limits
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from tests.mounts import needs_mounts, tmpfs

PIPELINE = """
pipeline: { name: watched }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: { id: int, key: int, note: string } }
  - type: transform
    name: plain
    input: rows
    config: { cxl: "emit twice = id * 2" }
  - type: aggregate
    name: first
    input: plain
    config: { group_by: [key], cxl: "emit n = count(*)" }
  - type: aggregate
    name: second
    input: first
    config: { group_by: [n], cxl: "emit m = count(*)" }
  - type: output
    name: counted
    input: second
    config: { type: csv, path: counted.csv }
  - type: output
    name: ordered
    input: rows
    config: { type: csv, path: ordered.csv, sort_order: [key] }
  - type: output
    name: passed
    input: rows
    config: { type: csv, path: passed.csv }
"""
SORTED = """
pipeline: { name: sorted }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: { id: int, key: int, note: string } }
  - type: output
    name: ordered
    input: rows
    config: { type: csv, path: ordered.csv, sort_order: [key] }
"""
MEGABYTES = 20


def plan(base: Path, workspace: str = "") -> Plan:
    (base / "clinker.toml").write_text(workspace)
    compiled = compile_pipeline(PIPELINE.encode(), "p.yaml", Options(base))
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


def test_temporary_data_is_counted_as_it_lies_on_the_disk(tmp_path: Path) -> None:
    spilled = tmp_path / "spilled"
    (spilled / "deep").mkdir(parents=True)
    (spilled / "one").write_bytes(bytes(8192))
    (spilled / "deep" / "two").write_bytes(bytes(4096))
    (spilled / "link").symlink_to("..")
    with (spilled / "hole").open("wb") as hole:
        hole.truncate(2**40)
    workspace = '[storage.spill]\ndisk_cap_bytes = "12KB"\n'
    with Watch(plan(tmp_path, workspace), Limits(disk=12_000), Quiet()) as watch:
        watch.check()
        watch.add(spilled)
        with pytest.raises(RunError) as error:
            watch.check()
    assert error.value.exit_code == 4
    (problem,) = error.value.diagnostics
    assert (problem.code, problem.message) == (
        "E320",
        "the run wrote 12288 bytes of temporary data, more than the 12000 bytes of "
        "storage.spill.disk_cap_bytes",
    )
    assert problem.primary and problem.primary.location.start.line == 2


def test_a_peak_above_the_memory_limit_is_forgiven(tmp_path: Path) -> None:
    with Watch(plan(tmp_path), Limits(memory=1), Quiet()) as watch:
        watch.check()
        watch.check()
        with pytest.raises(RunError, match="exceeded the memory limit") as error:
            time.sleep(0.6)  # it looks by itself
            watch.check()
    assert error.value.exit_code == 1
    assert [problem.code for problem in error.value.diagnostics] == ["E310"]


@pytest.mark.parametrize(
    ("output", "who", "line"),
    [
        (None, "the run", None),
        ("counted", "'first' or 'second'", 16),
        ("ordered", "'ordered'", 24),
        ("passed", "'passed'", 28),
    ],
)
def test_the_nodes_that_hold_records_are_named(
    tmp_path: Path, output: str | None, who: str, line: int | None
) -> None:
    watch = Watch(plan(tmp_path), Limits(), Quiet())
    if output:
        watch.step_started(output)
    error = watch.at_work.memory_exceeded(512 * 2**20)
    assert error.message == f"{who} exceeded the memory limit of 512M"
    (problem,) = error.diagnostics
    assert (problem.primary and problem.primary.location.start.line) == line


def test_what_ended_a_run_is_told_in_place_of_what_it_died_of(tmp_path: Path) -> None:
    with (
        pytest.raises(RunError, match="temporary data") as error,
        Watch(plan(tmp_path), Limits(disk=0), Quiet()) as watch,
        watch.telling(),
    ):
        (tmp_path / "large").write_bytes(bytes(4096))
        watch.add(tmp_path)
        time.sleep(0.6)
        raise ValueError("cancelled")
    assert isinstance(error.value.__cause__, ValueError)


def test_only_an_engine_on_this_machine_has_a_limit_that_can_be_seen(tmp_path: Path) -> None:
    assert run_limits(plan(tmp_path), is_local=True) == Limits(int(512 * 2**20 * 1.1), None)
    assert run_limits(plan(tmp_path), is_local=False) == Limits(None, None)


class Measured(Quiet):
    peak = 0

    def measured(self, peak_rss_bytes: int) -> None:
        self.peak = peak_rss_bytes


def test_what_all_processes_of_a_run_took_is_told_also_if_it_fails(tmp_path: Path) -> None:
    observer, size = Measured(), 100 * 2**20
    hold = f"held = b'x' * {size}; print(len(held), flush=True); input()"
    with pytest.raises(ValueError, match="failed"), Watch(plan(tmp_path), Limits(), observer) as w:
        before = w.peak.resident
        command = [sys.executable, "-c", hold]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout and process.stdout.readline()
            w.check()
            process.kill()
        raise ValueError("failed")
    assert observer.peak > before + size


# Whole runs, as users start them


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    base.mkdir()
    (base / "p.yaml").write_text(SORTED)
    with (base / "in.csv").open("w") as file:
        file.write("id,key,note\n")
        for number in range(MEGABYTES * 10_000):
            noise = number * 7368787 % 1_000_003
            file.write(f"{number},{noise},{noise * noise:050}{noise**3:040}\n")
    return base


def run(base: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("clinker")), "run", str(base / "p.yaml")]
    return subprocess.run(
        [*command, "--quiet", *options],
        env={**os.environ, **environment},
        cwd=base,
        capture_output=True,
        text=True,
    )


def test_a_run_that_spills_more_than_it_may(base: Path) -> None:
    spill = base / "spill"
    spill.mkdir()
    workspace = '[storage.spill]\ndir = "spill"\ndisk_cap_bytes = "1MB"\n'
    (base / "clinker.toml").write_text(workspace)
    ran = run(base, "--metrics-spool-dir", "metrics")
    assert ran.returncode == 4, ran.stderr
    assert "error[E320]: the run wrote " in ran.stderr
    assert "more than the 1000000 bytes of storage.spill.disk_cap_bytes" in ran.stderr
    assert "Traceback" not in ran.stderr and "\tat " not in ran.stderr
    assert not (base / "ordered.csv").exists()
    assert list(spill.iterdir()) == [], "the directory of the run is gone"
    (file,) = (base / "metrics").iterdir()
    assert json.loads(file.read_text())["exit_code"] == 4


@needs_mounts
def test_a_disk_that_is_full(base: Path, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=5m") as small:
        ran = run(base, TMPDIR=str(small))
        assert ran.returncode == 4, ran.stderr
        assert "error[E321]: no space left on" in ran.stderr
        assert not (base / "ordered.csv").exists()
        assert list(small.iterdir()) == []


def test_a_directory_for_spilled_data_that_goes_away(base: Path) -> None:
    spill = base / "spill"
    spill.mkdir()
    (base / "clinker.toml").write_text('[storage.spill]\ndir = "spill"\n')
    program = str(Path(sys.executable).with_name("clinker"))
    command = [program, "run", str(base / "p.yaml"), "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (found := list(spill.glob("clinker-run-*/spill/blockmgr-*/*/*"))):
            assert process.poll() is None
            time.sleep(0.01)
        shutil.rmtree(found[0].parents[2])
        _, said = process.communicate()
    assert process.returncode == 4
    assert "error: the directory for spilled data became unavailable: " in said
    assert said.count("does not exist") == 1
    assert "Traceback" not in said and "\tat " not in said
    assert not (base / "ordered.csv").exists()
    assert list(spill.iterdir()) == []
