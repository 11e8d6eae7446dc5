"""Inputs that change while a run reads them: no record of such a run is ever published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet, Unit
from clinker.engine.run.run import run_in
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

from .whole_runs import Workplace

PIPELINE = """
pipeline: { name: p, concurrency: { chunk_size: 400 } }
nodes:
  - type: source
    name: rows
    config: { type: %s, path: in.data, schema: [{ name: id, type: int }] }
  - { type: transform, name: kept, input: rows, config: { cxl: "emit twice = id * 2" } }
  - { type: output, name: result, input: kept, config: { type: csv, path: out.csv } }
"""
CONTENTS = {
    "csv": "id\n" + "".join(f"{n}\n" for n in range(1000, 2000)),
    "json": "".join(f'{{"id": {n}}}\n' for n in range(1000, 2000)),
}

pytestmark = pytest.mark.usefixtures("either_way")


def appended(path: Path) -> None:
    with path.open("a") as file:
        file.write("7\n")


def truncated(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(2001)


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"1", b"2"))
    other.replace(path)


class Meddler(Quiet):
    """Changes a file when the run has begun to compute."""

    def __init__(self, change: Callable[[], None]) -> None:
        self._change: Callable[[], None] | None = change

    def step_started(self, name: str, total: int | None = None, unit: Unit = "records") -> None:
        if self._change:
            self._change()
        self._change = None


@pytest.mark.parametrize("form", CONTENTS)
@pytest.mark.parametrize("change", [appended, truncated, replaced, Path.unlink])
def test_nothing_is_published(
    workplace: Workplace, form: str, change: Callable[[Path], None], either_way: str
) -> None:
    workplace.write(in_data=CONTENTS[form], out_csv="before")
    path = workplace.folder / "in.data"
    options = Options(base_dir=workplace.folder, force=True)
    plan = compile_pipeline((PIPELINE % form).encode(), "p.yaml", options).plan
    assert plan
    with pytest.raises(RunError) as told:
        run_in(plan, workplace.session, Meddler(lambda: change(path)))
    assert told.value.exit_code == 4
    if change is Path.unlink and either_way == "workers":
        assert "in.data: cannot be read: No such file" in told.value.message
    else:
        assert "in.data: changed while it was read: " in told.value.message
        assert told.value.help
    assert workplace.read("out.csv") == "before"
    assert set(workplace.files()) <= {"in.data", "out.csv"}
