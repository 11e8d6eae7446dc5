"""Requests that are tried again, and how long to wait before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from clinker.formats.files.rest.answers import RequestError
from clinker.frozen import frozen

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_LONGEST_WISH = 300.0
"""A service that wants more time than this is asked again all the same."""

Result = TypeVar("Result")


@frozen(eq=False)
class Patience:
    """How time passes between two attempts; tests have their own."""

    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    chance: Callable[[], float] = random.random
    """From 0 to 1: those who failed together should not come back together."""


def retry(attempt: Callable[[], Result], retries: int, patience: Patience) -> Result:
    """The result of the first attempt that succeeds; the last RequestError if none does."""
    for failures in range(retries + 1):
        try:
            return attempt()
        except RequestError as problem:
            if not problem.may_pass:
                raise
            if failures == retries:
                times = f" after {retries + 1} attempts" if retries else ""
                raise RequestError(problem.message + times, problem.help) from None
            patience.sleep(find_wait(failures, problem.retry_after, patience))
    raise AssertionError("a loop that returns or raises")


def find_wait(failures: int, retry_after: str | None, patience: Patience) -> float:
    """How many seconds to wait after so many failures before this one."""
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(failures, 10))
    own = longest * (0.5 + patience.chance() / 2)
    return max(own, min(_LONGEST_WISH, _parse_wish(retry_after, patience.now())))


def _parse_wish(retry_after: str | None, now: datetime) -> float:
    """The seconds that a service asks for, as a number or as a time to wait for."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()
