"""Frozen classes that cost little to define.

A command line is felt by how fast it starts, and defining a frozen dataclass takes a millisecond:
the language alone has a hundred of them. These are dataclasses too, but that nothing assigns to
their fields is left to the type checker, which knows them as frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform, overload

T = TypeVar("T")


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
        return dataclass(eq=eq, unsafe_hash=eq, kw_only=kw_only)(cls)

    return define(cls) if cls else define
