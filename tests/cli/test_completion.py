"""Completion of command lines, by a real shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ASK = """\
source {script}
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_{command}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(folder: Path, command: str, words: str) -> set[str]:
    program = str(Path(sys.executable).with_name(command))
    made = subprocess.run([program, "completion", "bash"], capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
    script = folder / "completion.bash"
    script.write_text(made.stdout)
    question = _ASK.format(script=script, words=words, command=command)
    answer = subprocess.run(["bash", "-c", question], cwd=folder, capture_output=True, text=True)
    return set(answer.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("command", "words", "expected"),
    [
        ("clinker", "clinker re", {"recover"}),
        ("clinker", "clinker run --dry-run-o", {"--dry-run-output"}),
        ("clinker", "clinker run --log-level de", {"debug"}),
        ("clinker", "clinker run ord", {"orders.yaml"}),
        ("cxl", "cxl fu", {"functions"}),
    ],
)
def test_bash(tmp_path: Path, command: str, words: str, expected: set[str]) -> None:
    (tmp_path / "orders.yaml").touch()
    assert complete(tmp_path, command, words) == expected
