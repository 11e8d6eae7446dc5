"""What every command does, whatever it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import clinker

_DEFECT = """\
import sys
import clinker.cli.clinker_explain as command
from clinker.cli.clinker import main

def fail(args):
    raise ZeroDivisionError("a mistake of ours")

command.run = fail
sys.exit(main(["explain", "--code", "E200"]))
"""


def test_a_defect_is_told_without_a_stack_trace() -> None:
    done = subprocess.run([sys.executable, "-c", _DEFECT], capture_output=True, text=True)
    assert done.returncode == 70
    assert done.stderr == (
        "error: internal error: ZeroDivisionError: a mistake of ours\n"
        "  help: this is a defect of clinker; please report it\n"
    )


def test_a_name_that_is_not_utf_8_can_be_printed(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.yaml")
    (tmp_path / name).write_text(
        "pipeline: { name: p }\nnodes:\n"
        "  - type: source\n    name: s\n"
        "    config: { type: csv, path: s.csv, schema: [{ name: a, type: int }] }\n"
        "  - { type: output, name: o, input: s, config: { type: csv, path: o.csv } }\n"
    )
    (tmp_path / "s.csv").write_text("a\n1\n")
    command = [str(Path(sys.executable).with_name("clinker")), "run", name, "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ok: \\udcff.yaml is valid: 1 source, 0 nodes between, 1 output\n"


def test_the_command_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "clinker", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"clinker {clinker.__version__}\n")
