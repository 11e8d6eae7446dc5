"""The registry of diagnostic codes: one page each, read only when it is asked for.

A page is `pages/<code>.md`. It begins with `# <code> — <title>` and a line `severity · phase`; a
new code needs nothing but its page.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TextIO

from clinker.diagnostics.diagnostic import Severity
from clinker.diagnostics.render import takes_colour
from clinker.diagnostics.suggest import edit_distance
from clinker.frozen import frozen

_HEAD = re.compile(r"# (?P<code>\S+) — (?P<title>.+)\n\n(?P<severity>\w+) · (?P<phase>\w+)\n")
_FAMILY = re.compile(r"([A-Z]+)-?(.*)", re.S)
_LIKE_A_CODE = re.compile(r"(E|W|CXL)-?[0-9]{2,5}[A-Z]?", re.I)
_FAMILIES = ("E", "W", "CXL")
_MOST_SUGGESTIONS = 6


class Phase(enum.StrEnum):
    """When a code is found; only the last two need data or the machine a pipeline runs on."""

    LOAD = "load"
    CHANNEL = "channel"
    COMPILE = "compile"
    START = "start"
    RUN = "run"


@frozen
class Code:
    """What a code stands for."""

    name: str
    title: str
    severity: Severity
    phase: Phase


RETIRED: Mapping[str, str] = {
    "E100": "compositions compile; there is nothing left to say",
    "E105": "a channel value that no composition takes is W103",
    "E106": "nodes of a composition are named after their call, so they cannot clash",
    "E112": "how deep compositions may nest is checked when the pipeline is compiled",
    "E150c": "a window may look up records of any source",
    "E150d": "a window may follow a merge",
    "E152": "an internal check that no pipeline can fail",
    "E170": "a variable that is declared twice is E030",
    "E302": "unused",
    "E307": "an input that names no node is E004",
    "E313": "a join condition that compares no two inputs is E305",
    "W100": "unused",
    "W302": "small inputs are recognized and joined in memory without being asked",
}
"""Codes that older versions printed, and what became of them."""


@cache
def all_codes() -> tuple[str, ...]:
    """Every code that has a page, errors first."""
    names = (entry.name for entry in (files(__package__) / "pages").iterdir())
    return tuple(sorted((n.removesuffix(".md") for n in names if n.endswith(".md")), key=_place))


def page(code: str) -> str | None:
    """The page about a code, in Markdown; the code in any case, spelled as in `all_codes`."""
    known = {name.lower(): name for name in all_codes()}
    name = known.get(code.strip().lower())
    if name is None:
        return None
    return (files(__package__) / "pages" / f"{name}.md").read_text(encoding="utf-8")


def is_code(text: str) -> bool:
    """Whether a text can only be meant as a code, known or not."""
    return _LIKE_A_CODE.fullmatch(text) is not None or page(text) is not None


def describe(code: str) -> Code | None:
    """What the head of a code's page says."""
    text = page(code)
    head = _HEAD.match(text) if text else None
    if head is None:
        return None
    return Code(head["code"], head["title"], Severity(head["severity"]), Phase(head["phase"]))


def closest_codes(code: str) -> list[str]:
    """The codes a user may have meant: another family, or one character wrong."""
    wanted = code.strip().upper()
    if wanted.isdigit():
        padded = wanted.zfill(3)
        return [name for name in all_codes() if name in (f"E{padded}", f"W{padded}")]
    near = [name for name in all_codes() if edit_distance(wanted, name.upper(), 1) <= 1]
    return near[:_MOST_SUGGESTIONS]


def why_retired(code: str) -> str | None:
    """What became of a code that is no longer used; None for any other."""
    for name, why in RETIRED.items():
        if name.lower() == code.strip().lower():
            return f"{name} is no longer used: {why}"
    return None


def why_unknown(code: str) -> str:
    """What to say about a code that has no page."""
    near = closest_codes(code)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"unknown diagnostic code '{code}'{hint}\nknown codes: {', '.join(all_codes())}"


def print_page(text: str, stream: TextIO | None = None) -> None:
    """Write a page to `stream` (standard output by default), laid out when it is a terminal."""
    stream = stream or sys.stdout
    if not takes_colour(stream):
        stream.write(as_plain_text(text))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=stream).print(Markdown(text))


def as_plain_text(text: str) -> str:
    """A page without its Markdown: examples indented, headings bare."""
    return "".join(f"{line}\n" for line in _plain_lines(text))


def _plain_lines(text: str) -> Iterator[str]:
    in_example = False
    for line in text.splitlines():
        if line.startswith("```"):
            in_example = not in_example
        elif in_example:
            yield f"    {line}".rstrip()
        else:
            yield line.lstrip("#").strip() if line.startswith("#") else line


def _place(code: str) -> tuple[int, str]:
    family = _FAMILY.fullmatch(code)
    if family is None or family[1] not in _FAMILIES:
        return len(_FAMILIES), code
    return _FAMILIES.index(family[1]), family[2]
