"""The engine does with random pipelines what the model does."""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path

import pytest

from clinker.engine.reading import inputs
from clinker.engine.session.session import Session

from .holding import compiling_cases, hold

_CASES = 6


@pytest.mark.parametrize("way", ["driver", "workers"])
def test_the_engine_agrees_with_the_model(
    way: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "workers":
        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    cases = compiling_cases(count(100 if way == "driver" else 200), tmp_path)
    for number, case, plan in islice(cases, _CASES):
        try:
            hold(case, plan, tmp_path, session)
        except AssertionError as problem:
            raise AssertionError(f"case {number}\n{case}\n{problem}") from problem
