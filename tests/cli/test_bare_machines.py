"""Machines that offer little, as containers do: users are numbers, directories are read-only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.smallest import DATA, lay_out
from tests.mounts import needs_mounts

CLINKER = str(Path(sys.executable).with_name("clinker"))
NAMELESS = """
for file in passwd nsswitch.conf; do mount --bind /dev/null /etc/$file; done
exec "$@"
"""
READ_ONLY = """
mount --bind "$(pwd)" /mnt
mount -o remount,ro,bind /mnt
for directory in /var/tmp /usr/tmp /tmp; do
    if [ -d $directory ]; then mount -t tmpfs -o ro tmpfs $directory; fi
done
cd /mnt
exec "$@"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lay_out(tmp_path)
    return tmp_path


def on(machine: str, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What comes of a command in an empty environment, once the machine is as it should be."""
    return subprocess.run(
        ["unshare", "--mount", "sh", "-e", "-c", machine, "sh", *words],
        cwd=place,
        capture_output=True,
        text=True,
        env={"PATH": os.defpath},
    )


def nameless(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the command says where nobody has a name."""
    asked = [sys.executable, "-c", "import os, pwd; pwd.getpwuid(os.getuid())"]
    if on(NAMELESS, place, *asked).returncode == 0:
        pytest.skip("this system knows its users from elsewhere")
    return on(NAMELESS, place, CLINKER, *words)


@needs_mounts
def test_a_run_needs_no_name_and_no_home(place: Path) -> None:
    done = nameless(place, "run", "p.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert (place / "o.csv").read_text() == DATA


@needs_mounts
def test_without_a_home_there_is_nothing_to_warm_up(place: Path) -> None:
    done = nameless(place, "warmup")
    assert (done.returncode, done.stderr) == (
        4,
        "error: there is no home directory to keep the cache in: set XDG_CACHE_HOME\n",
    )


@needs_mounts
def test_a_run_without_a_place_for_temporary_files_is_told_to_choose_one(place: Path) -> None:
    for options in (["--dry-run"], []):
        done = on(READ_ONLY, place, CLINKER, "run", "p.yaml", *options)
        assert (done.returncode, done.stderr) == (
            1,
            "error[E074]: the directory for temporary files, /tmp, cannot be written to: "
            "Read-only file system\n"
            "  help: set storage.spill.dir in clinker.toml to a directory on a local disk\n",
        )
    done = on(READ_ONLY, place, CLINKER, "recover")
    assert (done.returncode, done.stdout) == (0, "nothing to recover\n"), done.stderr
