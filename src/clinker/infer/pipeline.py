"""What was inferred, as a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from clinker.cxl.failure import printable
from clinker.frozen import frozen
from clinker.infer.evidence import Column
from clinker.infer.guess import Guess

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Texts that some reader of YAML takes for something else."""
_PLACEHOLDER = re.compile(r"\$(?=[{$])")
_ENGINES_OWN = re.compile(r"\$[a-z0-9]")


@frozen(kw_only=True)
class InferredSource:
    """A source as it is proposed."""

    name: str
    path: str
    """As the pipeline file writes it."""
    guess: Guess
    columns: Sequence[Column]
    facts: Sequence[str]
    doubts: Sequence[str]

    @property
    def declared(self) -> Sequence[Column]:
        """The columns that a schema can declare; the others stay in their records without."""
        return [column for column in self.columns if is_declarable(column.name)]


def is_declarable(name: str) -> bool:
    """Whether a schema can declare a column of this name."""
    return bool(name) and not _ENGINES_OWN.match(name)


def pipeline_text(name: str, sources: Sequence[InferredSource], date_formats: Sequence[str]) -> str:
    """A pipeline file with these sources."""
    lines = [
        "# Written by `clinker infer`: each type with what speaks for it in the sample.",
        "pipeline:",
        f"  name: {scalar(name)}",
    ]
    if date_formats:
        lines.append(f"  date_formats: [{', '.join(map(_quoted, date_formats))}]")
    lines.append("nodes:")
    for source in sources:
        lines += _source_lines(source)
    # A placeholder for an environment variable must not come from data.
    return _PLACEHOLDER.sub("$$", "\n".join(lines) + "\n")


def _source_lines(source: InferredSource) -> Iterator[str]:
    yield _comment("  ", f"{source.path}: {'; '.join(source.facts)}")
    yield from (_comment("  ", doubt) for doubt in source.doubts)
    yield "  - type: source"
    yield f"    name: {scalar(source.name)}"
    yield "    config:"
    yield f"      type: {source.guess.format}"
    yield f"      path: {scalar(source.path)}"
    if source.guess.options:
        yield f"      options: {_mapping(source.guess.options)}"
    if source.guess.places:
        yield "      format_schema:"
        yield "        fields:"
        for place in source.guess.places:
            field = {"name": place.name, "start": place.start, "width": place.width}
            yield f"          - {_mapping(field)}"
    yield "      schema:"
    for column in source.columns:
        if column in source.declared:
            entry = _mapping({"name": column.name, "type": column.type})
            yield f"        - {entry}{_comment('  ', _why(column))}"
        else:
            what = f"'{column.name}' is kept for the engine" if column.name else "it has no name"
            yield _comment("        ", f"a column is not declared: {what}")


def _why(column: Column) -> str:
    """What speaks for the type of a column."""
    counted = "1 value" if column.values == 1 else f"{column.values:,} values"
    counts = f"{counted}, {column.empty:,} empty" if column.empty else counted
    why = f"{counts}: {column.evidence}" if column.evidence else counts
    if column.form and column.form.pattern and not column.form.is_iso:
        why += f", written {column.form.pattern}"
    return f"{why}; {column.remark}" if column.remark else why


def _comment(indent: str, text: str) -> str:
    return f"{indent}# {printable(text)}"


def _mapping(entries: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{key}: {_value(value)}" for key, value in entries.items()) + " }"


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            return scalar(str(value))


def scalar(text: str) -> str:
    """A text as YAML, in quotes unless it can be nothing else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    if character == "\t":
        return "\\t"
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
