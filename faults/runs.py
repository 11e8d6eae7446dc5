"""Whole runs, as users start them, to which something happens."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from clinker.engine.session.workspace import remove_abandoned
from faults.verdict import Files, Verdict, judged

OUTPUTS = [*(f"out/{n}.csv" for n in range(4)), *(f"more/deep/{n}.json" for n in range(2))]
LETTERS = "letters/rejected.csv"
BEFORE: Files = {**dict.fromkeys(OUTPUTS[:4], b"old\n"), LETTERS: b"old\n"}
ROWS, MANY_ROWS = 2_000, 450_000
"""Few enough to be read by the command itself, and so many that workers are started."""
PIPELINE = """
pipeline: { name: faults }
nodes:
  - type: source
    name: rows
    config: { type: csv, path: in.csv, schema: { id: int, name: string } }
  - { type: transform, name: twice, input: rows, config: { cxl: "emit twice = id * 2" } }
""" + "".join(
    f"  - {{ type: output, name: o{n}, input: twice, "
    f"config: {{ type: {name.rpartition('.')[2]}, path: {name} }} }}\n"
    for n, name in enumerate(OUTPUTS)
)
ENDING = f"error_handling: {{ strategy: continue, dlq: {{ path: {LETTERS} }} }}\n"
BROKEN = b'id,name\n"never closed\n'
_MARK = "CLINKER_FAULTS_RUN"
_SECONDS_TO_END = 20
"""How long Spark may take to notice that its run is gone."""
_SERVER = """
import socket, sys
from clinker.engine.session import SessionSettings, open_session

with socket.socket() as reserved:
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
conf = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.python.daemon.module": "pyspark.daemon",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.connect.grpc.binding.port": str(port),
}
with open_session(SessionSettings(threads=2, memory_limit=2**31, spark_conf=conf)):
    print(port, flush=True)
    sys.stdin.read()
"""


def rows(number: int) -> bytes:
    """Records, some of which are rejected."""
    lines = (b"%d,%s\n" % (n, b"bolt" if n % 3 else b"nut") for n in range(1, number))
    return b"id,name\n" + b"".join(lines) + b"x,bad\n"


@contextmanager
def server() -> Iterator[str]:
    """A Spark that is there already, for runs that do not wait for one of their own."""
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield f"sc://localhost:{int(process.stdout.readline())}"
        process.communicate()


class Site:
    """A directory with a pipeline, its input and what an earlier run has written."""

    def __init__(
        self,
        place: Path,
        *options: str,
        records: bytes | None = None,
        temporary: Path | None = None,
        pipeline: str = PIPELINE,
    ) -> None:
        self.place = place
        self.place.mkdir(parents=True)
        self.temporary = temporary or place / "temporary"
        self.temporary.mkdir()
        self._options = options
        self._name = uuid.uuid4().hex
        (place / "p.yaml").write_text(pipeline + ENDING)
        (place / "clinker.toml").write_text(f'[storage.spill]\ndir = "{self.temporary}"\n')
        self.input = place / "in.csv"
        self.input.write_bytes(rows(ROWS) if records is None else records)
        for name, content in BEFORE.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).with_name("clinker")
        command = [str(program), "run", str(self.place / "p.yaml"), "--force"]
        environment = {**os.environ, "TMPDIR": str(self.temporary), _MARK: self._name}
        return subprocess.Popen(
            [*command, "--quiet", "--threads", "2", *(options or self._options)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=(self.place / "errors").open("ab"),
            stdin=subprocess.DEVNULL,
        )

    def ended(self) -> int:
        """The exit code of an undisturbed run."""
        return self.start().wait()

    def files(self) -> dict[str, bytes]:
        """All that runs have written, or left."""
        found = {}
        for path in sorted([*self.place.rglob("*"), *self.temporary.rglob("*")]):
            if (path.is_file() and path.parent != self.place) or path.name.startswith(".clinker-"):
                name = os.path.relpath(path, self.place)
                found[name] = _without_ids(path.read_bytes()) if path.is_file() else b""
        return found

    def journals(self) -> bool:
        return any(self.place.glob(".clinker-*.journal")) or any(
            (self.place / "out").glob(".clinker-*.journal")
        )

    def spilled(self, name: str) -> bool:
        """Whether there is something in the directory of a run."""
        return any(self.temporary.glob(f"clinker-run-*/{name}"))

    def processes(self) -> dict[int, str]:
        """All that belongs to runs of this site, with their command lines."""
        mark = f"{_MARK}={self._name}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(process.name)] = command
        return found

    def next_run(self) -> int:
        """Another run, which recovers what there is to recover and then finds a broken input."""
        self.input.write_bytes(BROKEN)
        return self.start().wait()

    def judged(self, *after: Files) -> Verdict:
        """Judge when all processes should have ended and another run was there."""
        deadline = time.monotonic() + _SECONDS_TO_END
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        if self.processes():
            return Verdict.LEFTOVERS
        if self.spilled("lock"):
            return Verdict.LEFTOVERS
        for left in self.temporary.iterdir():  # killed before it was locked; a minute later
            os.utime(left, (0, 0))
        remove_abandoned(self.temporary)
        return judged(self.files(), BEFORE, *after)


def _without_ids(content: bytes) -> bytes:
    """Dead letters have ids and times of their own."""
    if not content.startswith(b"_cxl_dlq_id"):
        return content
    return re.sub(rb"^[0-9a-f-]{36},[^,]*", b"", content, flags=re.M)


class Runs:
    """Rounds with whole runs, on a Spark that is there already or on one of their own."""

    def __init__(self, place: Path, remote: str) -> None:
        self._place = place
        self._remote = ("--remote", remote)
        self._results: dict[bytes, Files] = {}
        self._seconds: dict[tuple[str, ...], float] = {}

    def _result(self, records: bytes, *options: str) -> Files:
        """What an undisturbed run makes of an input."""
        if records not in self._results:
            chosen = options or self._remote
            site = Site(self._place / uuid.uuid4().hex, *chosen, records=records)
            begun = time.monotonic()
            code = site.ended()
            self._seconds.setdefault(chosen, time.monotonic() - begun)
            assert code in (0, 2), (code, (site.place / "errors").read_text())
            self._results[records] = site.files()
            shutil.rmtree(site.place)
        return self._results[records]

    def killed(self, place: Path, random: Random) -> Verdict:
        """The command is killed, now and then in the middle of its commit."""
        new = self._result(rows(ROWS))
        site = Site(place, *self._remote)
        process = site.start()
        if random.random() < 0.5:
            _wait_for_journal(site, process)
            time.sleep(random.uniform(0, 0.01))
        else:
            _wait(process, random.uniform(0, 1.1 * self._seconds[self._remote]))
        process.kill()
        process.wait()
        if site.next_run() != 4:
            return Verdict.WRONG_CODE
        return site.judged(new)

    def signalled(self, place: Path, random: Random) -> Verdict:
        """The command gets a signal, or two."""
        new = self._result(rows(ROWS))
        site = Site(place, *self._remote)
        process = site.start()
        _wait(process, random.uniform(0.3, 1.1 * self._seconds[self._remote]))
        twice = random.random() < 0.5
        for _ in range(1 + twice):
            process.send_signal(random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
            time.sleep(random.uniform(0, 0.05))
        code = process.wait()
        (place / "code").write_text(f"{code}\n")
        if twice and site.next_run() != 4:
            return Verdict.WRONG_CODE
        verdict = site.judged(new)
        # A signal that comes before Python is ready for it ends it as it ends every process.
        expected = {130, -2, -15, -1} if site.files() == BEFORE else {2, 130}
        return verdict if code in expected else Verdict.WRONG_CODE

    def changed(self, place: Path, random: Random) -> Verdict:
        """The input changes while it is read."""
        content = rows(ROWS)
        change = random.choice([_append, _truncate, _rewrite, _exchange])
        site = Site(place, *self._remote)
        changed = place / "changed"
        changed.write_bytes(content)
        change(changed)
        states = [self._result(content), self._result(changed.read_bytes())]
        process = site.start()
        _wait(process, random.uniform(0.3, self._seconds[self._remote]))
        change(site.input)
        code = process.wait()
        verdict = site.judged(*states)
        expected = {4} if site.files() == BEFORE else {0, 2}
        return verdict if code in expected else Verdict.WRONG_CODE

    def killed_cold(self, place: Path, random: Random) -> Verdict:
        """The command is killed, and Spark was its own."""
        new = self._result(rows(ROWS))
        site = Site(place)
        process = site.start()
        _wait(process, random.uniform(0, 2 * self._seconds[self._remote] + 4))
        process.kill()
        process.wait()
        if site.start(*self._remote).wait() != 2:  # the next run does its work
            return Verdict.WRONG_CODE
        return site.judged(new)

    def spilling_killed(self, place: Path, random: Random) -> Verdict:
        """The command is killed while its Spark has something on the disk."""
        pipeline = PIPELINE.replace("path: out/0.csv", "path: out/0.csv, sort_order: [name]")
        # A Spark of its own for the next run as well, which looks for what was spilled.
        options = ("--memory-limit", "512M")
        site = Site(place, *options, records=rows(MANY_ROWS), pipeline=pipeline)
        process = site.start()
        while process.poll() is None and not site.spilled("spill/blockmgr-*/*/*"):
            time.sleep(0.02)
        _wait(process, random.uniform(0, 2))
        process.kill()
        process.wait()
        if site.next_run() != 4:
            return Verdict.WRONG_CODE
        return site.judged()

    def jvm_killed(self, place: Path, random: Random) -> Verdict:
        """Java is killed under the command."""
        return self._bereaved(place, random, _is_java, ROWS)

    def worker_killed(self, place: Path, random: Random) -> Verdict:
        """One of Spark's Python workers is killed."""
        return self._bereaved(place, random, _is_worker, MANY_ROWS)

    def _bereaved(
        self, place: Path, random: Random, is_meant: Callable[[str], bool], number: int
    ) -> Verdict:
        options = ("--memory-limit", "512M")
        new = self._result(rows(number), *options)
        site = Site(place, *options, records=rows(number))
        process = site.start()
        found: list[int] = []
        while not found and process.poll() is None:
            found = [pid for pid, command in site.processes().items() if is_meant(command)]
            time.sleep(0.02)
        _wait(process, random.uniform(0, 6))
        found = [pid for pid, command in site.processes().items() if is_meant(command)]
        if found:
            with suppress(ProcessLookupError):
                os.kill(random.choice(found), signal.SIGKILL)
        code = process.wait()
        verdict = site.judged(new)
        expected = {1, 4} if site.files() == BEFORE else {2}
        return verdict if code in expected else Verdict.WRONG_CODE

    def disk_full(self, place: Path, random: Random) -> Verdict:
        """There is no room for all that is to be written."""
        with small_disk(place, random.randint(100, 400)) as disk:
            temporary = place.with_name(f"{place.name}-temporary")
            site = Site(disk, *self._remote, temporary=temporary)
            code = site.ended()
            verdict = site.judged(self._result(rows(ROWS)))
            expected = 4 if site.files() == BEFORE else 2
        return verdict if code == expected else Verdict.WRONG_CODE


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A volume of its own, which is nearly full from the beginning."""
    place.mkdir(parents=True)
    options = f"size={kilobytes}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
    try:
        yield place / "site"
    finally:
        subprocess.run(["umount", str(place)], check=True)


def can_mount() -> bool:
    return os.geteuid() == 0 and shutil.which("mount") is not None


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _wait_for_journal(site: Site, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not site.journals():
        time.sleep(0.0005)


def _is_java(command: str) -> bool:
    return command.partition(" ")[0].endswith("/java")


def _is_worker(command: str) -> bool:
    return "clinker.engine.session.daemon" in command


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"7,late\n")


def _truncate(path: Path) -> None:
    content = path.read_bytes()
    os.truncate(path, content.index(b"\n", len(content) // 2) + 1)


def _rewrite(path: Path) -> None:
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b"bolt", b"gear"))


def _exchange(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(rows(ROWS // 2))
    other.replace(path)


Round = Callable[[Path, Random], Verdict]


def rounds(runs: Runs) -> Mapping[str, Round]:
    """All kinds of rounds by what happens in them."""
    return {
        "the command is killed": runs.killed,
        "the input changes": runs.changed,
        "the command gets signals": runs.signalled,
        "the command is killed, with a Spark of its own": runs.killed_cold,
        "the command is killed while it spills": runs.spilling_killed,
        "Java is killed": runs.jvm_killed,
        "a Python worker is killed": runs.worker_killed,
        "the disk is full": runs.disk_full,
    }
