"""The page about `clinker.toml` is true: a valid example, and the tables of the models."""

from __future__ import annotations

from clinker.config.load import load_workspace
from tests.docs import generate_workspace
from tests.docs.pages import blocks_of


def test_the_example_is_valid() -> None:
    (example,) = blocks_of(generate_workspace.PAGE)
    loaded = load_workspace(example.text.encode())
    assert loaded.value
    assert not loaded.diagnostics
    assert loaded.value.storage.staging.enabled


def test_the_tables_are_up_to_date() -> None:
    shown = generate_workspace.PAGE.read_text("utf-8")
    hint = "run python -m tests.docs.generate_workspace"
    assert shown == generate_workspace.page(shown), hint
