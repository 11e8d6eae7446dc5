"""Declarative batch ETL on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinker.api import CompileError, Plan, compile

__version__ = "0.1.0"
__all__ = ["CompileError", "Plan", "compile"]


def __getattr__(name: str) -> object:
    """The Python interface, loaded when it is asked for: commands start faster without it."""
    if name in __all__:
        from clinker import api

        return getattr(api, name)
    raise AttributeError(f"module 'clinker' has no attribute '{name}'")
