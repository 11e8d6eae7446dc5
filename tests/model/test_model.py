"""The engine does with random pipelines what the model does."""

from __future__ import annotations

from itertools import chain, count, islice
from pathlib import Path

import pytest

from clinker.engine.reading import inputs
from clinker.engine.session.session import Session

from .holding import compiling_cases, hold, partitions, run, written

_CASES = 6
_IN_ROUNDS = (308, 551)
"""Cases whose failures have to be settled one after the other."""


@pytest.mark.parametrize("way", ["driver", "workers"])
def test_the_engine_agrees_with_the_model(
    way: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "workers":
        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    numbers = chain(_IN_ROUNDS, count(100 if way == "driver" else 200))
    cases = compiling_cases(numbers, tmp_path)
    for number, case, plan in islice(cases, _CASES):
        try:
            hold(case, plan, tmp_path, session)
        except AssertionError as problem:
            raise AssertionError(f"case {number}\n{case}\n{problem}") from problem


def test_files_are_the_same_in_any_number_of_partitions(session: Session, tmp_path: Path) -> None:
    held = 0
    for number, case, plan in compiling_cases(_IN_ROUNDS, tmp_path):
        held += 1
        found: dict[str, int] = {}
        for parts in (1, 2, 7, 7, 7):
            with partitions(session, parts):
                run(plan, tmp_path, session)
            found.setdefault(repr(written(plan, tmp_path)), parts)
        assert len(found) == 1, f"case {number} with {found.values()} partitions\n{case}"
    assert held == len(_IN_ROUNDS)
