"""Every example in every built-in's declaration."""

from __future__ import annotations

import json

import pytest

from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import Builtin, Example
from tests.cxl import running

SCALARS = [
    (m, example) for overloads in METHODS.values() for m in overloads for example in m.examples
]
GROUPS = [(a, example) for a in AGGREGATES.values() for example in a.examples]
WINDOWS = [(w, example) for w in WINDOW_FUNCTIONS.values() for example in w.examples]


def name(case: object) -> str:
    return case.expression if isinstance(case, Example) else getattr(case, "name", str(case))


def normalized(expected: str) -> str:
    """The expected text with JSON in the form the interpreter's results are printed in."""
    if expected.startswith("error: "):
        return expected
    return json.dumps(json.loads(expected), ensure_ascii=False)


@pytest.mark.parametrize(("_builtin", "example"), SCALARS, ids=name)
def test_method_example(_builtin: Builtin, example: Example) -> None:
    assert running.outcome(example.expression) == normalized(example.expected)


@pytest.mark.parametrize(("_builtin", "example"), GROUPS, ids=name)
def test_aggregate_example(_builtin: Builtin, example: Example) -> None:
    assert example.given
    found = running.aggregate_outcome(example.expression, json.loads(example.given))
    assert found == normalized(example.expected)


@pytest.mark.parametrize(("_builtin", "example"), WINDOWS, ids=name)
def test_window_example(_builtin: Builtin, example: Example) -> None:
    assert example.given
    found = running.window_outcome(example.expression, json.loads(example.given))
    assert found == normalized(example.expected)


def test_every_builtin_is_documented_by_example() -> None:
    methods = [m for overloads in METHODS.values() for m in overloads]
    builtins: list[Builtin] = [*methods, *AGGREGATES.values(), *WINDOW_FUNCTIONS.values()]
    assert [b.name for b in builtins if not b.documentation or not b.examples] == []


def test_the_language_has_all_its_builtins() -> None:
    families: dict[str, set[str]] = {}
    for overloads in METHODS.values():
        for method in overloads:
            families.setdefault(method.family, set()).add(method.name)
    counts = {family: len(names) for family, names in families.items()}
    assert counts == {
        "strings": 24,
        "numeric": 8,
        "dates": 13,
        "conversion": 11,
        "introspection": 5,
        "paths": 5,
        "arrays": 6,
        "maps": 5,
    }
    assert len(AGGREGATES) == 10
