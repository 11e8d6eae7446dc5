"""Templates of paths."""

from __future__ import annotations

import pytest

from tests.config.loading import brief, load_config

OUT = "type: csv\npath: a.csv\n"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (OUT.replace("a.csv", "'{chanel}.csv'"), ["E018 8:13 unknown token '{chanel}'"]),
        (OUT.replace("a.csv", "'a{'"), ["E018 8:13 '{' is never closed"]),
        (OUT.replace("a.csv", "'a}b'"), ["E018 8:13 '}' is never opened"]),
        (
            OUT.replace("a.csv", "'{pipeline_hash:65}'"),
            ["E018 8:13 '65' is not an argument of {pipeline_hash}"],
        ),
        (
            OUT + "split: { max_records: 5, naming: 'x.csv' }",
            ["E018 9:40 every file would get the same name"],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("output", config).diagnostics) == expected
