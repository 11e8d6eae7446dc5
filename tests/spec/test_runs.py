"""Every example of the user guide with a stated result, run."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session

from .cases import Case, compiled, good_cases, name_of

RUNNABLE = [case for case in good_cases() if "output" in case.expect.get("checks", {})]
SLIDING = pytest.mark.spark_only("Sail has no frames that records leave")
PARAMS = [
    pytest.param(case, marks=SLIDING if case.name == "cxl_windows/explicit_frame" else ())
    for case in RUNNABLE
]


def exit_code(case: Case, folder: Path, session: Session) -> int:
    plan = compiled(case, folder).plan
    assert plan
    try:
        return int(run_in(plan, session, Quiet()).exit_code)
    except RunError as problem:
        if "exit" not in case.expect["checks"]:
            raise
        return problem.exit_code


@pytest.mark.parametrize("case", PARAMS, ids=map(name_of, RUNNABLE))
def test_gives_the_stated_result(case: Case, session: Session, tmp_path: Path) -> None:
    case.unpack(tmp_path)
    checks = case.expect["checks"]
    code = exit_code(case, tmp_path, session)
    found = {
        name: (tmp_path / name).read_text()
        for name in checks["output"]
        if (tmp_path / name).exists()
    }
    assert found == checks["output"]
    assert code in ([checks["exit"]] if "exit" in checks else [0, 2])
