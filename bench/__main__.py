"""Run all benchmarks and write the table of ratios to `bench/RESULTS.md`.

With --formats, measure how fast the readers of formats are instead; that is `bench/FORMATS.md`.
With --memory, how much memory runs hold that have to spill; that is a section of its own.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench import formats, groups, memory, wide
from bench.data import ROWS, make_all
from bench.workloads import CLEAN, DIRTY, TINY, WARM, Workload, chain

if TYPE_CHECKING:
    from clinker.engine.session.session import Session

RESULTS = Path(__file__).parent / "RESULTS.md"
FORMATS = Path(__file__).parent / "FORMATS.md"
MEMORY = "## Memory\n"
"""Where in the results the section begins that only --memory writes."""
WARM_UPS = 3
"""Runs before those that are measured: the JVM compiles what runs often, bit by bit."""
LIBRARIES = ("pyspark", "duckdb", "polars")
SYSTEMS = ("clinker", "PySpark", "DuckDB", "Polars")
CHAINS = (20, 200)
"""How many transforms a short and a long chain have."""
_STOCK = """\
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from bench.workloads import TINY
spark = SparkSession.builder.master("local[*]").getOrCreate()
TINY.spark(spark, Path(sys.argv[1]), Path(sys.argv[2]))
spark.stop()
"""
_DUCKDB = """\
import sys
from bench.__main__ import run_duckdb
from bench.workloads import TINY
from pathlib import Path
run_duckdb(TINY, Path(sys.argv[1]), Path(sys.argv[2]))
"""
_POLARS = """\
import sys
from bench.workloads import TINY
from pathlib import Path
TINY.polars(Path(sys.argv[1]), Path(sys.argv[2]))
"""

Times = Mapping[str, float]
"""Seconds by system."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each job (default: 5)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows (default: {ROWS:,})")
    parser.add_argument("--only", default="", help="jobs whose name contains this")
    parser.add_argument("--formats", action="store_true", help="the readers of formats alone")
    parser.add_argument(
        "--megabytes",
        type=int,
        default=formats.MEGABYTES,
        help=f"with --formats, how large the files are (default: {formats.MEGABYTES})",
    )
    parser.add_argument("--memory", action="store_true", help="the memory of runs that spill")
    args = parser.parse_args()
    if args.memory:
        rows = memory.ROWS if args.rows == ROWS else args.rows
        text = memory.report(memory.measure(rows, args.only), rows, machine("pyspark"))
        print(text)
        if not args.only:
            write_results(text, of_memory=True)
        return
    if args.formats:
        FORMATS.write_text(formats.report(formats.measure(args.repeat, args.megabytes), machine()))
        print(FORMATS.read_text())
        return
    folder = Path(tempfile.gettempdir(), f"clinker-bench-{args.rows}")
    print(f"data in {folder}")
    make_all(folder, args.rows)
    results: dict[str, Times] = {}
    rejecting: Times = {}
    if args.only in TINY.name:
        results[TINY.name] = cold(TINY, folder, args.repeat)
    chosen = [workload for workload in WARM if args.only in workload.name]
    if chosen:
        found, rejecting = warm(chosen, folder, args.repeat)
        results |= found
    planning = chains(args.repeat) if args.only in "long chains" else {}
    text = table(results, rejecting, planning, args.rows)
    if args.only in "groups":
        text += "\n".join([*groups.report(grouped(folder / "groups", args.rows, args.repeat)), ""])
    pipelines = {name: made for name, made in wide.PIPELINES.items() if args.only in name}
    if pipelines:
        text += "\n".join([*wide.report(widths(pipelines, args.repeat)), ""])
    print(text)
    if not args.only:
        write_results(text)


def write_results(text: str, *, of_memory: bool = False) -> None:
    """Replace one part of the results, and keep the other."""
    times, heading, of_runs = RESULTS.read_text().partition(MEMORY)
    if of_memory:
        RESULTS.write_text(f"{times.rstrip()}\n\n{text}")
    else:
        RESULTS.write_text(f"{text}\n{heading}{of_runs}" if heading else text)


def timed(job: Callable[[], object]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def side_by_side(jobs: Mapping[str, Callable[[], object]], repeat: int) -> Times:
    """The median of each job; they take turns, so that whatever else runs hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, job in jobs.items():
            times[name].append(timed(job))
    return {name: median(found) for name, found in times.items()}


# A process for every run


def cold(workload: Workload, data: Path, repeat: int) -> Times:
    with tempfile.TemporaryDirectory() as scratch:
        work = prepared(workload.pipeline, data, Path(scratch))

        def script(text: str, out: str) -> Callable[[], object]:
            command = [sys.executable, "-c", text, str(data), str(Path(scratch, out))]
            return lambda: subprocess.run(command, check=True, capture_output=True)

        clinker = [str(Path(sys.executable).parent / "clinker"), "run", "pipeline.yaml", "--quiet"]
        jobs = {
            "clinker": lambda: subprocess.run(clinker, cwd=work, check=True),
            "PySpark": script(_STOCK, "spark"),
            "DuckDB": script(_DUCKDB, "duckdb.csv"),
            "Polars": script(_POLARS, "polars.csv"),
        }
        return side_by_side(jobs, repeat)


def chains(repeat: int) -> Times:
    """A few records through a short and a long chain of transforms: what planning takes."""
    print("measuring: long chains", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        (work / "in.csv").write_text("id,amount\n" + "".join(f"{n},{n}.5\n" for n in range(10)))
        jobs: dict[str, Callable[[], object]] = {}
        for length in CHAINS:
            (work / f"{length}.yaml").write_text(chain(length))
            clinker = str(Path(sys.executable).parent / "clinker")
            command = [clinker, "run", f"{length}.yaml", "--quiet", "--force"]
            jobs[str(length)] = partial(subprocess.run, command, cwd=work, check=True)
        return side_by_side(jobs, repeat)


def widths(pipelines: Mapping[str, str], repeat: int) -> Times:
    """A few records through wide pipelines: what planning takes, with as much memory as that is."""
    print("measuring: wide pipelines", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        wide.make_wide(work)
        jobs: dict[str, Callable[[], object]] = {}
        for number, (name, pipeline) in enumerate(pipelines.items()):
            (work / f"{number}.yaml").write_text(pipeline)
            clinker = str(Path(sys.executable).parent / "clinker")
            command = [clinker, "run", f"{number}.yaml", "--quiet", "--memory-limit", wide.MEMORY]
            jobs[name] = partial(subprocess.run, command, cwd=work, check=True)
        return side_by_side(jobs, repeat)


# One session for all runs


def warm(
    workloads: list[Workload], data: Path, repeat: int
) -> tuple[dict[str, Times], dict[str, float]]:
    """Seconds by job and system, and what this one takes with and without rejects."""
    from clinker.engine.session import SessionSettings, open_session

    results: dict[str, Times] = {}
    own: dict[str, Callable[[], object]] = {}
    with (
        open_session(SessionSettings(memory_limit=4 * 2**30)) as session,
        tempfile.TemporaryDirectory() as scratch,
    ):
        for workload in workloads:
            print(f"measuring: {workload.name}", flush=True)
            folder = Path(scratch, workload.name.replace(" ", "-"))
            folder.mkdir()
            jobs = warm_jobs(workload, data, folder, session)
            own[workload.name] = jobs["clinker"]
            side_by_side(jobs, WARM_UPS)
            results[workload.name] = side_by_side(jobs, repeat)
            print({name: round(found, 2) for name, found in results[workload.name].items()})
        both = {name: own[name] for name in (CLEAN.name, DIRTY.name) if name in own}
        return results, dict(side_by_side(both, repeat))


def grouped(data: Path, rows: int, repeat: int) -> Times:
    """Seconds of the jobs on records that belong together."""
    from clinker.engine.session import SessionSettings, open_session

    print("measuring: groups", flush=True)
    groups.make_lines(data, rows)
    with (
        open_session(SessionSettings(memory_limit=4 * 2**30)) as session,
        tempfile.TemporaryDirectory() as scratch,
    ):
        jobs: dict[str, Callable[[], object]] = {}
        for number, (name, pipeline) in enumerate(groups.PIPELINES.items()):
            folder = Path(scratch, str(number))
            folder.mkdir()
            jobs[name] = pipeline_job(prepared(pipeline, data, folder), session)
        side_by_side(jobs, WARM_UPS)
        return side_by_side(jobs, repeat)


def warm_jobs(
    workload: Workload, data: Path, folder: Path, session: Session
) -> dict[str, Callable[[], object]]:
    return {
        "clinker": pipeline_job(prepared(workload.pipeline, data, folder), session),
        "PySpark": lambda: workload.spark(session.spark, data, folder / "spark"),
        "DuckDB": lambda: run_duckdb(workload, data, folder / "duckdb.out"),
        "Polars": lambda: workload.polars(data, folder / "polars.out"),
    }


def pipeline_job(work: Path, session: Session) -> Callable[[], object]:
    """A run of the pipeline in a folder."""
    from clinker.engine.run.observer import Quiet
    from clinker.engine.run.run import run_in
    from clinker.plan.compile import compile_pipeline
    from clinker.plan.options import Options

    def run() -> None:
        path = work / "pipeline.yaml"
        compiled = compile_pipeline(path.read_bytes(), str(path), Options(base_dir=work))
        assert compiled.plan, compiled.diagnostics
        run_in(compiled.plan, session, Quiet())

    return run


def run_duckdb(workload: Workload, data: Path, out: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(workload.duckdb.format(data=data, out=out))


def prepared(pipeline: str, data: Path, folder: Path) -> Path:
    """A folder with the pipeline and links to its inputs."""
    work = folder / "clinker"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / "pipeline.yaml").write_text(pipeline)
    for file in filter(Path.is_file, data.iterdir()):
        os.link(file, work / file.name)
    return work


# The table


def table(results: Mapping[str, Times], rejecting: Times, planning: Times, rows: int) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Seconds, and in brackets the ratio of this system to the other: below 1 it is faster. "
        "Medians of runs that take turns on the same machine, in one session after "
        f"{WARM_UPS} runs to warm up, except the cold one; `scripts/bench` repeats them.",
        "",
        f"{machine()}, {rows:,} rows.",
        "",
        "| Job | " + " | ".join(SYSTEMS) + " |",
        "|---|" + "---:|" * len(SYSTEMS),
    ]
    for name, times in results.items():
        own = times["clinker"]
        cells = [f"{own:.2f}"]
        cells += [f"{times[s]:.2f} ({own / times[s]:.2f})" for s in SYSTEMS[1:]]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    if len(rejecting) > 1:
        ratio = rejecting[DIRTY.name] / rejecting[CLEAN.name]
        lines += [
            "",
            f"Rejecting 1 % of the records takes {ratio:.2f} of the time without rejects, "
            "measured in turns as well.",
        ]
    if planning:
        short, long = CHAINS
        ratio = planning[str(long)] / planning[str(short)]
        lines += [
            "",
            f"Ten records through {long} transforms take {ratio:.2f} of the time through {short}, "
            f"cold: {planning[str(long)]:.2f} s.",
        ]
    return "\n".join([*lines, ""])


def machine(*libraries: str) -> str:
    with Path("/proc/meminfo").open() as facts:
        memory = int(facts.readline().split()[1]) // 2**20
    versions = ", ".join(f"{name} {version(name)}" for name in libraries or LIBRARIES)
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory} GiB, "
        f"Python {platform.python_version()}, {versions}"
    )


if __name__ == "__main__":
    main()
