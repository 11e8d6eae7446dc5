"""Keys and words for a place, by what is written around it."""

from __future__ import annotations

from clinker.editing.kinds import FileKind
from clinker.editing.schema import key_at, keys_at, words_at

SOURCE = {"nodes": ({"type": "source", "config": {"type": "csv"}},)}
JSON = {"nodes": ({"type": "source", "config": {"type": "json"}},)}
CONFIG = ("nodes", 0, "config")


def test_keys_follow_the_kind_of_node() -> None:
    assert "schema" in keys_at(FileKind.PIPELINE, CONFIG, SOURCE)
    assert "cxl" not in keys_at(FileKind.PIPELINE, CONFIG, SOURCE)
    aggregate = {"nodes": ({"type": "aggregate", "config": {}},)}
    assert [*keys_at(FileKind.PIPELINE, CONFIG, aggregate)][:2] == ["group_by", "cxl"]


def test_keys_follow_the_format() -> None:
    options = (*CONFIG, "options")
    assert "delimiter" in keys_at(FileKind.PIPELINE, options, SOURCE)
    assert "delimiter" not in keys_at(FileKind.PIPELINE, options, JSON)
    assert "record_path" in keys_at(FileKind.PIPELINE, options, JSON)


def test_short_nodes_take_settings_beside_their_names() -> None:
    short = {"nodes": ({"type": "aggregate", "name": "n"},)}
    assert {"input", "group_by", "config"} <= set(keys_at(FileKind.PIPELINE, ("nodes", 0), short))


def test_words_are_those_of_all_kinds_until_one_is_chosen() -> None:
    words = words_at(FileKind.PIPELINE, ("nodes", 0, "type"), {"nodes": ({"type": None},)})
    assert {"source", "transform", "state"} <= set(words)
    assert words_at(FileKind.PIPELINE, (*CONFIG, "compression"), SOURCE)[0] == "auto"
    assert words_at(FileKind.PIPELINE, ("pipeline", "name"), {}) == ()


def test_a_key_tells_what_it_is_for() -> None:
    key = key_at(FileKind.CHANNEL, ("channel", "target"), {})
    assert key is not None
    assert key.is_required
    assert key.description == "the pipeline or composition it is for"
    assert key_at(FileKind.CHANNEL, ("channel", "tarket"), {}) is None
    default = key_at(FileKind.WORKSPACE, ("storage", "spill", "compress"), {})
    assert default is not None
    assert (default.default, default.words) == ("auto", ("auto", "off", "on"))
