"""Random pipelines, run by the engine and by the model: `python -m tests.model.holding 2000`."""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options

from .generate import Case, make_case
from .model import Entry, Model, Result


def compiling_cases(seed: int, folder: Path) -> Iterator[tuple[int, Case, Plan]]:
    """Cases without end that compile, each with the number that makes it."""
    number = seed
    while True:
        case = make_case(Random(number))
        found = compile_pipeline(case.pipeline.encode(), "p.yaml", Options(folder))
        if found.plan and found.plan.correlation.sources:
            yield number, case, found.plan
        number += 1


def hold(case: Case, plan: Plan, folder: Path, session: Session) -> Result:
    """Run a case both ways; AssertionError if they differ. What the model says."""
    for file in folder.iterdir():
        file.unlink()
    for name in case.data:
        (folder / f"{name}.csv").write_text(case.file(name))
    expected = Model(plan, case.data).run()
    try:
        report = run_in(plan, session, Quiet())
    except RunError as problem:
        raise AssertionError(problem.message) from problem
    outputs = {name: _rows(folder / f"{name}.csv")[1:] for name in expected.outputs}
    _same("outputs", outputs, expected.outputs)
    _same("entries", _entries(folder / "dlq.csv"), expected.entries)
    _same("dlq", report.counts.dlq, len(expected.entries))
    return expected


def _same(what: str, found: object, expected: object) -> None:
    assert found == expected, f"{what}:\n  found    {found}\n  expected {expected}"


def _rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text())))


def _entries(path: Path) -> list[Entry]:
    if not path.exists():
        return []
    return [
        Entry(
            row["_cxl_dlq_source_name"],
            int(row["_cxl_dlq_source_row"]),
            row["_cxl_dlq_stage"],
            row["_cxl_dlq_error_category"],
        )
        for row in csv.DictReader(io.StringIO(path.read_text()))
    ]


def main(rounds: int, seed: int) -> int:
    from clinker.engine.session import SessionSettings, open_session

    wrong = 0
    with tempfile.TemporaryDirectory() as name, open_session(SessionSettings()) as session:
        folder = Path(name)
        cases = compiling_cases(seed, folder)
        for _ in range(rounds):
            number, case, plan = next(cases)
            try:
                hold(case, plan, folder, session)
            except AssertionError as problem:
                wrong += 1
                sys.stdout.write(f"case {number}: {str(problem)[:1500]}\n")
    sys.stdout.write(f"{rounds} pipelines, {wrong} of them wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
