"""CXL inside YAML takes its canonical form, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.config.interpolate import verbatim
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Source
from clinker.editing.formatting import _meaning, apply, format_source
from clinker.editing.kinds import FileKind, kind_of
from tests.spec.cases import all_cases

EXAMPLES = Path(__file__).parents[2] / "examples"
PIPELINES = Path(__file__).parents[2] / "src" / "clinker" / "examples"


def formatted(text: str, kind: FileKind = FileKind.PIPELINE) -> str:
    result = format_source(Source("p.yaml", text), kind)
    assert not result.problems
    return apply(text, result.edits)


def node(cxl: str) -> str:
    return f"nodes:\n  - type: transform\n    name: t\n    input: s\n    config:\n{cxl}"


KEPT = """\
# keep   this
pipeline: {name: "x"}   # and   this
nodes:
  - type: route
    'name':   r
    config:
      conditions:
        %s
      default:   "rest"


error_handling: { strategy:   continue }
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("big: a>10", "big: a > 10"),
        ("big:   'a==\"it''s\"'", "big:   'a == \"it''s\"'"),
        (r'big: "a<5 or b==\"q\""  # why', r'big: "a < 5 or b == \"q\""  # why'),
        ("big: a > 10", "big: a > 10"),
        ("😀: a>10", "😀: a > 10"),
    ],
)
def test_conditions_keep_their_quotes(written: str, expected: str) -> None:
    assert formatted(KEPT % written) == KEPT % expected


def test_a_block_keeps_its_header_its_indentation_and_what_follows() -> None:
    written = node(
        "      cxl: |-   # note\n           emit   d=a*2\n           -- hi\n\n\n\n# end\n"
    )
    expected = node(
        "      cxl: |-   # note\n           emit d = a * 2\n           -- hi\n\n\n\n# end\n"
    )
    assert formatted(written) == expected


def test_line_ends_stay_as_they_are() -> None:
    written = node("      cxl: |\n        emit d=1\n        emit e=2\n").replace("\n", "\r\n")
    assert formatted(written) == written.replace("d=1", "d = 1").replace("e=2", "e = 2")


@pytest.mark.parametrize(
    "cxl",
    [
        "      cxl: >\n        emit d=1\n        emit e=2\n",
        '      cxl: "filter a>1 emit b=2"\n',
        "      cxl: emit d='${WHO}'\n",
        "      cxl: emit d = a[\n        0]\n",
    ],
    ids=["folded", "two statements on a line", "of the environment", "over two lines"],
)
def test_what_the_style_cannot_hold_is_left_alone(cxl: str) -> None:
    assert formatted(node(cxl)) == node(cxl)


def test_a_plain_text_that_would_need_quotes_is_left_alone() -> None:
    # `{"a": 1}` inside braces is fine without the blank; with it YAML would see a mapping.
    text = "nodes:\n  - {type: transform, name: t, input: s, cxl: emit d=a}\n"
    assert formatted(text) == text.replace("d=a", "d = a")
    text = 'nodes:\n  - type: transform\n    name: t\n    input: s\n    cxl: emit d={"a":1}\n'
    assert formatted(text) == text


def test_an_alias_is_formatted_where_it_is_written() -> None:
    text = (
        "nodes:\n  - { type: transform, name: t, input: s, cxl: &c 'emit a=1' }\n"
        "  - { type: transform, name: u, input: t, cxl: *c }\n"
    )
    assert formatted(text) == text.replace("a=1", "a = 1")


def test_problems_of_cxl_are_told_where_they_stand() -> None:
    text = node("      cxl: |\n        emit d=\n")
    result = format_source(Source("p.yaml", text), FileKind.PIPELINE)
    assert not result.edits
    (problem,) = result.problems
    assert problem.primary is not None
    assert problem.primary.location.start.line == 7


def _all_texts() -> list[tuple[str, FileKind, str]]:
    texts = [
        (f"{case.name}/{name}", content.decode("utf-8-sig"))
        for case in all_cases()
        for name, content in case.files.items()
        if name.endswith((".yaml", ".cxl"))
    ]
    files = [*PIPELINES.rglob("*.yaml"), *EXAMPLES.rglob("*.cxl")]
    texts += [(str(file), file.read_text(encoding="utf-8")) for file in files]
    kinds = ((name, kind_of(Path(name), text), text) for name, text in texts)
    return [(name, kind, text) for name, kind, text in kinds if kind]


def test_all_pipelines_that_there_are_mean_the_same_afterwards() -> None:
    changed = 0
    for name, kind, text in _all_texts():
        result = format_source(Source(name, text), kind)
        again = apply(text, result.edits)
        assert not format_source(Source(name, again), kind).edits, name
        if kind is not FileKind.PROGRAM and result.edits:
            before, _ = parse_yaml(verbatim(Source(name, text)))
            after, _ = parse_yaml(verbatim(Source(name, again)))
            assert before is not None
            assert after is not None
            assert _meaning(before) == _meaning(after), name
        changed += bool(result.edits)
    assert changed > 10
