"""What every command does, whatever it is."""

from __future__ import annotations

import subprocess
import sys

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
