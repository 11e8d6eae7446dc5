"""Sites: the places where records can be rejected, and how each of them explains itself.

The engine only finds out that a record fails. Why it failed is told by the interpreter, run by the
driver on the values that the place had read; so both agree, or the run stops.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

from clinker.cxl.failure import Category, Failure
from clinker.cxl.run.patterns import TooLong, judging
from clinker.cxl.run.tagged import decode
from clinker.cxl.values import Value
from clinker.diagnostics import Location
from clinker.engine.rejects.payload import is_payload, payload_values
from clinker.engine.report.facts import Exit, RunError
from clinker.frozen import frozen
from clinker.plan.analyses.settling import Region

TIME_WINDOW = "time_window:"
"""What stands before the name of an aggregate that rejects records as late."""


class Demand(IntEnum):
    """Sites that reject nothing: what comes to them asks for another run, done with more care."""

    WIDE_SUMS = 0
    """A Float lies outside the range of the usual sums."""
    WHOLE_RECORDS = 1
    """Of a record that was taken apart the whole is needed: a row of it fails, or it is unlike
    those by which the types of its parts were guessed."""
    LONG_TEXTS = 2
    """A text is so long that a pattern may take forever, unless it is stopped."""
    SINGLE_STEPS = 3
    """A value of a state node fails by what the records before have left, so that each of them
    has to be taken on its own."""
    LINEAGE = 4
    """A group fails whose records fall with it, so that groups must know their records."""


_REMEMBERED = 1 << 14
"""How many reasons are kept, for records that were rejected alike."""


class Unsettled(Exception):
    """More has fallen than was known, so that the run must be computed without it."""


class RunAgain(Exception):
    """The run must start over, since records demand more care."""

    def __init__(self, demand: Demand) -> None:
        super().__init__(demand)
        self.demand = demand


@frozen
class Reason:
    """Why a record was rejected."""

    category: str
    detail: str
    field: str = ""
    value: str = ""
    rule: str = ""
    """The validation rule it broke."""
    location: Location | None = dataclasses.field(default=None, compare=False, repr=False)
    """Where in the pipeline it failed to compute something."""


Explain: TypeAlias = Callable[[list[Value]], Reason | None]
"""The reason, from the values the place had read; None if there is none."""


@frozen(eq=False)
class Site:
    node: str
    branch: str
    """The route branch the records were on; empty without one."""
    explain: Explain | None
    """None where the reader or the engine states the reason itself."""
    is_fatal: bool = False
    """Whether a rejected record ends the run under every strategy."""
    category: str = Category.TYPE_COERCION
    """What a record is filed under for which something could not be computed."""
    region: Region = Region()
    """Where it stands among all that is settled one after the other."""
    is_collateral: bool = False
    """Whether it rejects records only since others failed."""


class Sites:
    """All sites of a run, by number."""

    def __init__(self) -> None:
        self._sites = [Site("", "", None) for _ in Demand]
        self.reason = lru_cache(_REMEMBERED)(self._reason)

    def add(self, site: Site) -> int:
        self._sites.append(site)
        return len(self._sites) - 1

    def __getitem__(self, number: int) -> Site:
        return self._sites[number]

    def _reason(self, number: int, inputs: str) -> Reason:
        """Why a site rejected the record of which it had read `inputs`."""
        site = self._sites[number]
        read = list(payload_values(inputs).values()) if is_payload(inputs) else decode(inputs)
        if isinstance(read, dict):
            return _stated(read)
        assert isinstance(read, list) and site.explain
        try:
            with judging():
                reason = site.explain(read)
        except TooLong:
            raise RunAgain(Demand.LONG_TEXTS) from None
        if reason is None:
            raise RunError(
                f"the engine rejected a record in '{site.node}' that the interpreter accepts: "
                f"{inputs}",
                Exit.INTERNAL,
                help="this is a defect of clinker; please report it with the line above",
            )
        return _filed_as(site.category, reason)


def reason_of(failure: Failure) -> Reason:
    return Reason(
        failure.category,
        failure.detail,
        failure.field or "",
        failure.value or "",
        location=failure.location,
    )


def _filed_as(category: str, reason: Reason) -> Reason:
    """The reason under a category that tells more than that something could not be computed."""
    if reason.category != Category.TYPE_COERCION:
        return reason
    return dataclasses.replace(reason, category=category)


def _stated(given: dict[str, Value]) -> Reason:
    def text(key: str) -> str:
        value = given.get(key)
        return "" if value is None else str(value)

    return Reason(text("category"), text("detail"), text("field"), text("value"), text("rule"))
