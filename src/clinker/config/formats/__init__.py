"""The formats that users may name: their options and traits, imported when one is used.

base            what there is to know of a format
<name>          one format: the options of sources and outputs, and its traits as `FORMAT`
interchange     what EDIFACT and X12 share
encoding        encodings of text
by_format       settings of a node, validated by the format that they name
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinker.config.formats.base import FormatOptions

_NAMES = ("csv", "json", "xml", "fixed_width", "edifact", "x12", "parquet")

FORMATS: dict[str, str] = {name: f"{__name__}.{name}" for name in _NAMES}
"""The module of each format by the name that users write."""


def register(name: str, module: str) -> None:
    """Add a format that is declared elsewhere."""
    FORMATS[name] = module


def format_named(name: str) -> FormatOptions:
    """The format that users call so; KeyError if there is none."""
    return _load(FORMATS[name])


@cache
def _load(module: str) -> FormatOptions:
    format: FormatOptions = import_module(module).FORMAT
    return format
