"""Pipelines that were damaged: compiling them gives diagnostics and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from tests.spec.cases import Case, all_cases

from clinker.diagnostics.render import render_text
from clinker.engine.report.explain import explain
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from fuzz.findings import Finding, Kind, Tally, Wrong, dice, judged, smallest

AREA = "pipelines"
_SCALARS = (
    *(
        "",
        "~",
        "null",
        "true",
        "-1",
        "0",
        "1e999",
        "99999999999999999999",
        "0x1F",
        ".nan",
        "'",
        '"',
    ),
    *(
        "[]",
        "{}",
        "[[[[",
        "}}",
        "&a [*a]",
        "*missing",
        "!!python/object x",
        "|",
        ">-",
        "? :",
        "%YAML",
    ),
    *("${HOME}", "${X:-y}", "${", "$$", "$pos", "`$1`", "../../etc", "/abs", "a\\\\b", '"\\u0000"'),
    *('"\\ud800"', '"\\U0010ffff"', "\u2028", "\ufeff", "𝄞", "9" * 400, "x" * 3000, "2024-02-30"),
    *("emit x = ", "emit x = 1 / 0", "emit x = x.x.x", "filter null", "emit each", "$window.lag()"),
)
Damage = Callable[[random.Random, str], str]


def play(seed: int, rounds: range, tally: Tally) -> None:
    for number in rounds:
        case, content = made(dice(seed, AREA, number))
        tally.tried[AREA] += 1
        if wrong := _wrong(case.folder, content):
            lines = _smallest(case.folder, content, wrong.kind)
            shown = f"{case.name}:\n{lines.decode(errors='backslashreplace')}"
            tally.findings.append(Finding(AREA, number, wrong.kind, wrong.detail, shown))


def _wrong(folder: Path, content: bytes) -> Wrong | None:
    return judged(lambda: check(folder, content))


def _smallest(folder: Path, content: bytes, kind: Kind) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(smallest(lines, kind, lambda part: _wrong(folder, b"".join(part))))


def check(folder: Path, content: bytes) -> None:
    compiled = compile_pipeline(content, "pipeline.yaml", Options(base_dir=folder))
    shown = render_text(compiled.diagnostics)
    if compiled.plan is None:
        if not any(found.is_error for found in compiled.diagnostics):
            raise Wrong(Kind.DIFFERENT, f"there is no plan, and nobody says why: {shown}")
        return
    for form in ("text", "json", "dot", "sql"):
        explain(compiled.plan, form)


# Damaging pipelines


@cache
def _pipelines() -> Sequence[tuple[Case, str]]:
    return [(case, case.pipeline.decode()) for case in all_cases()]


def made(chance: random.Random) -> tuple[Case, bytes]:
    """A case of the user guide, and its pipeline damaged."""
    case, text = chance.choice(_pipelines())
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(_DAMAGES)(chance, text) or " "
    content = text.encode(errors="replace")
    if chance.random() < 0.05:
        at = chance.randrange(len(content))
        content = content[:at] + bytes([chance.randint(0, 255)]) + content[at:]
    return case, content


def _without_lines(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return "".join([*lines[:at], *lines[at + chance.randint(1, 3) :]])


def _other_indentation(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(["  ", "\t", "", "      "]) + lines[at].lstrip(" ")
    return "".join(lines)


def _other_value(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    key, colon, _ = lines[at].partition(":")
    lines[at] = f"{key}{colon} {chance.choice(_SCALARS)}\n"
    return "".join(lines)


def _other_key(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    _, colon, value = lines[at].partition(":")
    _, other = chance.choice(_pipelines())
    key, _, _ = chance.choice(other.splitlines()).partition(":")
    lines[at] = f"{key}{colon}{value}"
    return "".join(lines)


def _foreign_part(chance: random.Random, text: str) -> str:
    _, other = chance.choice(_pipelines())
    theirs = other.splitlines(keepends=True)
    begin = chance.randrange(len(theirs))
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return "".join([*lines[:at], *theirs[begin : begin + chance.randint(1, 8)], *lines[at:]])


def _cut_off(chance: random.Random, text: str) -> str:
    return text[: chance.randrange(len(text))]


def _sprinkled(chance: random.Random, text: str) -> str:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(["{", "]", ":", "- ", "#", "'", "\x01", *_SCALARS]) + text[at:]


_DAMAGES: tuple[Damage, ...] = (
    _without_lines,
    _other_indentation,
    _other_value,
    _other_value,
    _other_key,
    _foreign_part,
    _cut_off,
    _sprinkled,
)
