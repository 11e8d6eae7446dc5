"""Every example of the user guide with a stated result, run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.run.supported import check_supported
from clinker.engine.session.session import Session

from .test_fixtures import GOOD, Fixture, compiled, name_of

RUNNABLE = [fixture for fixture in GOOD if "output" in fixture.expect.get("checks", {})]


def exit_code(fixture: Fixture, session: Session) -> int:
    plan = compiled(fixture).plan
    assert plan
    try:
        check_supported(plan)
    except RunError as problem:
        pytest.skip(problem.message)
    try:
        return int(run_in(plan, session, Quiet()).exit_code)
    except RunError as problem:
        if "exit" not in fixture.expect["checks"]:
            raise
        return problem.exit_code


@pytest.mark.parametrize("fixture", RUNNABLE, ids=name_of)
def test_gives_the_stated_result(fixture: Fixture, session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "fixture"
    shutil.copytree(fixture.folder, folder)
    checks = fixture.expect["checks"]
    copy = Fixture(folder, fixture.expect)
    code = exit_code(copy, session)
    found = {
        name: (folder / name).read_text() for name in checks["output"] if (folder / name).exists()
    }
    assert found == checks["output"]
    assert code in ([checks["exit"]] if "exit" in checks else [0, 2])
