"""Declarative batch ETL on Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinker.api import CompileError, Plan, compile
    from clinker.diagnostics import Diagnostic
    from clinker.engine.report.facts import RunError, RunReport

__version__ = "0.1.0"
__all__ = ["CompileError", "Diagnostic", "Plan", "RunError", "RunReport", "compile"]

_HOMES = {
    "CompileError": "clinker.api",
    "Diagnostic": "clinker.diagnostics",
    "Plan": "clinker.api",
    "RunError": "clinker.engine.report.facts",
    "RunReport": "clinker.engine.report.facts",
    "compile": "clinker.api",
}


def __getattr__(name: str) -> object:
    """The Python interface, loaded when it is asked for: commands start faster without it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'clinker' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
