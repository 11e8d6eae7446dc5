"""Dialects: what engines write or spell in different ways, deep inside of other SQL.

Methods that an engine spells as a whole in its own way are overrides (`Compiler`); this is for the
pieces that they are all made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from clinker.frozen import frozen


@frozen
class Dialect:
    """The SQL of Apache Spark, unless told otherwise."""

    java_floats: bool = True
    """Whether the text of a Float is that of Java, which has an exponent from ten million on."""
    closures: bool = True
    """Whether functions of elements may hold others, as deep as an expression is nested."""
    arrays: bool = True
    """Whether expressions may compute with arrays, of whatever making."""
    json_letters: bool = True
    """Whether JSON has capital letters in the numbers of control characters, as tagged texts do."""
    reads_dates: bool = True
    """Whether it reads dates in texts as the language does."""
    json_nulls: bool = True
    """Whether fields that are null are kept in JSON."""
    sliding_frames: bool = True
    """Whether windows may have frames that records leave again, or frames by value."""
    infinite_extremes: bool = True
    """Whether the smallest of some Floats may be infinite or NaN, as it should."""


SPARK = Dialect()
_current: ContextVar[Dialect] = ContextVar("dialect", default=SPARK)


def current_dialect() -> Dialect:
    return _current.get()


@contextmanager
def writing_in(dialect: Dialect) -> Iterator[None]:
    """Inside, SQL is written in this dialect."""
    before = _current.set(dialect)
    try:
        yield
    finally:
        _current.reset(before)
