"""What may be written for a route, and what is said about mistakes."""

from __future__ import annotations

import pytest

from tests.config.loading import accepted_config, brief, load_config


@pytest.mark.parametrize("key", ["conditions", "routes"])
def test_route_settings(key: str) -> None:
    route = accepted_config(
        "route", f'mode: inclusive\n{key}:\n  us: region == "US"\n  eu: x\ndefault: other'
    )
    assert route.branches == ("us", "eu", "other")
    condition = route.text(key, "us") if key == "conditions" else None
    assert condition is None or condition.text == 'region == "US"'


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("conditions: { a: x > 1 }", ["E006 7:7 missing key 'default'"]),
        (
            "conditions: { a: x > 1 }\ndefault: a",
            ["E029 8:16 the default branch 'a' has a condition as well"],
        ),
        (
            "conditions: {}\ndefault: a.b",
            [
                "E028 7:7 a route needs at least one condition",
                "E010 8:16 branch name 'a.b' contains a dot",
            ],
        ),
        (
            "conditions: {" + ", ".join(f"b{i}: x" for i in range(256)) + "}\ndefault: d",
            ["E028 7:7 a route has at most 256 branches, found 257"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("route", config).diagnostics) == expected
