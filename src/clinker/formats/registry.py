"""Which formats there are: names, and the modules that are imported when one is used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from clinker.formats.format import Format

AnyFormat: TypeAlias = "Format[Any, Any]"

FORMATS: dict[str, str] = {
    file.parent.name: f"{__package__}.{file.parent.name}.format"
    for file in sorted(Path(__file__).parent.glob("*/format.py"))
}
"""The module of each format by the name that users write: a folder here, or registered."""


def register(name: str, module: str) -> None:
    """Add a format that lives elsewhere, in a module that workers can import too."""
    FORMATS[name] = module


def format_named(name: str) -> AnyFormat:
    """The format that users call so; KeyError if there is none."""
    return load_format(FORMATS[name])


@cache
def load_format(module: str) -> AnyFormat:
    """The format that a module exports as `FORMAT`."""
    format: AnyFormat = import_module(module).FORMAT
    return format
