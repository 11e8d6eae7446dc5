"""The canonical text of CXL, in files of its own and inside YAML.

Inside YAML only the CXL changes: the style of its scalar, its indentation and all that stands
around it stay as they are. What its style cannot hold is left alone: several lines where one was
written, and texts in folded style (`>`), whose lines mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from clinker.config.interpolate import verbatim
from clinker.config.shorthand import spell_out_composition, spell_out_pipeline
from clinker.config.tree import Node, plain
from clinker.config.yaml import parse_yaml
from clinker.cxl.syntax.format import format_expression, format_program
from clinker.cxl.syntax.lexer import tokenize
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.diagnostics import Diagnostic, Source, Span
from clinker.editing.blocks import Block, find_blocks
from clinker.editing.kinds import FileKind
from clinker.frozen import frozen

FORMATTED = (FileKind.PIPELINE, FileKind.COMPOSITION, FileKind.PROGRAM)
"""The kinds of files that hold CXL."""


@frozen
class Edit:
    """A stretch of a text and what it is replaced by."""

    span: Span
    text: str


@frozen
class Formatted:
    """How a text becomes canonical, unless something in it cannot be read."""

    edits: Sequence[Edit]
    problems: Sequence[Diagnostic] = ()


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def format_source(source: Source, kind: FileKind, tree: Node | None = None) -> Formatted:
    """The edits that bring the CXL of a file into its canonical form.

    `tree` is the text as it was parsed, if somebody has done that.
    """
    if kind is FileKind.PROGRAM:
        return _format_program(source)
    if kind not in FORMATTED:
        return Formatted(())
    # Formatting does not depend on the environment, so its variables are not filled in.
    problems: list[Diagnostic] = []
    if tree is None:
        tree, problems = parse_yaml(verbatim(source))
    if tree is None:
        return Formatted((), problems)
    spell_out = spell_out_pipeline if kind is FileKind.PIPELINE else spell_out_composition
    edits: dict[Span, Edit] = {}  # an alias shows the same text in several places
    for block in find_blocks(spell_out(tree)):
        if "${" in str(block.scalar.value):
            continue
        edit, findings = _format_block(source, block)
        problems += findings
        if edit:
            edits[edit.span] = edit
    if problems:
        return Formatted((), problems)
    return Formatted(_safe(source, list(edits.values())))


def _format_program(source: Source) -> Formatted:
    parsed = parse(source)
    if parsed.diagnostics:
        return Formatted((), parsed.diagnostics)
    text = format_program(parsed)
    if text == source.text:
        return Formatted(())
    return Formatted([Edit(Span(0, len(source.text)), text)])


def _format_block(source: Source, block: Block) -> tuple[Edit | None, list[Diagnostic]]:
    scalar = block.scalar
    raw = source.text[scalar.span.start : scalar.span.end]
    embedded = scalar.embedded()
    if block.is_program:
        text = _canonical(embedded.text)
        if text is None:
            return None, parse(embedded).diagnostics
    else:
        expression = parse_expression(embedded)
        if expression.expression is None:
            return None, expression.diagnostics
        if "\n" in embedded.text.strip() or tokenize(embedded).comments:
            return None, []
        text = format_expression(expression.expression) + "\n"
    written = _in_style(raw, scalar.style, text) if text.strip() else None
    if written is None or written == raw:
        return None, []
    return Edit(scalar.span, written), []


@lru_cache(maxsize=1000)
def _canonical(text: str) -> str | None:
    """The canonical text of a program; None if it does not parse."""
    parsed = parse(Source("", text))
    return None if parsed.diagnostics else format_program(parsed)


def _in_style(raw: str, style: str, text: str) -> str | None:
    """A text of whole lines in the style and indentation of a scalar; None if it does not fit."""
    if style == "|":
        return _as_block(raw, text)
    line = text.removesuffix("\n")
    if "\n" in line or "\n" in raw or style == ">":
        return None
    match style:
        case "'":
            return "'" + line.replace("'", "''") + "'"
        case '"':
            escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
            return f'"{escaped}"' if line.isprintable() or "\t" in line else None
        case _:
            return line


def _as_block(raw: str, text: str) -> str:
    header, newline, body = raw.partition("\n")
    first = next((line for line in body.split("\n") if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    end = "\r\n" if header.endswith("\r") else "\n"
    lines = (indent + line if line else "" for line in text.removesuffix("\n").split("\n"))
    return header + newline + end.join(lines)


def _safe(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """The edits after which the file still says the same.

    A plain text may need quotes once blanks or brackets in it have changed, which depends on what
    stands around it.
    """
    if not edits:
        return []
    before, _ = parse_yaml(verbatim(source))
    return list(_keeping(source, before and _meaning(before), edits))


def _keeping(source: Source, meaning: object, edits: Sequence[Edit]) -> Iterator[Edit]:
    after, _ = parse_yaml(verbatim(Source(source.name, apply(source.text, edits))))
    if after is not None and _meaning(after) == meaning:
        yield from edits
    elif len(edits) > 1:
        middle = len(edits) // 2
        yield from _keeping(source, meaning, edits[:middle])
        yield from _keeping(source, meaning, edits[middle:])


def _meaning(tree: Node) -> object:
    """What a file says, its CXL as syntax trees."""
    return _parsed(plain(tree))


def _parsed(value: object, key: str = "") -> object:
    if isinstance(value, dict):
        return {k: _parsed(v, k) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_parsed(item, key) for item in value)
    if not isinstance(value, str):
        return type(value), value
    source = Source("", value)
    if key == "cxl" and not (program := parse(source)).diagnostics:
        return program.program
    expression = parse_expression(source)
    return value if expression.expression is None else expression.expression
