"""What is offered where; `|` marks the cursor."""

from __future__ import annotations

import pytest

from clinker.editing.completion import complete
from clinker.editing.kinds import FileKind
from tests.editing.understanding import SOURCES, understand

LAST = """
  - type: transform
    name: last
    input: orders
    config:
      cxl: |
        let half = amount / 2.0
        emit tags = region.split(",")
"""


def offered(kind: FileKind, text: str) -> list[str]:
    at = text.index("|")
    return [s.label for s in complete(kind, text[:at] + text[at + 1 :], at, None)]


@pytest.mark.parametrize(
    ("kind", "text", "first"),
    [
        (FileKind.PIPELINE, "|", ["pipeline", "nodes"]),
        (FileKind.PIPELINE, "pi|", ["pipeline", "nodes"]),
        (FileKind.PIPELINE, "nodes:\n  - |", ["name", "type"]),
        (FileKind.CHANNEL, "|", ["channel"]),
        (FileKind.COMPOSITION, "_compose:\n  |", ["name"]),
        (FileKind.SCHEMA, "fields:\n  - |", ["name"]),
        (FileKind.WORKSPACE, "[storage.spill]\n|", ["dir", "disk_cap_bytes", "compress"]),
        (FileKind.WORKSPACE, "[storage.staging]\nenabled = |", ["true", "false"]),
        (FileKind.WORKSPACE, "[|", ["storage", "storage.spill"]),
    ],
)
def test_keys_come_with_the_required_ones_first(
    kind: FileKind, text: str, first: list[str]
) -> None:
    assert set(first) <= set(offered(kind, text)[: len(first) + 2])


def test_keys_that_are_there_are_not_offered_again() -> None:
    keys = offered(FileKind.PIPELINE, "nodes:\n  - type: merge\n    name: m\n    |\n")
    assert "inputs" in keys
    assert not {"type", "name"} & set(keys)


@pytest.mark.parametrize(
    ("written", "some", "none"),
    [
        ("emit x = half.|", {"round", "abs"}, {"trim", "year"}),
        ("emit x = tags.|", {"length"}, {"round", "trim"}),
        ("emit x = region.trim().|", {"upper"}, {"round"}),
        ("emit x = (1 + 2).|", {"round"}, {"trim"}),
        ("emit x = [1, 2][0].|", {"round", "to_int"}, set()),
        ("emit x = match { half > 1.0 => |", {"half", "amount", "true"}, {"emit"}),
        ("emit x = $pipeline.|", {"name", "start_time"}, {"half"}),
        ("emit x = $source.|", {"file", "row"}, {"half"}),
        ("-- a remark |", set(), {"half"}),
        ('emit x = "half |', set(), {"half"}),
        ("emit x = 'it' + |", {"half"}, set()),
        ("filter |", {"half", "tags", "not"}, {"let"}),
        ("|", {"let", "emit", "half"}, set()),
    ],
)
def test_cxl(written: str, some: set[str], none: set[str]) -> None:
    opened = understand(LAST)
    text = opened.text.replace('(",")\n', f'(",")\n        {written.replace("|", "")}\n')
    opened.desk.open(opened.sheet.path, text)
    labels = opened.complete(f'(",")\n        {written}\n')
    assert some <= labels
    assert not none & labels


def test_inputs_of_a_combine_have_their_columns() -> None:
    opened = understand(
        """
  - type: combine
    name: last
    input: { o: orders, r: returns }
    config:
      where: o.id == r.id
      propagate_ck: driver
      cxl: emit a = o.amount
"""
    )
    assert {"id", "amount"} <= opened.complete("emit a = o.|amount")
    assert {"o", "r"} <= opened.complete("emit a = |o.amount")


def test_a_node_that_is_new_sees_what_reaches_it() -> None:
    opened = understand(LAST)
    node = "  - { type: transform, name: new, input: last, cxl: emit x = am }\n"
    opened.desk.open(opened.sheet.path, opened.text + node)
    assert {"tags", "amount"} <= opened.complete("cxl: emit x = am|")


def test_columns_of_lists() -> None:
    source = SOURCES.replace(
        "correlation_key: region\n      schema:", "correlation_key: \n      schema:"
    )
    at = source.index("correlation_key: ") + len("correlation_key: ")
    labels = [s.label for s in complete(FileKind.PIPELINE, source, at, None)]
    assert labels == ["id", "amount", "region"]
