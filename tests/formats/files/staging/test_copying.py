"""A source is copied as it is, or nothing is left of it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blake3 import blake3
from faults.runs import can_mount

from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.local import input_file
from clinker.formats.files.staging import CopyDiffers, Rules
from clinker.formats.files.staging.copying import make_copy
from clinker.formats.files.staging.locks import SourceLock
from clinker.staged_copies import StagedCopy
from tests.formats.files.staging.staged import Events, Run, kinds

ROOT = Path(__file__).resolve().parents[4]
CONTENT = b"id,amount\n" + b"".join(b"%d,%d\n" % (n, n * 7) for n in range(300_000))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "staged"
    path.mkdir()
    return path


@pytest.mark.parametrize("verifies", [True, False])
def test_a_copy_and_its_manifest(source: Path, directory: Path, verifies: bool) -> None:
    copy = StagedCopy.of(directory, source)
    events = Events()
    make_copy(input_file(0, str(source)), copy, "r-1", events, verifies=verifies)
    assert events.seen == ["copying", "verifying"][: 1 + verifies]
    assert events.bytes == len(CONTENT) * (1 + verifies)
    assert copy.path.read_bytes() == CONTENT
    assert kinds(directory) == ["manifest.json", "staged"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.leftovers()} == {0o600}
    manifest = copy.committed()
    assert manifest and manifest.run == "r-1"
    assert manifest.source == os.path.realpath(source)
    assert manifest.blake3 == blake3(CONTENT).hexdigest()
    assert (manifest.size, manifest.mtime_ns) == (len(CONTENT), source.stat().st_mtime_ns)


def test_an_empty_source(tmp_path: Path, directory: Path) -> None:
    (tmp_path / "empty").touch()
    copy = StagedCopy.of(directory, tmp_path / "empty")
    make_copy(input_file(0, str(tmp_path / "empty")), copy, "r", Events(), verifies=True)
    assert copy.is_fresh(tmp_path / "empty") and not copy.path.read_bytes()


def test_another_copy_is_replaced(source: Path, directory: Path) -> None:
    copy = StagedCopy.of(directory, source)
    copy.path.write_bytes(b"old")
    copy.manifest.write_bytes(b"old")
    make_copy(input_file(0, str(source)), copy, "r", Events(), verifies=False)
    assert copy.path.read_bytes() == CONTENT and copy.is_fresh(source)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"7,late\n")


def shorten(path: Path) -> None:
    os.truncate(path, 1000)


def exchange(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(path.stat().st_mtime_ns,) * 2)
    other.replace(path)


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (append, "changed while it was read: it had"),
        (shorten, "changed while it was read: it had"),
        (exchange, "another file has taken its name"),
        (Path.unlink, "cannot be read: No such file"),
    ],
)
def test_a_source_that_changes(
    source: Path, directory: Path, change: Callable[[Path], object], how: str
) -> None:
    run = Run(directory, events=Events(then={"verifying": lambda: change(source)}))
    with pytest.raises(FormatError, match=how):
        run.hold(source)
    run.end(succeeded=False)
    assert kinds(directory) == []


def rewrite(path: Path) -> None:
    """Other bytes, as many, of the same time: nothing tells but what is read."""
    time_before = path.stat().st_mtime_ns
    with path.open("r+b") as file:
        file.write(b"ID")
    os.utime(path, ns=(time_before, time_before))


def test_a_source_that_is_read_in_two_ways(source: Path, directory: Path) -> None:
    run = Run(directory, events=Events(then={"verifying": lambda: rewrite(source)}))
    with pytest.raises(CopyDiffers, match="it was read twice, and was not the same"):
        run.hold(source)
    run.end(succeeded=False)
    assert kinds(directory) == []


def files_that_deliver_less() -> Iterator[Path]:
    """Files that have fewer bytes than the system says."""
    for path in Path("/sys/kernel").glob("*"):
        if path.is_file() and os.access(path, os.R_OK) and path.stat().st_size > 100:
            content = path.read_bytes()
            if content and len(content) < path.stat().st_size:
                yield path


@pytest.mark.parametrize("verifies", [True, False])
def test_a_source_that_delivers_less_than_it_has(directory: Path, verifies: bool) -> None:
    source = next(files_that_deliver_less(), None)
    if source is None:
        pytest.skip("this system has no such file")
    run = Run(directory, Rules(verifies=verifies))
    size, read = source.stat().st_size, len(source.read_bytes())
    with pytest.raises(CopyDiffers, match=f"it has {size} bytes, but {read} were read"):
        run.hold(source)
    run.end(succeeded=False)
    assert kinds(directory) == []


def test_a_source_that_is_not_there(tmp_path: Path, directory: Path) -> None:
    run = Run(directory)
    with pytest.raises(FormatError, match=r"gone\.csv: cannot be read: No such file"):
        run.hold(tmp_path / "gone.csv")
    run.end(succeeded=False)
    assert kinds(directory) == []


def test_a_directory_that_is_not_there(tmp_path: Path, source: Path) -> None:
    run = Run(tmp_path / "missing")
    with pytest.raises(FormatError, match=r"cannot be staged in '.*missing': No such") as told:
        run.hold(source)
    run.end(succeeded=False)
    assert told.value.help and "storage.staging.dir" in told.value.help


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a small volume."""
    if not can_mount():
        pytest.skip("only root can mount a volume")
    place = tmp_path / "volume"
    place.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if subprocess.run(command, check=False).returncode:
            pytest.skip("this machine does not let anyone mount a volume")
        return place

    yield mount
    subprocess.run(["umount", str(place)], check=False, stderr=subprocess.DEVNULL)


def test_a_volume_that_is_too_small(source: Path, volume: Callable[[str], Path]) -> None:
    place = volume("size=1m")
    run = Run(place)
    with pytest.raises(FormatError, match=f"it has {len(CONTENT)} bytes, and there is") as told:
        run.hold(source)
    run.end(succeeded=False)
    assert told.value.help and told.value.help.startswith("make room there")
    assert kinds(place) == []


def test_a_volume_that_fills_up(source: Path, volume: Callable[[str], Path]) -> None:
    # Room for the volume itself, the lock and the copy, but not for the manifest.
    place = volume("size=100m,nr_inodes=3")
    run = Run(place)
    with pytest.raises(FormatError, match="No space left on device"):
        run.hold(source)
    run.end(succeeded=False)
    assert kinds(place) == []


_STAGE = """
import sys
from pathlib import Path
from clinker.formats.files.staging import Rules, Staging
from tests.formats.files.staging.staged import Events

events = Events(then={"waiting": lambda: print("waiting", flush=True)})
staging = Staging(Path(sys.argv[2]), Rules(), events)
try:
    staging.hold([Path(sys.argv[1])])
except KeyboardInterrupt:
    sys.exit(130)
finally:
    staging.end(succeeded=False)
"""


def _command(source: Path, directory: Path) -> list[str]:
    return [sys.executable, "-c", _STAGE, str(source), str(directory)]


def test_an_interrupted_copy_leaves_nothing(tmp_path: Path, directory: Path) -> None:
    source = tmp_path / "large"
    with source.open("wb") as file:
        file.truncate(1 << 30)
    process = subprocess.Popen(_command(source, directory), cwd=ROOT)
    while process.poll() is None and not any(p.stat().st_size for p in directory.glob("*.partial")):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert kinds(directory) == []


def test_an_interrupted_wait_leaves_nothing(source: Path, directory: Path) -> None:
    lock = SourceLock(StagedCopy.of(directory, source).lock)
    assert lock.own()
    process = subprocess.Popen(
        _command(source, directory), cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    lock.release()
    assert kinds(directory) == ["lock"]
    run = Run(directory)
    run.hold(source)
    run.end()
    assert kinds(directory) == []
