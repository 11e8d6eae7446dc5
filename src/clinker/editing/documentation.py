"""Markdown for editors: built-ins, and words of the user's, which are no Markdown."""

from __future__ import annotations

import re
from functools import lru_cache

from clinker.cxl.builtins.catalogue import heading
from clinker.cxl.builtins.declare import Builtin

_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$-])")
_TICKS = re.compile(r"`+")


@lru_cache(maxsize=1000)
def document(builtin: Builtin) -> str:
    """The page of a built-in."""
    examples = "\n".join(
        f"{e.expression}{f' given {e.given}' if e.given else ''}\n# {e.expected}"
        for e in builtin.examples
    )
    parts = [fenced(heading(builtin)), builtin.documentation]
    return "\n\n".join([*parts, fenced(examples)] if examples else parts)


def fenced(text: str, language: str = "cxl") -> str:
    """Text as it is, whatever it holds."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(value: object) -> str:
    """A word of the user's, as it is."""
    text = " ".join(str(value).split())
    longest = _longest(text)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"`{text}`"


def plain_text(text: str) -> str:
    """Words of the user's that are no Markdown."""
    return _SIGNS.sub(r"\\\1", text)


def _longest(text: str) -> int:
    """The longest row of backticks in a text."""
    return max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
