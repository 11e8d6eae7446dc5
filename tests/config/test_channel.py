"""Channel files."""

from __future__ import annotations

import pytest

from clinker.config import load_channel
from tests.config.loading import brief

CHANNEL = """\
channel:
  name: acme-prod
  target: ./pipelines/orders.yaml
config:
  default: { enrich1.fuzzy_threshold: 0.85 }
  fixed: { lookup_table: "s3://acme/staging.csv" }
vars:
  static: { fuzzy_threshold: { type: float, default: 0.95 }, label: bare }
  pipeline: { cutoff_date: { type: date, default: "2026-01-01" } }
  source: { orders_src: { ingest_label: { type: string, default: acme } } }
  record: { tier: { type: string, default: platinum } }
"""


def test_channel() -> None:
    channel = load_channel(CHANNEL.encode()).value
    assert channel
    assert channel.channel.name == "acme-prod"
    assert not channel.channel.targets_composition
    assert channel.config.default == {"enrich1.fuzzy_threshold": 0.85}
    assert channel.vars.static["label"].type == "string"
    assert channel.vars.source["orders_src"]["ingest_label"].initial == "acme"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("target:", "traget:", ["E005 3:3 unknown key 'traget'"]),
        (
            "orders.yaml",
            "x.comp.yaml",
            ["E109 7:1 a channel for a composition cannot set variables"],
        ),
        (
            "cutoff_date",
            "execution_id",
            ["E110 9:15 $pipeline.execution_id is provided by the engine and cannot be declared"],
        ),
        (
            "ingest_label",
            "path",
            ["E110 10:27 $source.path is provided by the engine and cannot be declared"],
        ),
        (
            "enrich1.fuzzy",
            "a.b.fuzzy",
            ["E032 5:14 'a.b.fuzzy_threshold' does not name a parameter"],
        ),
        (
            '"2026-01-01"',
            "soon",
            [
                "E020 9:51 a default of type date must be a date such as '2026-01-31', "
                "found string 'soon'"
            ],
        ),
        ("acme-prod", "${NAME}", []),
    ],
)
def test_channel_diagnostics(old: str, new: str, expected: list[str]) -> None:
    assert brief(load_channel(CHANNEL.replace(old, new).encode()).diagnostics) == expected
