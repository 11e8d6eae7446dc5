"""Frozen classes that cost little to define.

A command line is felt by how fast it starts, and a frozen dataclass takes more than half a
millisecond to define, nearly all of it for generating and compiling its methods: there are hundreds
of them here. These are dataclasses whose methods are written once, below. That nothing assigns to
their fields is left to the type checker, which knows them as frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Shape(NamedTuple):
    """What the constructor of a class needs to know."""

    positional: tuple[str, ...]
    defaults: dict[str, Any]
    factories: tuple[tuple[str, Callable[[], Any]], ...]
    compared: tuple[str, ...]
    size: int


@overload
def frozen(cls: type[T], /) -> type[T]: ...


@overload
def frozen(*, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[T] | None = None, /, *, eq: bool = True, kw_only: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a dataclass whose instances are never changed."""

    def define(cls: type[T]) -> type[T]:
        # Without a docstring `dataclass` would spend its time on writing one.
        cls.__doc__ = cls.__doc__ or cls.__name__
        methods = {"__init__": _initialize, "__repr__": _shown}
        if eq:
            methods |= {"__eq__": _equal, "__hash__": _hash}
        for name, method in methods.items():
            if vars(cls).get(name) is None:
                setattr(cls, name, method)
        defined: Any = dataclass(init=False, eq=False, repr=False, kw_only=kw_only)(cls)
        defined.__shape__ = _shape(defined)
        return cls

    return define(cls) if cls else define


def _shape(cls: Any) -> _Shape:
    declared = fields(cls)
    return _Shape(
        tuple(f.name for f in declared if not f.kw_only),
        {f.name: f.default for f in declared if f.default is not MISSING},
        tuple((f.name, f.default_factory) for f in declared if f.default_factory is not MISSING),
        tuple(f.name for f in declared if f.compare),
        len(declared),
    )


def _initialize(self: Any, /, *args: Any, **kwargs: Any) -> None:
    shape: _Shape = self.__shape__
    state: dict[str, Any] = self.__dict__
    state.update(shape.defaults)
    for name, factory in shape.factories:
        if name not in kwargs:
            state[name] = factory()
    state.update(zip(shape.positional, args, strict=False))
    state.update(kwargs)
    if len(state) != shape.size or len(args) > len(shape.positional):
        raise TypeError(f"{self.__class__.__name__} takes {[f.name for f in fields(self)]}")


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = self.__shape__.compared
    mine, theirs = self.__dict__, other.__dict__
    return self is other or all(mine[name] == theirs[name] for name in compared)


def _hash(self: Any) -> int:
    return hash((self.__class__, *(self.__dict__[name] for name in self.__shape__.compared)))


def _shown(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"
