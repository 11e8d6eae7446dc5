"""Dead-letter settings: whose they are, where entries go, when a run has enough of them."""

from __future__ import annotations

from pathlib import Path

from clinker.plan.files.dead_letters import (
    DeadLetters,
    Limit,
    check_dead_letters,
    plan_dead_letters,
)
from clinker.plan.files.paths import list_destinations
from clinker.plan.options import Options
from tests.plan.compiling import brief, notes, wired

NODES = """\
- { type: source, name: orders, format: csv, path: o.csv, schema: { id: int } }
- { type: source, name: items, format: csv, path: i.csv, schema: { id: int } }
- { type: output, name: out, input: orders, format: csv, path: out.csv }
"""
BASE = Path("/base")


def settings(text: str, channel: str = "") -> DeadLetters:
    pipeline, graph = wired(NODES, text)
    return plan_dead_letters(pipeline, graph, BASE, channel)


def problems(text: str) -> list[str]:
    pipeline, graph = wired(NODES, text)
    found = check_dead_letters(pipeline, graph, list_destinations(pipeline, graph, Options(BASE)))
    assert all(problem.help for problem in found)
    return brief(found)


def test_without_settings_entries_are_only_logged() -> None:
    assert settings("{}") == DeadLetters({"orders": None, "items": None}, None, None, {})


def test_a_source_with_a_queue_of_its_own() -> None:
    found = settings(
        "{ dlq: { path: e.csv, max_rate: 0.1, per_source: "
        "{ items: { path: i.csv, max_rate: 0.5, min_records: 10 } } } }"
    )
    assert found.paths == {"orders": BASE / "e.csv", "items": BASE / "i.csv"}
    assert found.limit == Limit(0.1, 100)
    assert found.limits == {"items": Limit(0.5, 10)}


def test_a_limit_of_its_own_keeps_the_common_path() -> None:
    found = settings("{ dlq: { path: e.csv, per_source: { items: { max_rate: 1 } } } }")
    assert found.paths["items"] == BASE / "e.csv"
    assert found.limit is None


def test_a_limit_of_its_own_is_judged_after_as_many_records_as_the_common_one() -> None:
    found = settings("{ dlq: { min_records: 7, per_source: { items: { max_rate: 0.5 } } } }")
    assert found.limits == {"items": Limit(0.5, 7)}
    own = "{ dlq: { min_records: 7, per_source: { items: { max_rate: 0.5, min_records: 100 } } } }"
    assert settings(own).limits == {"items": Limit(0.5, 100)}


def test_the_channel_in_the_path() -> None:
    text = "{ dlq: { path: '{channel::/}e.csv', if_exists: overwrite } }"
    assert list(settings(text, "acme").files) == [BASE / "acme/e.csv"]
    assert settings(text, "a/b").if_exists == {BASE / "a_b/e.csv": "overwrite"}
    assert list(settings(text).files) == [BASE / "e.csv"]


def test_settings_of_an_unknown_source() -> None:
    assert problems("{ dlq: { per_source: { oders: { max_rate: 0.5 } } } }") == [
        "E317 2:40 'oders' is not a source"
    ]


def test_settings_of_another_node() -> None:
    pipeline, graph = wired(NODES, "{ dlq: { per_source: { out: { max_rate: 0.5 } } } }")
    (problem,) = check_dead_letters(pipeline, graph, [])
    assert problem.message == "'out' is not a source"
    assert notes(problem) == ["6:25 the output 'out'"]
    assert problem.help == "one of: orders, items"


def test_queues_that_share_a_file() -> None:
    assert problems("{ dlq: { path: e.csv, per_source: { items: { path: ./e.csv } } } }") == [
        "E070 2:68 the dead-letter queue of 'items' has the same path as the dead-letter queue"
    ]
    two = "{ dlq: { per_source: { orders: { path: e }, items: { path: e } } } }"
    assert problems(two) == [
        "E070 2:76 the dead-letter queue of 'items' has the same path as "
        "the dead-letter queue of 'orders'"
    ]


def test_different_queues() -> None:
    assert problems("{ dlq: { path: e.csv, per_source: { items: { path: i.csv } } } }") == []
