"""Whole pipelines load without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.config import load_pipeline
from clinker.diagnostics import Source
from tests.config.loading import brief

PIPELINES = sorted((Path(__file__).parent / "data").glob("*.yaml"))


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_loads(path: Path) -> None:
    loaded = load_pipeline(Source(path.name, path.read_text()), {})
    assert brief(loaded.diagnostics) == []
    assert loaded.value is not None
    assert loaded.value.pipeline.name


def test_environment_variables_reach_the_values() -> None:
    text = (
        "pipeline: { name: '${NAME:-p}', batch_size: ${SIZE} }\n"
        "nodes: [{ type: merge, name: m, inputs: [a, ${OTHER}] }]\n"
    )
    loaded = load_pipeline(text.encode(), {"SIZE": "16", "OTHER": "b.c"})
    assert loaded.value is not None
    assert loaded.value.pipeline.name == "p"
    assert loaded.value.pipeline.batch_size == 16
    assert loaded.text == text.replace("${NAME:-p}", "p").replace("${SIZE}", "16").replace(
        "${OTHER}", "b.c"
    )
    assert loaded.value.nodes[0].at("inputs", 1).start == (2, 45)
    wrong = load_pipeline(text.encode(), {"SIZE": "many", "OTHER": "b"})
    assert brief(wrong.diagnostics) == [
        "E007 1:45 expected an integer, found string ${SIZE}",
    ]
