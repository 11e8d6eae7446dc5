"""What the ahead-of-time cache is trained with runs as the command does, without pandas."""

from __future__ import annotations

import subprocess
import sys

_PRACTISED = """\
from clinker.imports import leave_out_pandas

leave_out_pandas()
from clinker.engine.session import SessionSettings, open_session
from clinker.engine.run.practice import practise_pipelines
from clinker.engine.session.training import practise

with open_session(SessionSettings()) as session:
    practise(session)
    practise_pipelines(session)
"""


def test_what_is_practised() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PRACTISED], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
