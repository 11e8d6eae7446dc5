"""All built-ins, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.builtins.declare import Builtin, Method
from clinker.cxl.builtins.windows import WindowFunction


def every_builtin() -> Iterator[Builtin]:
    for overloads in METHODS.values():
        yield from overloads
    yield from AGGREGATES.values()
    yield from WINDOW_FUNCTIONS.values()


def heading(builtin: Builtin) -> str:
    """The call as a user writes it, with its types."""
    match builtin:
        case Method():
            return f"{builtin.receiver}.{builtin.signature}"
        case WindowFunction():
            return f"$window.{builtin.signature}"
        case Aggregate(counts_rows=True):
            return f"{builtin.name}(*), {builtin.signature}"
        case _:
            return builtin.signature


def summary(builtin: Builtin) -> str:
    """The first sentence of the documentation."""
    first_paragraph = " ".join(builtin.documentation.split("\n\n")[0].split())
    sentence, period, _ = first_paragraph.partition(". ")
    return sentence + "." if period else first_paragraph
