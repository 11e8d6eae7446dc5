"""The pipelines of the page about variables do what it says with the files that it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clinker.engine.report.facts import Exit
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.docs.pages import DOCS, Block, blocks_of


@dataclass
class Example:
    """A pipeline, the files it reads and those it writes."""

    pipeline: Block
    files: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.pipeline)


def examples() -> list[Example]:
    """The pipelines of the page that are followed by results."""
    found: list[Example] = []
    for block in blocks_of(DOCS / "pipelines" / "variables.md"):
        if block.flags == ("pipeline",):
            found.append(Example(block))
        elif block.flags in (("file",), ("result",)):
            name, _, text = block.text.partition("\n")
            shown = found[-1].files if block.flags == ("file",) else found[-1].results
            shown[name.removeprefix("# ")] = text
    return [example for example in found if example.results]


@pytest.mark.parametrize("example", examples(), ids=str)
def test_a_pipeline_writes_what_the_page_shows(
    example: Example, session: Session, tmp_path: Path
) -> None:
    for name, text in example.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    compiled = compile_pipeline(example.pipeline.text.encode(), "p.yaml", Options(tmp_path))
    assert compiled.plan
    assert run_in(compiled.plan, session, Quiet()).exit_code in (Exit.OK, Exit.DEAD_LETTERS)
    assert {name: (tmp_path / name).read_text() for name in example.results} == example.results
