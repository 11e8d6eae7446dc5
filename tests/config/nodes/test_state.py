"""What may be written for a state node, and what is said about mistakes."""

from __future__ import annotations

from tests.config.loading import accepted_config, brief, load_config


def test_state_settings() -> None:
    state = accepted_config(
        "state", "scope: source\nphase: init\nset: [{ var: x, cxl: 'first(a)' }]"
    )
    assert (state.scope, state.phase, state.set[0].cxl) == ("source", "init", "first(a)")


def test_nothing_to_set() -> None:
    found = brief(load_config("state", "scope: record\nset: []").diagnostics)
    assert found == ["E007 8:12 needs at least 1 entry"]


def test_settings_that_are_refused() -> None:
    assert brief(load_config("state", "scope: all\nset: [{ var: x, cxl: 5 }]").diagnostics)
