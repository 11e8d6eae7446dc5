"""What identifies a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from clinker.engine.report.facts import failed_report, identify
from clinker.engine.report.notation import duration_ms


@pytest.mark.parametrize(("given", "expected"), [("daily", "daily"), (None, None)])
def test_the_identity_of_a_run(given: str | None, expected: str | None) -> None:
    first, second = identify(given), identify(given)
    assert first.execution_id != second.execution_id
    for identity in (first, second):
        assert identity.execution_id[14] == "7"
        assert identity.execution_id[19] in "89ab"
        began = int(identity.execution_id.replace("-", "")[:12], 16) / 1000
        assert abs(began - identity.started.timestamp()) < 1
        assert expected is None or identity.batch_id == expected
    assert (first.batch_id == second.batch_id) == (given is not None)


def test_no_run_ends_before_it_began() -> None:
    identity = identify(None)
    set_back = replace(identity, started=identity.started + timedelta(hours=1))
    assert 0 <= duration_ms(failed_report(set_back, "p", 4)) < 60_000
