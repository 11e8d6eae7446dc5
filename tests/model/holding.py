"""Random pipelines, run by the engine and by the model: `python -m tests.model.holding 2000`.

It begins with the case of the number given by `--seed`, and with `--stop` it ends with the first
that goes wrong, made as small as it can be. `--partitions` runs each case once more for every
number of partitions: the files must be the same, byte by byte.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, islice
from itertools import count as numbers_from
from pathlib import Path
from random import Random

from clinker.engine.reading import inputs
from clinker.engine.report.facts import Exit, RunError, RunReport
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.engine_names import ENGINES
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.nodes import PlannedOutput
from clinker.plan.options import Options

from .generate import Case, make_case
from .model import Model
from .rows import Ended, Entry, Result
from .shrinking import smaller
from .writing import read

_DEAD_LETTERS = "dlq.csv"
_QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""Spark need not think long about a handful of records; the tests let it."""
_A_WHILE = 50
_MEMORY = 4 * 2**30
_OF_A_RUN = ("_cxl_dlq_id", "_cxl_dlq_timestamp")
"""What differs from run to run."""


def compiled(case: Case, folder: Path) -> Plan | None:
    """The plan of a case whose records fall together, if it compiles; its files are there then."""
    for file in folder.iterdir():
        file.unlink()
    case.write(folder)
    found = compile_pipeline(case.pipeline.encode(), "p.yaml", Options(folder))
    return found.plan if found.plan and found.plan.correlation.sources else None


def compiling_cases(numbers: Iterable[int], folder: Path) -> Iterator[tuple[int, Case, Plan]]:
    """Those of these cases that compile, each with the number that makes it."""
    for number in numbers:
        case = make_case(Random(number))
        plan = compiled(case, folder)
        if plan:
            yield number, case, plan


def hold(case: Case, plan: Plan, folder: Path, session: Session) -> Result:
    """Run a case both ways; AssertionError if they differ. What the model says."""
    try:
        expected = Model(plan, case.data).run()
    except Ended:
        return _hold_end(plan, folder, session)
    report = run(plan, folder, session)
    outputs = {name: _records(plan, name, folder) for name in expected.outputs}
    for output, records in outputs.items():
        _same(output, records, expected.outputs[output])
    _same("entries", _told(_entries(folder / _DEAD_LETTERS)), _told(expected.entries))
    _same("dlq", report.counts.dlq, len(expected.entries))
    return expected


def _hold_end(plan: Plan, folder: Path, session: Session) -> Result:
    """The run ends, and nothing is there."""
    try:
        run_in(plan, session, Quiet())
    except RunError as problem:
        _same("exit code", int(problem.exit_code), int(Exit.EVALUATION))
        _same("files", [n for n in outputs_of(plan) if (folder / n).exists()], [])
        return Result({}, [], 1)
    raise AssertionError("the run should have ended")


def run(plan: Plan, folder: Path, session: Session) -> RunReport:
    for name in (*outputs_of(plan), _DEAD_LETTERS):
        (folder / name).unlink(missing_ok=True)
    try:
        return run_in(plan, session, Quiet())
    except RunError as problem:
        raise AssertionError(problem.message) from problem


def written(plan: Plan, folder: Path) -> dict[str, str]:
    """All that a run has written, without what differs from run to run."""
    files = {name: (folder / name).read_text() for name in outputs_of(plan)}
    rows = _dead_letters(folder / _DEAD_LETTERS)
    kept = [{name: v for name, v in row.items() if name not in _OF_A_RUN} for row in rows]
    return {**files, _DEAD_LETTERS: repr(kept)}


def outputs_of(plan: Plan) -> list[str]:
    """The files of a plan's outputs."""
    return [
        node.node.config.path.text
        for node in plan.nodes.values()
        if isinstance(node, PlannedOutput)
    ]


@contextmanager
def partitions(session: Session, parts: int) -> Iterator[None]:
    """Every shuffle has so many partitions, however small they are."""
    wanted = {
        "spark.sql.shuffle.partitions": str(parts),
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    before = {key: session.spark.conf.get(key) or "" for key in wanted}
    for key, value in wanted.items():
        session.spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            session.spark.conf.set(key, value)


def _same(what: str, found: object, expected: object) -> None:
    assert found == expected, f"{what}:\n  found    {found}\n  expected {expected}"


def _records(plan: Plan, output: str, folder: Path) -> object:
    planned = plan.nodes[output]
    assert isinstance(planned, PlannedOutput)
    return read(planned, (folder / planned.node.config.path.text).read_text())


def _dead_letters(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text()))) if path.exists() else []


def _told(entries: Sequence[Entry]) -> list[Entry]:
    """The entries; nothing says in which order several about the same record stand."""
    same = groupby(entries, lambda entry: (entry.source, entry.file, entry.row))
    return [entry for _, those in same for entry in sorted(those, key=lambda e: e.stage)]


def _entries(path: Path) -> list[Entry]:
    return [
        Entry(
            row["_cxl_dlq_source_name"],
            Path(row["_cxl_dlq_source_file"]).stem,
            int(row["_cxl_dlq_source_row"] or 0),
            row["_cxl_dlq_stage"],
            row["_cxl_dlq_error_category"],
        )
        for row in _dead_letters(path)
    ]


def main(arguments: Sequence[str]) -> int:
    from clinker.engine.session import SessionSettings, open_session

    parser = argparse.ArgumentParser(prog="python -m tests.model.holding")
    parser.add_argument("rounds", type=int, help="how many pipelines")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--stop", action="store_true", help="end with the first that goes wrong")
    parser.add_argument("--first", type=int, nargs="*", default=[], help="cases before all others")
    parser.add_argument("--partitions", type=int, nargs="*", default=[], metavar="N")
    parser.add_argument("--engine", choices=ENGINES, default="spark", help="what runs them")
    parser.add_argument("--workers", action="store_true", help="files are read by workers")
    chosen = parser.parse_args(arguments)
    if chosen.workers:
        inputs.SMALL_INPUT = -1
    held = wrong = 0
    seen = Counter[str]()
    conf = _QUICK if chosen.engine == "spark" else {}
    settings = SessionSettings(engine=chosen.engine, memory_limit=_MEMORY, spark_conf=conf)
    numbers = chain(chosen.first, numbers_from(chosen.seed))
    with tempfile.TemporaryDirectory() as name, open_session(settings) as session:
        folder = Path(name)
        for number, case, plan in islice(compiling_cases(numbers, folder), chosen.rounds):
            held += 1
            seen.update(_kinds(plan))
            try:
                result = hold(case, plan, folder, session)
                seen.update({"with entries": bool(result.entries), "in rounds": result.passes > 1})
                first = written(plan, folder) if chosen.partitions and result.outputs else None
                for parts in chosen.partitions if first else ():
                    with partitions(session, parts):
                        run(plan, folder, session)
                    _same(f"files in {parts} partitions", written(plan, folder), first)
            except AssertionError as problem:
                wrong += 1
                sys.stdout.write(f"case {number}: {str(problem)[:1500]}\n")
                if chosen.stop:
                    sys.stdout.write(f"{_smallest(case, folder, session)}\n")
                    break
            if held % _A_WHILE == 0:
                sys.stdout.write(f"{held} pipelines, {wrong} of them wrong; {number}\n")
            sys.stdout.flush()
    told = ", ".join(f"{kind} {times}" for kind, times in seen.most_common())
    sys.stdout.write(f"{held} pipelines to {number}, {wrong} of them wrong ({told})\n")
    return 1 if wrong else 0


def _smallest(case: Case, folder: Path, session: Session) -> str:
    told = ""

    def is_wrong(candidate: Case) -> bool:
        nonlocal told
        plan = compiled(candidate, folder)
        if plan is None:
            return False
        try:
            hold(candidate, plan, folder, session)
        except AssertionError as problem:
            told = str(problem)
            return True
        return False

    found = smaller(case, is_wrong)
    return f"{found}\n{told}"


def _kinds(plan: Plan) -> set[str]:
    found = {planned.unit.kind for planned in plan.nodes.values()}
    aggregates = plan.correlation.aggregates
    found |= {f"{each.atomicity} aggregate" for each in aggregates.values()}
    found |= {"time window"} if plan.event_times.time_windows else set()
    found |= {"window"} if plan.windows else set()
    found |= {"composition"} if plan.graph.calls else set()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
