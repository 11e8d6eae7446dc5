"""What may be written for a combine, and what is said about mistakes."""

from __future__ import annotations

import pytest

from tests.config.loading import accepted_config, brief, load_config

WHERE = "where: a.x == b.x\ncxl: emit x = a.x\n"


def test_combine_settings() -> None:
    for written, mode, named in [
        ("driver", "driver", ()),
        ("all", "all", ()),
        ("{ named: [a] }", "named", ("a",)),
    ]:
        combine = accepted_config("combine", f"where: x\ncxl: y\npropagate_ck: {written}\ndrive: b")
        assert (combine.propagate_ck.mode, combine.propagate_ck.named) == (mode, named)
    collect = accepted_config("combine", "where: x\nmatch: collect\npropagate_ck: all")
    assert collect.cxl == ""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (WHERE, ["E006 7:7 missing key 'propagate_ck'"]),
        (WHERE + "propagate_ck: drivr", ["E007 9:21 unknown mode 'drivr'"]),
        ("where: x\npropagate_ck: all", ["E006 7:7 missing key 'cxl'"]),
        (
            WHERE + "propagate_ck: all\nmatch: collect",
            [
                "E311 8:12 with 'match: collect' the joined record is built for you, "
                "so 'cxl' must be empty"
            ],
        ),
    ],
)
def test_diagnostics(config: str, expected: list[str]) -> None:
    assert brief(load_config("combine", config).diagnostics) == expected
