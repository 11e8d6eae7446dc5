"""Runs that find what killed ones have left."""

from __future__ import annotations

import shutil

from faults.commits import BEFORE, RUN, content, half_committed

from clinker.formats.files.marks import mark_in
from clinker.plan.options import Preview

from .whole_runs import Workplace

PIPELINE = """
pipeline: {{ name: p }}
nodes:
  - type: source
    name: rows
    config: {{ type: csv, path: in.csv, schema: [{{ name: id, type: int }}] }}
  - {{ type: output, name: result, input: rows, config: {{ type: csv, path: "{path}" }} }}
"""


def test_a_commit_that_was_killed_is_undone_by_the_next_run(workplace: Workplace) -> None:
    shutil.move(half_committed(workplace.folder / "runs"), workplace.folder / "place")
    workplace.write(in_csv="id\n1\n")
    before = content(workplace.folder / "place")
    ran = workplace.run(PIPELINE.format(path="place/other/c.csv"), preview=Preview(1, None))
    assert (ran.code, content(workplace.folder / "place")) == (0, before)
    ran = workplace.run(PIPELINE.format(path="place/other/c.csv"))
    assert (ran.code, ran.message) == (4, f"'{workplace.folder}/place/other/c.csv' exists already")
    assert len(ran.warnings) == 1
    assert (
        f"run {RUN}, which was killed while it put its files in place, is undone: "
        in (ran.warnings[0])
    )
    assert f"'{workplace.folder}/place/other/c-2.csv'" in ran.warnings[0]
    assert workplace.run(PIPELINE.format(path="place/out/new.csv")).code == 0
    assert content(workplace.folder / "place") == {**BEFORE, "out/new.csv": b"id\n1\n"}


def test_what_lies_aside_is_removed_wherever_the_run_will_write(workplace: Workplace) -> None:
    workplace.write(in_csv="id\n1\n")
    for name in ("days", "files", "files/in", "elsewhere"):
        directory = workplace.folder / name
        directory.mkdir(parents=True)
        mark_in(directory, RUN).touch()
        (directory / f".clinker-{RUN}-1.parts").mkdir()
        (directory / f".clinker-{RUN}-1.parts" / "part-00001").touch()
    for path in ("days/{timestamp}/a.csv", "files/{source_file}/a.csv"):
        ran = workplace.run(PIPELINE.format(path=path))
        assert ran.code == 0
        assert ran.messages[0].startswith(f"info None: removed a file that run {RUN}")
    left = [name for name in workplace.files() if ".clinker-" in name]
    assert left == [
        f"elsewhere/.clinker-{RUN}-1.parts/",
        f"elsewhere/.clinker-{RUN}-1.parts/part-00001",
        f"elsewhere/.clinker-{RUN}.run",
    ]
