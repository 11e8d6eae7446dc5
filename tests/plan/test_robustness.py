"""Whatever is done to a pipeline, the answer is a list of diagnostics."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.explain import explain
from clinker.plan.options import Options
from tests.spec.cases import all_cases

HERE = Path(__file__).parent
WORDS = "source transform output csv int name input config cxl emit filter null ~ [] {} *a &a !!x"

Damage = Callable[[random.Random, str], str]


def drop_lines(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(1, 3)):
        del lines[chance.randrange(len(lines))]
        if not lines:
            break
    return "".join(lines)


def swap_words(chance: random.Random, text: str) -> str:
    words = text.split(" ")
    for _ in range(chance.randint(1, 4)):
        words[chance.randrange(len(words))] = chance.choice(WORDS.split())
    return " ".join(words)


def shift_indentation(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(["  ", "\t", ""]) + lines[at].lstrip(" ")
    return "".join(lines)


def repeat_part(chance: random.Random, text: str) -> str:
    start, stop = sorted(chance.randrange(len(text)) for _ in range(2))
    return text[:stop] + text[start:stop] + text[stop:]


def cut_off(chance: random.Random, text: str) -> str:
    return text[: chance.randrange(len(text))]


def sprinkle(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(text))
        text = (
            text[:at]
            + chance.choice("\x00\ufeff\x85\u2028:{}[],&*#?|>-'\"%@`$\n\t é😀")
            + text[at:]
        )
    return text


DAMAGES: list[Damage] = [
    drop_lines,
    swap_words,
    shift_indentation,
    repeat_part,
    cut_off,
    sprinkle,
]


def compiled(content: bytes, folder: Path) -> Compiled:
    found = compile_pipeline(content, "pipeline.yaml", Options(folder))
    assert (found.plan is None) == any(d.is_error for d in found.diagnostics)
    places = [d.primary.location for d in found.diagnostics if d.primary]
    for place in places:
        assert place.start.line >= 1
    here = [p.span.start for p in places if p.source.name == "pipeline.yaml"]
    assert here == sorted(here)
    return found


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
def test_damaged_pipelines_are_answered(damage: Damage) -> None:
    chance = random.Random(damage.__name__)
    for case in chance.sample(all_cases(), 60):
        text = damage(chance, case.pipeline.decode())
        found = compiled(text.encode("utf-8", "surrogatepass"), case.folder)
        if found.plan:
            for form in ("text", "json", "dot"):
                assert explain(found.plan, form)


@settings(
    max_examples=100,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_anything_is_answered(content: bytes) -> None:
    assert compiled(content, HERE).plan is None


@pytest.mark.parametrize(
    "bomb",
    [
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]"
            for n in range(9)
        ),
        "[" * 100_000,
        "a: " * 50_000,
        "nodes:\n" + "  - {}\n" * 100_001,
        "pipeline: { name: x }\nnodes: &n [*n]\n",
        "? " * 20_000,
    ],
    ids=["aliases", "brackets", "colons", "entries", "circle", "questions"],
)
def test_bombs_are_defused(bomb: str) -> None:
    assert compiled(bomb.encode(), HERE).plan is None


def test_damaged_companion_files_are_answered(tmp_path: Path) -> None:
    chance = random.Random(7)
    composed = [c for c in all_cases() if any(name.endswith(".comp.yaml") for name in c.files)]
    for case in composed[:20]:
        folder = tmp_path / case.name
        case.unpack(folder)
        for companion in [*folder.rglob("*.comp.yaml"), *folder.rglob("*.channel.yaml")]:
            text = chance.choice(DAMAGES)(chance, companion.read_text(encoding="utf-8"))
            companion.write_text(text, encoding="utf-8", newline="")
        channel = next(iter(folder.rglob("*.channel.yaml")), None)
        options = Options(folder, channel=channel)
        content = (folder / "pipeline.yaml").read_bytes()
        compile_pipeline(content, str(folder / "pipeline.yaml"), options)


@pytest.mark.parametrize(
    ("name", "code"), [("c.comp.yaml", "E103"), ("shared", "E200"), ("rules", "E200")]
)
def test_names_that_are_too_long_for_the_disk(tmp_path: Path, name: str, code: str) -> None:
    text = """\
pipeline: { rules_path: rules , name: p }
nodes:
  - type: source
    name: s
    config: { type: csv, path: s.csv, schema: [{ name: id, type: int }] }
  - { type: composition, name: c, input: s, use: c.comp.yaml }
  - { type: transform, name: t, input: s, config: { cxl: "use shared as r\\nemit a = r::b" } }
  - { type: output, name: o, input: s, config: { type: csv, path: o.csv } }
"""
    content = text.replace(f" {name} ", f" {'x' * 300}{name} ").encode()
    found = compile_pipeline(content, "pipeline.yaml", Options(tmp_path)).diagnostics
    assert code in [d.code for d in found]
