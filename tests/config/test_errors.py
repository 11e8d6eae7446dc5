"""What the diagnostics about wrong values say beside their message."""

from __future__ import annotations

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
