"""How much memory runs hold that have to spill: a sort, an aggregate and a join of large files."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from clinker.engine.session.usage import Usage, usage

ROWS = 12_000_000
"""About a gigabyte."""
GROUPS = 5_000_000
LIMITS = ("512M", "1G")
TOLERANCE = 1.1
_CHUNK = 500_000
_SECONDS = 0.1
_MIB = 2**20
_GROUPS_OF_PROCESSES = Path("/sys/fs/cgroup/memory")
_SCHEMA = "schema: { id: int, key: int, group: int, amount: float, note: string }"


def _source(name: str) -> str:
    return f"""
  - type: source
    name: {name}
    config: {{ type: csv, path: in.csv, {_SCHEMA} }}"""


def _output(upstream: str, more: str = "") -> str:
    return f"""
  - type: output
    name: out
    input: {upstream}
    config: {{ type: csv, path: out.csv, if_exists: overwrite{more} }}
"""


JOBS = {
    "sort": _source("rows") + _output("rows", ", sort_order: [key]"),
    "aggregate": _source("rows")
    + """
  - type: aggregate
    name: totals
    input: rows
    config:
      group_by: [group]
      cxl: |
        emit total = sum(amount)
        emit n = count(*)"""
    + _output("totals"),
    "self-join": _source("rows")
    + _source("others")
    + """
  - type: combine
    name: pairs
    input: { a: rows, b: others }
    config:
      where: a.key == b.id
      propagate_ck: driver
      cxl: |
        emit id = a.id
        emit amount = a.amount
        emit other = b.amount
        emit note = b.note"""
    + _output("pairs"),
}


@dataclass(frozen=True)
class Measured:
    """What a run came to."""

    code: int
    seconds: float
    peak: Usage
    is_confined: bool
    """Whether it ran in a control group, so that it would have been killed above its limit."""


def measure(rows: int, only: str) -> dict[tuple[str, str], Measured]:
    """Every job with every limit."""
    found: dict[tuple[str, str], Measured] = {}
    with tempfile.TemporaryDirectory(prefix="clinker-memory-") as scratch:
        work = Path(scratch)
        write_rows(work / "in.csv", rows)
        for job, nodes in JOBS.items():
            (work / f"{job}.yaml").write_text(f"pipeline: {{ name: {job} }}\nnodes:{nodes}")
            for limit in LIMITS:
                if only not in f"{job} {limit}":
                    continue
                print(f"measuring: {job}, {limit}", flush=True)
                found[job, limit] = run(work / f"{job}.yaml", limit)
                print(found[job, limit], flush=True)
    return found


def write_rows(path: Path, rows: int) -> None:
    draw = np.random.default_rng(20260101)
    with path.open("wb") as file:
        file.write(b"id,key,group,amount,note\n")
        for begin in range(0, rows, _CHUNK):
            count = min(_CHUNK, rows - begin)
            ids = np.arange(begin, begin + count)
            notes = [pa.array(draw.integers(0, 10**15, count)).cast(pa.string()) for _ in range(3)]
            table = pa.table(
                {
                    "id": ids,
                    "key": ids * 7_368_787 % rows,  # every id once, if they have no common divisor
                    "group": ids * 2_654_435_761 % GROUPS,
                    "amount": draw.integers(0, 1_000_000, count) / 100,
                    "note": pc.binary_join_element_wise("note", *notes, "-"),
                }
            )
            options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
            pa.csv.write_csv(table, file, options)


def run(pipeline: Path, limit: str) -> Measured:
    """Run a pipeline as users do, and look at its processes from outside."""
    allowed = int(bytes_of(limit) * TOLERANCE)
    command = [str(Path(sys.executable).with_name("clinker")), "run", str(pipeline), "--quiet"]
    begun = time.monotonic()
    peak = Usage()
    with confined(allowed) as group:

        def enter() -> None:
            if group:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        with subprocess.Popen([*command, "--memory-limit", limit], preexec_fn=enter) as process:
            while process.poll() is None:
                peak = peak.or_more(usage(process.pid))
                time.sleep(_SECONDS)
    return Measured(process.returncode, time.monotonic() - begun, peak, group is not None)


def bytes_of(limit: str) -> int:
    return int(limit[:-1]) * {"M": 2**20, "G": 2**30}[limit[-1]]


@contextmanager
def confined(allowed: int) -> Iterator[Path | None]:
    """A control group whose processes the system kills if they hold more; only root can make it."""
    group = _GROUPS_OF_PROCESSES / f"clinker-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(allowed))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        while (group / "cgroup.procs").read_text():
            time.sleep(_SECONDS)
        group.rmdir()


def report(found: dict[tuple[str, str], Measured], rows: int, machine: str) -> str:
    lines = [
        "## Memory",
        "",
        f"Runs over {rows:,} rows of CSV, looked at ten times a second from outside, by "
        "`scripts/bench --memory`. *Held* is what the system cannot take back, *resident* has "
        "mapped files as well; what processes share counts once. MiB, and the share of the limit.",
        "",
        f"{machine}.",
        "",
        "| Job | Limit | Seconds | Exit code | Held | Resident | Killed above the limit + 10 % |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for (job, limit), each in found.items():
        cells = [
            f"{amount // _MIB} ({amount * 100 // bytes_of(limit)} %)"
            for amount in (each.peak.held, each.peak.resident)
        ]
        killed = "would have been, and was not" if each.is_confined else "not tried"
        values = [job, limit, f"{each.seconds:.0f}", str(each.code), *cells, killed]
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join([*lines, ""])
