"""How long to wait before the next attempt, and when there is none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clinker.formats.files.rest.answers import RequestError
from clinker.formats.files.rest.retrying import Patience, find_wait, retry

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def patience(waits: list[float] | None = None, chance: float = 1.0) -> Patience:
    return Patience((waits if waits is not None else []).append, lambda: NOW, lambda: chance)


@pytest.mark.parametrize(
    ("failures", "retry_after", "seconds"),
    [
        (0, None, 0.5),
        (1, None, 1.0),
        (3, None, 4.0),
        (50, None, 30.0),
        (0, "7", 7.0),
        (4, "1", 8.0),
        (0, "99999999999", 300.0),
        (0, "Thu, 01 Jan 2026 12:00:20 GMT", 20.0),
        (0, "Thu, 01 Jan 2026 11:00:00 GMT", 0.5),
        (0, "soon", 0.5),
        (0, "-5", 0.5),
        (0, "Fri, 31 Dec 9999 23:59:59 GMT", 300.0),
    ],
)
def test_waiting(failures: int, retry_after: str | None, seconds: float) -> None:
    assert find_wait(failures, retry_after, patience()) == seconds


def test_chance_halves_a_wait_at_most() -> None:
    assert find_wait(2, None, patience(chance=0.0)) == 1.0


def test_attempts() -> None:
    waits: list[float] = []
    problems = iter([RequestError("a", may_pass=True), RequestError("b", may_pass=True)])

    def attempt() -> str:
        for problem in problems:
            raise problem
        return "done"

    assert retry(attempt, 3, patience(waits)) == "done"
    assert waits == [0.5, 1.0]


def test_the_last_problem_is_told() -> None:
    def attempt() -> None:
        raise RequestError("gave status 503", may_pass=True)

    with pytest.raises(RequestError, match="gave status 503 after 3 attempts"):
        retry(attempt, 2, patience())
    with pytest.raises(RequestError, match=r"gave status 503$"):
        retry(attempt, 0, patience())
