"""What is checked before a run starts, on volumes that are really there."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import RunError
from clinker.engine.run.starting import check_start, planned_settings
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.files.discovery import discover_all
from clinker.plan.options import Options
from tests.mounts import behind_a_program, disk, needs_mounts, tmpfs

PIPELINE = """
pipeline: { name: sorted, HEAD }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: PATH, schema: { id: int } }
  - type: output
    name: out
    input: rows
    config: { type: csv, path: out.csv, sort_order: [id] }
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    place = tmp_path / "base"
    place.mkdir()
    (place / "in.csv").write_text("id\n1\n")
    return place


def plan(base: Path, workspace: str, path: str | Path = "in.csv", head: str = "") -> Plan:
    (base / "clinker.toml").write_text(workspace)
    options = Options(base, allow_absolute_paths=True)
    text = PIPELINE.replace("PATH", str(path)).replace("HEAD", head)
    compiled = compile_pipeline(text.encode(), "p.yaml", options)
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


def spill(directory: Path, more: str = "") -> str:
    return f'[storage.spill]\ndir = "{directory}"\n{more}'


def staging(directory: Path, pattern: str = "**") -> str:
    return f'[storage.staging]\nenabled = true\ndir = "{directory}"\npatterns = ["{pattern}"]\n'


def findings(of: Plan) -> list[Diagnostic]:
    files = discover_all(of.graph, of.options, datetime.now(UTC))
    return check_start(of, planned_settings(of), files)


def warned(base: Path, workspace: str) -> list[str]:
    found = plan(base, workspace)
    return [f"{d.code}: {d.message}" for d in findings(found)]


def refused(base: Path, workspace: str, path: str | Path = "in.csv") -> dict[str, str]:
    """The messages of all that keeps a run from starting, by code."""
    found = plan(base, workspace, path)
    with pytest.raises(RunError) as error:
        findings(found)
    assert error.value.exit_code == 1
    return {problem.code: problem.message for problem in error.value.diagnostics}


def test_what_the_files_ask_of_the_engine(base: Path) -> None:
    chosen = planned_settings(plan(base, spill(base, 'compress = "off"')))
    assert (chosen.local_dir, chosen.compress) == (base, False)
    default = planned_settings(plan(base, ""))
    assert (default.local_dir, default.compress) == (None, True)


def test_batches_too_small_to_compress(base: Path) -> None:
    assert planned_settings(plan(base, "", head="batch_size: 1024")).compress
    assert not planned_settings(plan(base, "", head="batch_size: 1023")).compress


@pytest.mark.parametrize(
    ("made", "reason"), [("nothing", "does not exist"), ("file", "is not a directory")]
)
def test_a_directory_that_cannot_be_one(base: Path, made: str, reason: str) -> None:
    (base / "file").touch()
    place = base / made
    assert refused(base, spill(place)) == {"E074": f"storage.spill.dir {place} {reason}"}


def test_a_comma_in_the_path(base: Path) -> None:
    place = base / "a,b"
    place.mkdir()
    message = f"storage.spill.dir {place} has a comma in its path, which the engine takes for the"
    assert refused(base, spill(place)) == {"E074": f"{message} end of it"}


@needs_mounts
def test_a_directory_that_cannot_be_written_to(base: Path, tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 8) as place:
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        message = f"storage.spill.dir {place} cannot be written to: Read-only file system"
        assert refused(base, spill(place)) == {"E074": message}


@needs_mounts
def test_spilling_into_memory(base: Path, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "memory") as place:
        message = f"storage.spill.dir {place} is on tmpfs, which is memory"
        assert refused(base, spill(place)) == {"E330": message}


@needs_mounts
def test_spilling_through_a_program(base: Path, tmp_path: Path) -> None:
    with behind_a_program(tmp_path / "share") as place:
        found = refused(base, spill(place))
    assert found["E331"] == (f"storage.spill.dir {place} is on fuse.made-up, a network file system")


@needs_mounts
def test_staging_through_a_program(base: Path, tmp_path: Path) -> None:
    with behind_a_program(tmp_path / "share") as place:
        found = refused(base, staging(place))
    assert found["E332"] == (
        f"storage.staging.dir {place} is on fuse.made-up, a network file system"
    )


@needs_mounts
def test_staging_on_the_device_of_a_source(base: Path, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "volume") as volume, tmpfs(tmp_path / "other") as other:
        source, copies = volume / "in.csv", volume / "copies"
        source.write_text("id\n1\n")
        copies.mkdir()
        message = f"storage.staging.dir is on the same device as {source}"
        assert refused(base, staging(copies), source) == {"E333": message}
        found = plan(base, staging(other), source)
        assert findings(found) == []
        unstaged = plan(base, staging(copies, "*.json"), source)
        assert findings(unstaged) == []


def test_spilling_and_staging_into_the_same_directory(base: Path) -> None:
    (base / "clinker.toml").write_text(spill(base) + staging(base))
    text = PIPELINE.replace("PATH", "in.csv").replace("HEAD", "")
    compiled = compile_pipeline(text.encode(), "p.yaml", Options(base))
    assert [problem.code for problem in compiled.diagnostics] == ["E334"]


@needs_mounts
def test_a_volume_that_may_be_too_small(base: Path, tmp_path: Path) -> None:
    with (base / "in.csv").open("wb") as file:
        file.truncate(2**30)
    with disk(tmp_path / "disk", 16) as place:
        (warning,) = warned(base, spill(place))
    assert warning.startswith(f"W330: spill volume {place} has ")
    assert warning.endswith(
        "bytes free but the run is estimated to spill up to 1073741824 bytes; it may end with a "
        "full volume (E321)"
    )


def test_a_budget_that_may_be_too_small(base: Path) -> None:
    with (base / "in.csv").open("wb") as file:
        file.truncate(1000)
    (warning,) = warned(base, spill(base, "disk_cap_bytes = 1250\n"))
    assert warning == (
        "W331: this run is estimated to spill up to 1000 bytes, which is 80% of "
        "storage.spill.disk_cap_bytes (1250 bytes); it may end with a spill-cap error (E320)"
    )
    assert warned(base, spill(base, "disk_cap_bytes = 1251\n")) == []
