"""How built-ins are declared: once, with everything the rest of the system wants to know.

A declaration is a Python function (the meaning), its decorator (the types) and its docstring (the
documentation, with examples that run as tests). The type checker, the interpreter, `cxl functions`
and the suggestions for misspelt names all read it from here.

An example is a `>>>` line with a CXL expression, followed by its value as JSON or by
`error: <detail>`. Aggregates and window functions take a table of columns behind `given`:

    >>> sum(x) given {"x": [1, 2, null]}
    3
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from clinker.cxl.failure import FailureKind
from clinker.cxl.sql.operand import SqlForm
from clinker.cxl.types import ANY, NO_KIND, Kind, Type
from clinker.cxl.values import Value
from clinker.frozen import frozen

Returns: TypeAlias = Type | Callable[[Type, tuple[Type, ...]], Type]
"""A result type, or how to find it from the receiver's and the arguments' types.

The receiver is given narrowed to what reaches the method: without null, unless it takes null.
"""


class LiteralProblem(ValueError):
    """A literal argument that can never work; `offset` is the place inside the literal's text."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


@frozen
class Param:
    """A parameter. Null for a required one makes the whole call null, unless `takes_null`."""

    name: str
    type: Type = ANY
    optional: bool = False
    """May be left out; null means left out."""
    takes_null: bool = False
    variadic: bool = False
    iso_text: bool = False
    """A text in ISO form is accepted for a date."""
    check: Callable[[str, Type], None] | None = None
    """Called at compile time with a literal text and the receiver's type; may raise
    `LiteralProblem`."""
    fails_even_for: Callable[[str], Iterable[FailureKind]] | None = None
    """What can go wrong even with a literal text that was checked."""

    def __str__(self) -> str:
        shown = f"{self.name}: {self.type}" + ("…" if self.variadic else "")
        return f"[{shown}]" if self.optional else shown


@frozen
class ClosureParam(Param):
    """A parameter that takes a closure `it => …`; `type` is what its body must give."""

    def __str__(self) -> str:
        return f"it => {self.type}"


def accepted_kinds(wanted: Type, iso_text: bool) -> Kind:
    """The kinds of value taken where `wanted` is declared; Ints pass for Floats."""
    kinds = wanted.kinds
    if kinds & Kind.FLOAT:
        kinds |= Kind.INT
    return kinds | Kind.STRING if iso_text else kinds


@frozen
class Example:
    expression: str
    expected: str
    given: str | None = None


@frozen
class Builtin:
    """What methods, aggregates and window functions have in common."""

    name: str
    family: str
    params: tuple[Param, ...]
    returns: Returns
    fails: frozenset[FailureKind]
    call: Callable[..., Any]

    @property
    def documentation(self) -> str:
        """The prose of the docstring, without the examples."""
        return _EXAMPLE.sub("", inspect.getdoc(self.call) or "").strip()

    @property
    def examples(self) -> tuple[Example, ...]:
        matches = _EXAMPLE.finditer(inspect.getdoc(self.call) or "")
        return tuple(Example(m["expression"], m["expected"].strip(), m["given"]) for m in matches)

    @property
    def min_args(self) -> int:
        return sum(1 for p in self.params if not p.optional and not p.variadic)

    @property
    def max_args(self) -> int | None:
        return None if self.params and self.params[-1].variadic else len(self.params)

    @property
    def signature(self) -> str:
        params = ", ".join(str(p) for p in self.params)
        result = f" -> {self.returns}" if isinstance(self.returns, Type) else ""
        return f"{self.name}({params}){result}"

    def param(self, position: int) -> Param:
        return self.params[min(position, len(self.params) - 1)]

    def result_type(self, receiver: Type, args: tuple[Type, ...]) -> Type:
        return self.returns if isinstance(self.returns, Type) else self.returns(receiver, args)


@frozen
class Method(Builtin):
    """A function called on a receiver: `receiver.name(args)`."""

    receiver: Type = ANY
    takes_null: bool = False
    """Whether a null receiver reaches the function; otherwise it makes the call null."""
    iso_text: bool = False
    """A text in ISO form is accepted for a date."""
    safe_for: Kind = NO_KIND
    """Receivers for which the method cannot fail, whatever `fails` says."""
    sql: SqlForm | None = None
    """Its form in the engine; without one it runs in the interpreter."""
    sql_takes_tagged: bool = False
    """Whether the form takes operands of several kinds as tagged texts, instead of being written
    once for each kind."""
    takes_names: bool = False
    """Whether the function is also given `names`, the words in which dates are written."""

    @property
    def is_null_elsewhere(self) -> bool:
        """Whether a receiver of another kind, whose type was not known before, makes the call null
        instead of failing: what maps and arrays offer is asked of whatever JSON brings."""
        return self.family in ("maps", "arrays")

    @property
    def takes_closure(self) -> bool:
        return any(isinstance(p, ClosureParam) for p in self.params)


_EXAMPLE = re.compile(
    r"^>>> (?P<expression>.+?)(?: given (?P<given>\{.*\}))?\n(?P<expected>(?:(?!>>>|\n).+\n?)+)",
    re.MULTILINE,
)

METHODS: dict[str, list[Method]] = {}

_F = TypeVar("_F", bound=Callable[..., Value])


def method(
    name: str,
    receiver: Type,
    returns: Returns,
    *,
    params: Iterable[Param] = (),
    fails: Iterable[FailureKind] = (),
    takes_null: bool = False,
    iso_text: bool = False,
    safe_for: Kind = NO_KIND,
    sql: SqlForm | None = None,
    sql_takes_tagged: bool = False,
    takes_names: bool = False,
) -> Callable[[_F], _F]:
    """Declare the decorated function as the method `name` of values of type `receiver`."""

    def declare(function: _F) -> _F:
        METHODS.setdefault(name, []).append(
            Method(
                name=name,
                family=function.__module__.rpartition(".")[2],
                params=tuple(params),
                returns=returns,
                fails=frozenset(fails),
                call=function,
                receiver=receiver,
                takes_null=takes_null,
                iso_text=iso_text,
                safe_for=safe_for,
                sql=sql,
                sql_takes_tagged=sql_takes_tagged,
                takes_names=takes_names,
            )
        )
        return function

    return declare


def same_as_receiver(receiver: Type, _: tuple[Type, ...]) -> Type:
    """The result type of methods that keep their receiver's type."""
    return receiver
