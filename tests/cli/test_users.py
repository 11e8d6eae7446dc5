"""Runs of users of whom the system knows nothing but a number, as in many containers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mounts import needs_mounts

CLINKER = str(Path(sys.executable).with_name("clinker"))
PIPELINE = """\
pipeline: { name: p }
nodes:
  - type: source
    name: s
    config: { type: csv, path: s.csv, schema: { id: int } }
  - type: output
    name: o
    input: s
    config: { type: csv, path: o.csv }
"""


def clinker(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the command says where nobody has a name, in an empty environment."""
    hidden = (
        'for file in passwd nsswitch.conf; do mount --bind /dev/null /etc/$file; done; exec "$@"'
    )
    nameless = ["unshare", "--mount", "sh", "-c", hidden, "sh"]
    asked = [sys.executable, "-c", "import os, pwd; pwd.getpwuid(os.getuid())"]
    if subprocess.run([*nameless, *asked], capture_output=True).returncode == 0:
        pytest.skip("this system knows its users from elsewhere")
    return subprocess.run(
        [*nameless, CLINKER, *words],
        cwd=place,
        capture_output=True,
        text=True,
        env={"PATH": os.defpath},
    )


@needs_mounts
def test_a_run_needs_no_name_and_no_home(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "s.csv").write_text("id\n1\n")
    done = clinker(tmp_path, "run", "p.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "o.csv").read_text() == "id\n1\n"


@needs_mounts
def test_without_a_home_there_is_nothing_to_warm_up(tmp_path: Path) -> None:
    done = clinker(tmp_path, "warmup")
    assert (done.returncode, done.stderr) == (
        4,
        "error: there is no home directory to keep the cache in: set XDG_CACHE_HOME\n",
    )
