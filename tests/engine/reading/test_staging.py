"""Runs whose sources are copied to another disk before they are read."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from clinker.plan.options import Preview
from clinker.staged_copies import StagedCopy
from tests.elsewhere import on_another_device
from tests.engine.whole_runs import Ran, Workplace

CSV = "id,amount\n1,10\n2,many\n3,30\n"
GOOD = CSV.replace("many", "20")
PIPELINE = """
pipeline: { name: p }
error_handling: { strategy: continue, dlq: { path: dlq.csv } }
nodes:
  - type: source
    name: orders
    config: { type: csv, SOURCE, schema: { id: int, amount: int } }
  - type: transform
    name: t
    input: orders
    config: { cxl: 'emit at = $source.file + "#" + $source.row.to_string()' }
  - { type: output, name: o, input: t, config: { type: csv, path: out.csv, if_exists: overwrite } }
"""


class Stage:
    """A workplace whose CSV files are staged on another device."""

    def __init__(self, workplace: Workplace, directory: Path) -> None:
        self.workplace = workplace
        self.directory = directory
        self.set()

    def set(self, **settings: str) -> None:
        written = {"enabled": "true", "dir": f'"{self.directory}"', "patterns": '["*.csv*"]'}
        lines = (f"{key} = {value}\n" for key, value in (written | settings).items())
        self.workplace.write(clinker_toml="[storage.staging]\n" + "".join(lines))

    def run(self, source: str = "path: a.csv", preview: Preview | None = None) -> Ran:
        return self.workplace.run(PIPELINE.replace("SOURCE", source), preview=preview)

    def copy(self, name: str) -> StagedCopy:
        return StagedCopy.of(self.directory, self.workplace.folder / name)

    def staged(self) -> list[str]:
        """The sources that have a whole copy, and what is left of others."""
        known = {self.copy(n.name).id: n.name for n in self.workplace.folder.iterdir()}
        names = [path.name.split(".", 1) for path in self.directory.iterdir()]
        assert {kind for _, kind in names} <= {"lock", "manifest.json", "staged"}
        return sorted(known[name] for name, kind in names if kind == "staged")


@pytest.fixture
def stage(workplace: Workplace) -> Iterator[Stage]:
    with on_another_device(workplace.folder) as directory:
        yield Stage(workplace, directory)


def test_copies_are_read_and_originals_are_named(stage: Stage, either_way: str) -> None:
    stage.workplace.write(a_csv=CSV)
    (stage.workplace.folder / "b.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    stage.set(cleanup='"never"')
    ran = stage.run("glob: '*.csv*', exclude: [out.csv, dlq.csv]")
    assert (ran.code, ran.message) == (2, "")
    assert stage.workplace.read("out.csv").splitlines()[1:] == [
        f"{row},{row * 10},{file}#{row}" for file in ("a.csv", "b.csv.gz") for row in (1, 3)
    ]
    header, *entries = (line.split(",") for line in stage.workplace.read("dlq.csv").splitlines())
    at = header.index("_cxl_dlq_source_file")
    assert [entry[at] for entry in entries] == ["a.csv", "b.csv.gz"]
    assert ran.report
    assert [path.name for path in ran.report.sources[0].files] == ["a.csv", "b.csv.gz"]
    assert stage.staged() == ["a.csv", "b.csv.gz"]
    folder = stage.workplace.folder
    assert sorted(m.partition(": ")[2] for m in ran.messages if "staged" in m) == [
        f"staged '{folder / 'a.csv'}': {len(CSV)} bytes",
        f"staged '{folder / 'b.csv.gz'}': {(folder / 'b.csv.gz').stat().st_size} bytes",
    ]


def test_it_is_the_copy_that_is_read(stage: Stage, either_way: str) -> None:
    stage.workplace.write(a_csv=GOOD)
    stage.set(cleanup='"never"', on_existing='"reuse"')
    assert stage.run().code == 0
    before = (stage.workplace.folder / "a.csv").stat().st_mtime_ns
    stage.workplace.write(a_csv=GOOD.replace("30", "99"))
    os.utime(stage.workplace.folder / "a.csv", ns=(before, before))
    ran = stage.run()
    assert ran.code == 0 and "3,30," in stage.workplace.read("out.csv")
    assert [m for m in ran.messages if "its copy is read" in m]
    stage.workplace.write(a_csv=GOOD.replace("30", "99"))
    assert stage.run().code == 0
    assert "3,99," in stage.workplace.read("out.csv")


@pytest.mark.parametrize(
    ("content", "cleanup", "code", "left"),
    [
        (GOOD, "on_success", 0, []),
        (CSV, "on_success", 2, ["a.csv"]),
        (CSV, "always", 2, []),
        (GOOD, "never", 0, ["a.csv"]),
        ('id,amount\n1,"never closed', "on_success", 4, ["a.csv"]),
        ('id,amount\n1,"never closed', "always", 4, []),
    ],
)
def test_what_is_left_at_the_end(
    stage: Stage, content: str, cleanup: str, code: int, left: list[str]
) -> None:
    stage.workplace.write(a_csv=content)
    stage.set(cleanup=f'"{cleanup}"')
    ran = stage.run()
    assert ran.code == code, ran.message
    assert stage.staged() == left
    if not left:
        assert list(stage.directory.iterdir()) == []


def test_messages_name_the_original(stage: Stage, either_way: str) -> None:
    stage.workplace.write(a_csv='id,amount\n1,"never closed')
    ran = stage.run()
    assert ran.code == 4
    assert str(stage.workplace.folder / "a.csv") in ran.message
    assert str(stage.directory) not in ran.message


def test_other_sources_are_read_where_they_are(stage: Stage) -> None:
    stage.workplace.write(a_csv=GOOD)
    stage.set(patterns='["*.tsv"]', cleanup='"never"')
    assert stage.run().code == 0
    stage.set(enabled="false", cleanup='"never"')
    assert stage.run().code == 0
    assert list(stage.directory.iterdir()) == []


def test_a_preview_stages_nothing(stage: Stage) -> None:
    stage.workplace.write(a_csv=GOOD)
    stage.set(cleanup='"never"')
    ran = stage.run(preview=Preview(1))
    assert ran.code == 0 and ran.report
    assert ran.report.outputs[0].preview == b"id,amount,at\n1,10,a.csv#1\n"
    assert list(stage.directory.iterdir()) == []


def test_what_killed_runs_have_left_is_removed(stage: Stage) -> None:
    stage.workplace.write(a_csv=GOOD)
    for name in ("partial", "staged"):
        (stage.directory / f"{'0' * 64}.{name}").touch()
    (stage.directory / f"{'1' * 64}.run-7.partial").touch()
    stage.set(cleanup='"always"')
    ran = stage.run()
    assert ran.code == 0
    assert f"removed 4 files that killed runs have left in '{stage.directory}'" in "".join(
        ran.messages
    )
    assert [path.name for path in stage.directory.iterdir()] == [f"{'0' * 64}.partial"]


# What goes wrong


def test_e335(stage: Stage) -> None:
    sources = (p for p in Path("/sys/kernel").glob("*") if p.is_file() and os.access(p, os.R_OK))
    short = next((p for p in sources if p.stat().st_size > len(p.read_bytes()) > 0), None)
    if short is None:
        pytest.skip("this system has no file that delivers less than it says")
    stage.set(patterns=f'["{short}"]', cleanup='"never"')
    pipeline = PIPELINE.replace("SOURCE", f"path: {short}")
    ran = stage.workplace.run(pipeline, allow_absolute_paths=True)
    assert (ran.code, ran.codes) == (1, ["E335"])
    assert ran.message.startswith(f"the staged copy of '{short}' is not what the original holds: ")
    assert list(stage.directory.iterdir()) == []
    assert "out.csv" not in stage.workplace.files()


def test_e336(stage: Stage) -> None:
    stage.workplace.write(a_csv=GOOD, b_csv=GOOD)
    stage.set(disk_cap_bytes=f"{2 * len(GOOD) - 1}", cleanup='"always"')
    ran = stage.run("paths: [a.csv, b.csv]")
    assert (ran.code, ran.codes) == (1, ["E336"])
    assert ran.message.endswith(
        f".csv', {len(GOOD)} bytes after {len(GOOD)} others, would exceed "
        f"storage.staging.disk_cap_bytes, which is {2 * len(GOOD) - 1}"
    )
    assert list(stage.directory.iterdir()) == []
    stage.set(disk_cap_bytes=f"{2 * len(GOOD)}")
    assert stage.run("paths: [a.csv, b.csv]").code == 0


def test_e337(stage: Stage) -> None:
    stage.workplace.write(a_csv=GOOD)
    stage.set(on_existing='"error"', cleanup='"never"')
    assert stage.run().code == 0
    ran = stage.run()
    assert (ran.code, ran.codes) == (1, ["E337"])
    source, copy = stage.workplace.folder / "a.csv", stage.copy("a.csv").path
    assert ran.message == f"'{source}' has been staged before, as {copy}"
    assert stage.staged() == ["a.csv"]


def test_a_source_that_is_missing(stage: Stage) -> None:
    ran = stage.run()
    assert (ran.code, ran.codes) == (4, ["E216"])
    assert list(stage.directory.iterdir()) == []
