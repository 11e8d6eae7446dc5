"""Where the cursor is in YAML that is being written; `|` marks it."""

from __future__ import annotations

import pytest

from clinker.config.shorthand import spell_out_pipeline
from clinker.editing.cursor import locate


@pytest.mark.parametrize(
    ("text", "path", "is_key", "before"),
    [
        ("|", (), False, ""),
        ("pi|", (), False, "pi"),
        ("pipeline:\n  name: p\n  |\n", ("pipeline",), True, ""),
        ("pipeline:\n  name: p|\n", ("pipeline", "name"), False, "p"),
        ("nodes:\n  - type: |", ("nodes", 0, "type"), False, ""),
        ("nodes:\n  - type:|", ("nodes", 0, "type"), False, ""),
        ("nodes:\n  - |\n", ("nodes", 0), False, ""),
        ("nodes:\n  - type: x\n    |\n", ("nodes", 0), True, ""),
        ("nodes:\n  - type: x\n    config:\n      |\n", ("nodes", 0, "config"), False, ""),
        ("nodes:\n  - type: x\n    config: { a: 1, b|", ("nodes", 0, "config"), True, "b"),
        ("nodes:\n  - type: x\n    config: { a: |, b: 2 }", ("nodes", 0, "config", "a"), False, ""),
        ("nodes:\n  - type: x\n    keys: [a, |]\n", ("nodes", 0, "keys", 1), False, ""),
        ("nodes:\n  - type: x\n    keys: [a, |\n", ("nodes", 0, "keys", 1), False, ""),
        ("nodes:\n  - type: x\n    name: 'a|\n", ("nodes", 0, "name"), False, "a"),
        (
            "nodes:\n  - keys:\n      - a\n      - b|\n",
            ("nodes", 0, "keys", 1),
            False,
            "b",
        ),
        ("nodes:\n- type: x\n  na|\n", ("nodes", 0), True, "na"),
    ],
)
def test_places(text: str, path: tuple[str | int, ...], is_key: bool, before: str) -> None:
    cursor = locate(text.replace("|", ""), text.index("|"))
    assert cursor is not None
    assert (cursor.path, cursor.is_key, cursor.before) == (path, is_key, before)


def test_what_is_broken_elsewhere_does_not_matter() -> None:
    text = "nodes:\n  - type: [\n  - type: x\n    na|\n  - {{{\nother: ]\n"
    cursor = locate(text.replace("|", ""), text.index("|"))
    assert cursor is not None
    assert cursor.path == ("nodes", 0)
    assert cursor.is_key


def test_abbreviations_are_spelled_out_on_demand() -> None:
    text = "nodes:\n  - { type: aggregate, name: n, input: i, group_by: [|], cxl: emit a = 1 }\n"
    cursor = locate(text.replace("|", ""), text.index("|"))
    assert cursor is not None
    assert cursor.path == ("nodes", 0, "group_by", 0)
    spelled = cursor.spelled(spell_out_pipeline)
    assert spelled is not None
    assert spelled.path == ("nodes", 0, "config", "group_by", 0)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("pi|", True),
        ("nodes:\n  - ty|\n", True),
        ("nodes:\n  - type: x\n    config:\n      p|\n", True),
        ("nodes:\n  - type: x\n    config: p|\n", False),
    ],
)
def test_a_mapping_can_begin_only_where_a_line_does(text: str, begins: bool) -> None:
    cursor = locate(text.replace("|", ""), text.index("|"))
    assert cursor is not None
    assert cursor.begins_line is begins


def test_comments_are_no_place() -> None:
    assert locate("pipeline:\n  # na\n  name: p\n", 16) is None
