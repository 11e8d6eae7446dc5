"""Positions inside texts, such as CXL blocks, in every style YAML has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.config.interpolate import interpolate, verbatim
from clinker.config.tree import ScalarNode, find
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import EmbeddedSource, Source, Span


def embedded(text: str, *path: str | int, env: dict[str, str] | None = None) -> EmbeddedSource:
    source = Source("p.yaml", text)
    expanded = interpolate(source, env)[0] if env else verbatim(source)
    root, problems = parse_yaml(expanded)
    assert root is not None, problems
    node = find(root, *path)
    assert isinstance(node, ScalarNode)
    return node.embedded()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cxl: emit a = b\n", "emit a = b"),
        ("cxl: 'emit a = ''b'''\n", "emit a = 'b'"),
        ('cxl: "emit a = \\"b\\""\n', 'emit a = "b"'),
        ('cxl: "tab\\tnl\\n\\u00e9\\x41 b"\n', "tab\tnl\né\x41 b"),
        ('cxl: "one \\\n  two"\n', "one two"),
        ('cxl: "one\n  two\n\n  b"\n', "one two\nb"),
        ("cxl: 'one\n  two\n\n\n  b'\n", "one two\n\nb"),
        ("cxl: one\n  two\n\n  b\n", "one two\nb"),
        ("cxl: |\n  emit a\n  emit b\n", "emit a\nemit b\n"),
        ("cxl: |-\n    emit a\n      more\n    b\n", "emit a\n  more\nb"),
        ("cxl: |+  # remark\n  a\n\n  b\n\n\n", "a\n\nb\n\n\n"),
        ("cxl: |\n\n\n  a\n  b\n", "\n\na\nb\n"),
        ("x:\n  cxl: |2\n      a\n    b\n", "  a\nb\n"),
        ("cxl: |\r\n  a\r\n  b\r\n", "a\nb\n"),
        ("cxl: >\n  one\n  two\n\n  three\n    more\n\n  b\n", "one two\nthree\n  more\n\nb\n"),
        ("cxl: >-\n  one\n\n\n  two\n", "one\n\ntwo"),
        ("cxl: >1\n  one\n two\n b\n", " one\ntwo b\n"),
        ("cxl: !!str emit b\n", "emit b"),
        ("cxl: &anchor 'emit b'\n", "emit b"),
        ("{cxl: [x, emit b]}\n", "emit b"),
    ],
)
def test_every_character_is_found_again(text: str, value: str) -> None:
    path: tuple[str | int, ...] = ("cxl",)
    if text.startswith("x:"):
        path = ("x", "cxl")
    elif text.startswith("{"):
        path = ("cxl", 1)
    block = embedded(text, *path)
    assert block.text == value
    assert len(block.offsets) == len(value) + 1
    assert list(block.offsets) == sorted(block.offsets)
    for index, character in enumerate(value):
        written = text[block.offsets[index]]
        if character in " \n":
            assert written in ' \n\r\\"', (index, character, written)
        else:
            assert written == character or written in "\\'", (index, character, written)


def test_the_end_of_the_text_is_the_end_of_the_scalar() -> None:
    for text in ("cxl: abc\n", "cxl: 'abc'\n", "cxl: |\n  abc\n", "cxl: >-\n  abc\n"):
        block = embedded(text, "cxl")
        assert text[: block.offsets[-1]].endswith(("abc", "abc\n")), text


def test_a_span_in_a_block_points_into_the_file() -> None:
    text = "nodes:\n  - cxl: |\n      emit a = 1\n      emit total = nope\n"
    block = embedded(text, "nodes", 0, "cxl")
    start = block.text.index("nope")
    location = block.at(Span(start, start + 4))
    assert location.start == (4, 20)
    assert location.end == (4, 24)
    assert location.source.text is text


def test_positions_after_a_variable_are_those_of_the_file() -> None:
    text = "cxl: |\n  emit a = ${PREFIX}_x + $$y\n  emit b = nope\n"
    block = embedded(text, "cxl", env={"PREFIX": "a_rather_long_name"})
    assert block.text == "emit a = a_rather_long_name_x + $y\nemit b = nope\n"
    start = block.text.index("nope")
    assert block.at(Span(start, start + 4)).start == (3, 12)
    inside = block.text.index("rather")
    assert block.at(Span(inside, inside + 6)).start == (2, 12)
    dollar = block.text.index("$y")
    assert text[block.offsets[dollar]] == "$"
    assert text[block.offsets[dollar + 1]] == "y"


LINES = st.lists(st.text(st.sampled_from("ab'\"\\ :#é\t"), max_size=8), min_size=1, max_size=6)


@given(LINES, st.sampled_from(["|", "|-", "|+", ">", ">-", ">+"]), st.integers(1, 4))
def test_any_block_scalar(lines: list[str], header: str, indent: int) -> None:
    body = "\n".join(" " * indent + line for line in lines)
    text = f"k: {header}{indent}\n{body}\nz: 1\n"
    block = embedded(text, "k")
    for index, character in enumerate(block.text):
        written = text[block.offsets[index]]
        assert written == character or (character in " \n" and written == "\n")


@given(st.text(st.sampled_from("ab'\"\\ \n:#é\t"), max_size=20))
def test_any_double_quoted_scalar(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    quoted = quoted.replace("\t", "\\t")
    text = f'k: "{quoted}"\n'
    block = embedded(text, "k")
    assert block.text == value
    for index, character in enumerate(value):
        written = text[block.offsets[index]]
        assert written == character or written == "\\"


@given(st.text(st.sampled_from("ab'\" :#é"), max_size=20))
def test_any_single_quoted_scalar(value: str) -> None:
    text = "k: '" + value.replace("'", "''") + "'\n"
    block = embedded(text, "k")
    assert block.text == value
    assert [text[offset] for offset in block.offsets[:-1]] == list(value)
