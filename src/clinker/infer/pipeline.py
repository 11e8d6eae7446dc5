"""What was inferred, as a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clinker.config.writing import flow, quoted, scalar
from clinker.cxl.failure import printable
from clinker.frozen import frozen
from clinker.infer.evidence import Column
from clinker.infer.guess import Guess

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
    drops_others: bool = False
    """Whether it has columns that cannot be read, and are not if nothing declares them."""

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
        lines.append(f"  date_formats: [{', '.join(map(quoted, date_formats))}]")
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
        yield f"      options: {flow(source.guess.options)}"
    if source.guess.places:
        yield "      format_schema:"
        yield "        fields:"
        for place in source.guess.places:
            field = {"name": place.name, "start": place.start, "width": place.width}
            yield f"          - {flow(field)}"
    if source.drops_others:
        yield "      on_unmapped: drop"
    yield "      schema:"
    for column in source.columns:
        if column in source.declared:
            entry = flow({"name": column.name, "type": column.type})
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
