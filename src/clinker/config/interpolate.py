"""Environment variables in a text, and the way back from the result to what was written.

`${NAME}` and `${NAME:-default}` are replaced wherever they stand, `$$` becomes `$`. A `$` before
anything else is left alone, so `$vars.limit` and `$pipeline.name` reach CXL as they were written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from clinker.diagnostics import Diagnostic, Label, Source, Span
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen

_PLACEHOLDER = re.compile(r"\$\$|\$\{(?P<body>[^}\n]*)(?P<close>\}?)")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


class Replacement(NamedTuple):
    """A stretch of the resulting text and the placeholder it stands for in the file."""

    result: Span
    written: Span


# Nobody reads more, and each of them costs a look at its whole line.
_MOST_PROBLEMS = 100


@frozen(eq=False)
class Expanded:
    """A text ready to be parsed, which remembers the file it was made from."""

    source: Source
    text: str = field(repr=False)
    replacements: Sequence[Replacement] = ()

    def written(self, span: Span) -> Span:
        """The place in the file behind `span` of the text.

        A span that begins or ends inside a replaced stretch covers the whole placeholder.
        """
        if not self.replacements:
            return span
        start = self._written(span.start, end=False)
        if span.end <= span.start:
            return Span(start, start)
        return Span(start, self._written(span.end, end=True))

    def _written(self, offset: int, end: bool) -> int:
        # An end offset belongs to the character before it.
        character = offset - 1 if end else offset
        index = bisect_right(self.replacements, character, key=lambda r: r.result.start) - 1
        if index < 0:
            return offset
        result, written = self.replacements[index]
        if character < result.end:
            return written.end if end else written.start
        return written.end + offset - result.end


def verbatim(source: Source) -> Expanded:
    """The text of a file that takes no variables."""
    return Expanded(source, source.text)


def interpolate(source: Source, env: Mapping[str, str]) -> tuple[Expanded, list[Diagnostic]]:
    """Put the variables of `env` into the text; what cannot be replaced stays as written."""
    if "$" not in source.text:
        return verbatim(source), []
    pieces: list[str] = []
    replacements: list[Replacement] = []
    problems: list[Diagnostic] = []
    done = length = 0
    for match in _PLACEHOLDER.finditer(source.text):
        value = _value(source, match, env)
        if isinstance(value, Diagnostic):
            problems.append(value)
            if len(problems) == _MOST_PROBLEMS:
                break
            continue
        kept = source.text[done : match.start()]
        length += len(kept)
        replacements.append(
            Replacement(Span(length, length + len(value)), Span(match.start(), match.end()))
        )
        pieces += (kept, value)
        length += len(value)
        done = match.end()
    pieces.append(source.text[done:])
    return Expanded(source, "".join(pieces), replacements), problems


def _value(source: Source, match: re.Match[str], env: Mapping[str, str]) -> str | Diagnostic:
    body = match["body"]
    if body is None:
        return "$"
    name, separator, default = body.partition(":-")
    label = Label(source.at(Span(match.start(), match.end())))
    if not match["close"]:
        return Diagnostic(
            "E008",
            "'${' is never closed on this line",
            label,
            help="write ${NAME} for an environment variable, or $${ for a literal ${",
        )
    if not _NAME.fullmatch(name):
        return Diagnostic(
            "E008",
            f"'{name}' cannot be the name of an environment variable",
            label,
            help="names are upper-case letters, digits and _; write $${ for a literal ${",
        )
    if name in env:
        return env[name]
    if separator:
        return default
    return Diagnostic(
        "E008",
        f"environment variable {name} is not set",
        label,
        help=did_you_mean(name, env) or f"set it, or give a default: ${{{name}:-value}}",
    )
