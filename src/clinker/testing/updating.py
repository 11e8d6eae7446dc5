"""Expectations rewritten in place: what was found takes their place, all else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinker.config.case import Case
from clinker.config.model import Model
from clinker.config.tree import MappingNode, Node
from clinker.config.writing import flow
from clinker.diagnostics import Span
from clinker.frozen import frozen
from clinker.testing.attempt import Attempt
from clinker.testing.judging import compared_columns, compared_facts, described


@frozen
class Edit:
    """A part of a file, and what is written there instead."""

    span: Span
    text: str


def updates(case: Case, attempt: Attempt) -> list[Edit]:
    """What makes the expectations of a case those that it meets.

    Only what the case says already is rewritten; `ValueError` if that is not enough.
    """
    if attempt.message:
        raise ValueError("a run that ended with an error is nothing to expect")
    expect = case.expect
    edits: list[Edit] = []
    for outlet, expected in expect.records.items():
        columns = compared_columns(expected, attempt, outlet)
        records = [
            {name: record.get(name) for name in columns}
            for record in attempt.views[outlet].records()
        ]
        edits.append(_replace(expect, ("records", outlet), records))
    if expect.rejected is not None:
        facts = compared_facts(expect.rejected)
        entries = [{name: described(entry)[name] for name in facts} for entry in attempt.rejected]
        edits.append(_replace(expect, ("rejected",), entries))
    elif attempt.rejected and expect.exit_code is None:
        raise ValueError("records are rejected: add 'rejected: []' to what is expected")
    if expect.exit_code is not None:
        edits.append(_scalar(expect, int(attempt.exit_code)))
    return edits


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made, which do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _scalar(expect: Model, value: object) -> Edit:
    node = expect.node.entries["exit_code"].value
    return Edit(node.span, flow(value))


def _replace(expect: Model, path: Sequence[str], records: Sequence[Mapping[str, Any]]) -> Edit:
    """Records in place of those below a key, each on a line of its own."""
    holder: Node = expect.node
    for key in path[:-1]:
        assert isinstance(holder, MappingNode)
        holder = holder.entries[key].value
    assert isinstance(holder, MappingNode)
    entry = holder.entries[path[-1]]
    if entry.value.span.start < entry.key.span.start:
        raise ValueError(f"'{path[-1]}' refers to a list elsewhere in the file: write it out")
    span = Span(entry.key.span.end, entry.value.span.end)
    is_inline = holder.source.text[holder.span.start] == "{"
    if is_inline or not records:
        return Edit(span, f": {flow(list(records))}")
    indent = " " * (entry.key.location.start.column + 1)
    lines = "".join(f"\n{indent}- {flow(dict(record))}" for record in records)
    return Edit(span, f":{lines}")
