"""YAML text to a located tree."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isnan

import pytest

from clinker.config.interpolate import verbatim
from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode, find, plain
from clinker.config.yaml import MAX_DEPTH, parse_yaml
from clinker.diagnostics import Diagnostic, Source


def parse(text: str) -> tuple[Node | None, list[Diagnostic]]:
    return parse_yaml(verbatim(Source("p.yaml", text)))


def only_problem(text: str) -> tuple[str, str, str]:
    _, (problem,) = parse(text)
    assert problem.primary
    place = problem.primary.location.start
    return problem.code, f"{place.line}:{place.column}", problem.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("No", "No"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("42", 42),
        ("-7", -7),
        ("0o17", 15),
        ("0xFF", 255),
        ("007", 7),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-.inf", -inf),
        ("2024-01-31", "2024-01-31"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("!!float 5", 5),
        ("+", "+"),
        (".", "."),
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    root, problems = parse(f"a: {text}\n")
    assert not problems
    assert root is not None
    found = plain(root)["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number() -> None:
    root, _ = parse("a: .nan")
    assert root is not None
    assert isnan(plain(root)["a"])


def test_every_part_knows_its_place() -> None:
    text = "a:\n  - x: 1\n    y: [2, 'three']\n  - plain # remark\n"
    root, _ = parse(text)
    assert isinstance(root, MappingNode)
    spans = {
        path: text[slice(*node.span)]
        for path in [("a",), ("a", 0), ("a", 0, "y"), ("a", 0, "y", 1), ("a", 1)]
        if (node := find(root, *path))
    }
    assert spans == {
        ("a",): "- x: 1\n    y: [2, 'three']\n  - plain",
        ("a", 0): "x: 1\n    y: [2, 'three']",
        ("a", 0, "y"): "[2, 'three']",
        ("a", 0, "y", 1): "'three'",
        ("a", 1): "plain",
    }
    assert root.entries["a"].key.location.start == (1, 1)
    assert root.source.name == "p.yaml"
    assert find(root, "a", 5) is None
    assert find(root, "a", "x") is None


def test_aliases_stand_for_what_they_name() -> None:
    root, problems = parse("a: &x {k: 1}\nb: *x\nc: &y [1, 2]\nd: [*y, *y]\n")
    assert not problems
    assert root is not None
    assert plain(root) == {
        "a": {"k": 1},
        "b": {"k": 1},
        "c": (1, 2),
        "d": ((1, 2), (1, 2)),
    }
    b = find(root, "b")
    assert b is not None
    assert b.location.start == (1, 7)


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("", "E000", "1:1", "the file is empty"),
        ("# only a remark\n", "E000", "1:1", "the file is empty"),
        ("a: b: c\n", "E000", "1:5", "a ':' is not allowed here"),
        ("a:\n\t- b\n", "E000", "2:1", "a tab cannot be used to indent"),
        ("a: 'open\nb: c\n", "E000", "3:1", "the file ends in the middle of a quoted text"),
        ("a: [1, 2\nb: 3\n", "E000", "2:2", "expected ',' or ']' in this list"),
        ("a:\n  b: 1\n c: 2\n", "E000", "3:2", "this does not line up with what it belongs to"),
        ("a: @b\n", "E000", "1:4", "a value cannot start with '@'"),
        ('a: "\\q"\n', "E000", "1:6", "this escape does not exist in double quotes"),
        ("a: 1\n---\nb: 2\n", "E000", "2:1", None),
        ("a: \x00\n", "E000", "1:4", "the character U+0000 is not allowed in YAML"),
        ("a: !secret x\n", "E000", "1:4", "unknown tag '!secret'"),
        ("a: !!binary aGk=\n", "E000", "1:4", "unknown tag 'tag:yaml.org,2002:binary'"),
        ("a: !!int x\n", "E000", "1:4", None),
        ("a: *nowhere\n", "E000", "1:4", "'*nowhere' refers to nothing above it"),
        ("a: &a [*a]\n", "E000", "1:8", "'*a' refers to the value it is part of"),
        ('a: "\\ud800"\n', "E000", "1:4", "this text escapes half a character"),
        ('a: "\\UFFFFFFFF"\n', "E000", "1:2", "what follows is not YAML"),
        ("a: 1\nb: 2\na: 3\n", "E012", "3:1", "key 'a' appears twice in the same mapping"),
        ("1: x\n", "E013", "1:1", "a key must be a string, found '1'"),
        ("? [a]\n: x\n", "E013", "1:3", "a key must be a string, found a list"),
        ("~: x\n", "E013", "1:1", "a key must be a string, found '~'"),
        ("[" * 300, "E009", "1:257", f"nested more than {MAX_DEPTH} levels deep"),
        (
            "a: &a [1]\n"
            + "".join(f"{n}: &{n} [{f'*{p},' * 9}]\n" for p, n in pairwise("abcdefg")),
            "E009",
            None,
            "more than 40000 values, aliases spelled out",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(
    text: str, code: str, place: str | None, message: str | None
) -> None:
    found = only_problem(text)
    assert found == (code, place or found[1], message or found[2])


def test_problems_in_a_readable_file_are_all_reported() -> None:
    root, problems = parse("a: 1\na: 2\n3: x\nb: {c: 1, c: 2}\n")
    assert isinstance(root, MappingNode)
    assert [p.code for p in problems] == ["E012", "E013", "E012"]
    assert plain(root) == {"a": 1, "b": {"c": 1}}


def test_windows_line_ends() -> None:
    root, problems = parse("a: 1\r\nb: |\r\n  x\r\n  y\r\n")
    assert not problems
    assert root is not None
    assert plain(root) == {"a": 1, "b": "x\ny\n"}


def test_nodes_are_what_they_seem() -> None:
    root, _ = parse("- a\n- [b]\n")
    assert isinstance(root, SequenceNode)
    assert isinstance(root.items[0], ScalarNode)
