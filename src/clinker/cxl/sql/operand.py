"""The Spark SQL of built-ins: how a declaration states its form in the engine.

SQL is text here; nothing of Spark is imported. A value that cannot be computed is null, never an
exception, and a second text tells where that was a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from clinker.cxl.run.date_names import DateNames
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.frozen import frozen


@frozen
class Sql:
    """A value and where it failed: `fails` is true there, false or null elsewhere."""

    text: str
    fails: str | None = None
    """None when it cannot fail."""


@frozen
class Operand:
    """A receiver or an argument: a column name or a literal, free to be written repeatedly."""

    text: str
    type: Type
    """Of one kind, apart from null, unless the declaration takes tagged values."""
    is_literal: bool = False
    value: Value = None
    """The value of a literal."""


class SqlCall(Protocol):
    """One call of a built-in, as its SQL is written."""

    @property
    def receiver(self) -> Operand: ...

    @property
    def type(self) -> Type:
        """The type of the result; the text must be in its representation."""

    @property
    def names(self) -> DateNames:
        """The words in which dates are written."""

    def arg(self, name: str) -> Operand | None:
        """The argument of this parameter; None when it is left out.

        An optional argument that is there may still be null at run time, which means left out.
        """

    def args(self) -> tuple[Operand, ...]:
        """All arguments in order, for variadic parameters."""

    def apply(self, element: str) -> Sql:
        """The body of the closure argument with `it` bound to the SQL `element`."""

    @property
    def closure_type(self) -> Type:
        """The type of what the closure argument gives, in whose representation its body is."""

    def bind(self, text: str) -> str:
        """A name for the value of `text`, to be written instead of it more than once."""


SqlForm: TypeAlias = str | tuple[str, str] | Callable[[SqlCall], Sql]
"""A template with `{self}` and the names of parameters; a template and one for where it fails; or
a function of the call."""


class NotNative(Exception):
    """This call has no form in the engine; the interpreter computes it."""
