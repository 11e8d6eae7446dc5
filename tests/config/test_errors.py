"""What the diagnostics about wrong values say beside their message."""

from __future__ import annotations

from clinker.config.load import load_pipeline
from tests.config.loading import CSV, load_config


def test_helps_say_the_way_out() -> None:
    loaded = load_config("source", CSV + "optoins: {}\nfiles: { sort_by: nam }\nname: 5\nabc: 1")
    assert [d.help for d in loaded.diagnostics][:3] == [
        "did you mean 'options'?",
        "did you mean 'name'?",
        'put it in quotes: "5"',
    ]
    assert (loaded.diagnostics[3].help or "").startswith("known keys: type, name, schema, path")


def test_secondary_labels_show_the_other_place() -> None:
    (problem,) = load_config("source", CSV + "glob: x").diagnostics
    (label,) = problem.secondary
    assert label.location.start == (8, 7)
    assert label.text == "also given here"


def test_values_of_the_environment_are_not_repeated() -> None:
    text = b"pipeline: { name: ${TOKEN} }\nnodes: []\n"
    loaded = load_pipeline(text, {"TOKEN": "424242"})
    messages = [diagnostic.message for diagnostic in loaded.diagnostics]
    assert "expected a string, found integer ${TOKEN}" in messages
    assert "424242" not in str(messages)
