"""Whatever is typed, every question has an answer."""

from __future__ import annotations

import random

import pytest

from clinker.editing.checking import NO_DIRECTORY
from clinker.editing.desk import Desk
from clinker.editing.kinds import kind_of
from clinker.plan.options import Options
from tests.editing.understanding import SOURCES, Open, understand
from tests.spec.cases import all_cases

TYPED = ("", "\n", "  ", ".", '"', "'", "{", "[", ": ", "$", "- ", "::", "#", "|\n", "\ud83d")
QUESTIONS = ("complete", "hover", "definitions", "references", "renameable")


@pytest.mark.parametrize("seed", range(3))
def test_no_text_is_too_broken_for_an_answer(seed: int) -> None:
    chance = random.Random(seed)
    for case in chance.sample(all_cases(), 12):
        for name, content in case.files.items():
            text, path = content.decode("utf-8-sig", "replace"), case.folder / name
            if kind_of(path, text) is None:
                continue
            desk = Desk(Options(NO_DIRECTORY))
            for _ in range(4):
                sheet = desk.open(path, text)
                for _ in range(2):  # before and after it is understood
                    for question in QUESTIONS:
                        getattr(desk, question)(sheet, chance.randrange(len(text) + 1))
                    desk.format(sheet)
                    desk.outline(sheet)
                    desk.diagnose(sheet)
                at = chance.randrange(len(text) + 1)
                gone = chance.choice((0, 0, 1, 30, len(text)))
                text = text[:at] + chance.choice(TYPED) + text[at + gone :]


LAST = """
  - type: transform
    name: last
    input: orders
    config:
      cxl: |
        let half = amount / 2.0
        emit bad = no_such_field + 1
        emit good = half.round(1)
"""


def test_what_is_right_is_explained_beside_what_is_wrong() -> None:
    opened = Open(SOURCES + LAST.strip("\n") + "\n")
    assert [finding.code for finding in opened.findings] == ["E200"]
    assert "half: Nullable(Float)" in opened.hover("= ha|lf.round")
    assert opened.definition("= ha|lf.round") == ["25:half"]
    assert "amount: Nullable(Float)" in opened.hover("= amou|nt / 2")


def test_an_older_text_answers_until_the_new_one_is_understood() -> None:
    opened = understand(LAST.replace("no_such_field", "id"))
    opened.desk.open(opened.sheet.path, "# first\n" + opened.text.replace("nodes:", "nodes: ["))
    assert opened.definition("= ha|lf.round") == ["26:half"]
    assert opened.hover("no|des: [") == ""
    assert "half" in opened.complete("= ha|lf.round")


def test_a_file_stays_what_it_was_while_it_is_rewritten() -> None:
    opened = understand(LAST.replace("no_such_field", "id"))
    sheet = opened.desk.open(opened.sheet.path, "pipe\n")
    assert [finding.code for finding in opened.desk.diagnose(sheet)] == ["E007"]


def test_what_was_typed_into_a_description_is_no_markdown() -> None:
    text = LAST.replace("no_such_field", "id").replace(
        "    input: orders", "    description: '![x](http://h/i.png) <b>'\n    input: orders"
    )
    told = understand(text).hover("name: la|st")
    assert "![x]" not in told
    assert r"\!\[x\]\(http" in told


def test_a_column_of_two_origins_has_two_definitions() -> None:
    opened = understand(
        """
  - { type: merge, name: both, inputs: [orders, returns] }
  - type: transform
    name: last
    input: both
    config: { cxl: filter amount > 0.0 }
"""
    )
    assert sorted(opened.definition("filter am|ount")) == ["11:amount", "19:amount"]
