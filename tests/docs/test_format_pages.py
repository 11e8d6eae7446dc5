"""The pages about formats are true: their example is run, and gives the files that they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.docs.pages import DOCS, blocks_of

PAGES = [DOCS / "formats" / "fixed-width.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_gives_what_the_page_shows(
    page: Path, session: Session, tmp_path: Path
) -> None:
    (pipeline,) = (b.text for b in blocks_of(page) if b.flags == ("pipeline",))
    given, shown = (b for b in blocks_of(page) if b.option("file"))
    (tmp_path / str(given.option("file"))).write_text(given.text)
    compiled = compile_pipeline(pipeline.encode(), "pipeline.yaml", Options(tmp_path))
    assert compiled.plan and not compiled.diagnostics
    assert run_in(compiled.plan, session, Quiet()).exit_code == 0
    assert (tmp_path / str(shown.option("file"))).read_text() == shown.text
