"""The pages about formats are true: their pipelines write what they say.

Blocks `text file=…` are the files that the `yaml pipeline` of a page finds, and `text written=…`
what it writes. A comment `<!-- keys: Model -->` before a table says that the table names every key
of the model.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clinker.config.formats.interchange import EdiReading
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.docs.pages import DOCS, blocks_of

PAGES = [DOCS / "formats" / f"{name}.md" for name in ("edifact", "x12")]
_KEYS = re.compile(r"^<!-- keys: EdiReading -->\n\n(?P<table>(?:\|.*\n)+)", re.M)
_KEY = re.compile(r"^\| `(\w+)`", re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_pipeline_writes_what_the_page_says(
    page: Path, session: Session, tmp_path: Path
) -> None:
    expected = {}
    for block in blocks_of(page):
        if name := block.option("file"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
        elif name := block.option("written"):
            expected[name] = block.text
        else:
            assert (block.language, block.flags) == ("yaml", ("pipeline",))
            pipeline = block.text.encode()
    compiled = compile_pipeline(pipeline, "pipeline.yaml", Options(base_dir=tmp_path))
    assert compiled.plan
    assert not compiled.diagnostics
    run_in(compiled.plan, session, Quiet())
    assert expected
    assert {name: (tmp_path / name).read_text() for name in expected} == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_table_of_options_is_complete(page: Path) -> None:
    found = _KEYS.search(page.read_text())
    assert found
    assert _KEY.findall(found["table"]) == list(EdiReading.model_fields)
