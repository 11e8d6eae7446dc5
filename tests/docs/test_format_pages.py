"""The pages about formats and the recipes are true: their pipelines write what they say.

Blocks `text file=…` are the files that every `yaml pipeline` of a page finds, and `text written=…`
what they write. A comment `<!-- keys: Model -->` before a table says that the table names every key
of the model.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clinker.config.formats import format_named
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options
from tests.docs.pages import DOCS, blocks_of

NAMES = ("csv", "edifact", "fixed-width", "json", "parquet", "x12", "xml")
PAGES = [DOCS / "formats" / f"{name}.md" for name in NAMES]
RECIPES = [*(DOCS / "recipes").glob("*.md"), DOCS / "pipelines" / "undeclared-columns.md"]
_KEYS = re.compile(r"^<!-- keys: (?P<models>[\w ]+) -->\n\n(?P<table>(?:\|.*\n)+)", re.M)
_KEY = re.compile(r"^\| `(\w+)`", re.M)


@pytest.mark.parametrize("page", [*PAGES, *sorted(RECIPES)], ids=lambda page: page.stem)
def test_the_pipeline_writes_what_the_page_says(
    page: Path, session: Session, tmp_path: Path
) -> None:
    expected: dict[str, str] = {}
    pipelines: list[str] = []
    for block in blocks_of(page):
        if name := block.option("file"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)
        elif name := block.option("written"):
            expected[name] = block.text
        else:
            assert (block.language, block.flags) == ("yaml", ("pipeline",))
            pipelines.append(block.text)
    for pipeline in pipelines:
        text = pipeline.encode()
        compiled = compile_pipeline(text, "pipeline.yaml", Options(base_dir=tmp_path))
        assert compiled.plan
        assert not compiled.diagnostics
        run_in(compiled.plan, session, Quiet())
    assert expected
    # A block ends with a line break, which not every file does.
    written = {name: (tmp_path / name).read_text().splitlines() for name in expected}
    assert written == {name: text.splitlines() for name, text in expected.items()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tables_of_options_are_complete(page: Path) -> None:
    format = format_named(page.stem.replace("-", "_"))
    tables = {
        model: found["table"]
        for found in _KEYS.finditer(page.read_text())
        for model in found["models"].split()
    }
    assert {model: set(_KEY.findall(table)) for model, table in tables.items()} == {
        model.__name__: set(model.model_fields)
        for model in (format.reading, format.writing)
        if model.model_fields
    }
