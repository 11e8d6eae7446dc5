"""Test files: what may be written in them, and what is said if it is not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from clinker.config import load_cases

_HEAD = "pipeline: shop.yaml\ncases:\n"


def _problems(text: str) -> list[str]:
    loaded = load_cases(dedent(text).encode())
    return [f"{d.message}; {d.help}" if d.help else d.message for d in loaded.diagnostics]


def test_a_whole_file() -> None:
    loaded = load_cases(
        dedent(
            """\
            pipeline: shop.yaml
            cases:
              - name: all that there is
                given:
                  orders: [{ id: 1, when: 2024-01-31, tags: [a, 1] }]
                  customers: customers.csv
                  prices: { text: "a,b\\n" }
                vars: { limit: 3 }
                channel: acme.channel.yaml
                environment: { REGION: eu }
                expect:
                  records: { big.small: [] }
                  rejected: [{ node: big, row: 1 }]
            """
        ).encode()
    )
    assert loaded.value, loaded.diagnostics
    [case] = loaded.value.cases
    assert case.given["orders"].records == ({"id": 1, "when": "2024-01-31", "tags": ("a", 1)},)
    assert case.given["customers"].file == "customers.csv"
    assert case.given["prices"].content == "a,b\n"
    assert case.expect.code == 2
    assert case.expect.rejected
    assert case.expect.rejected[0].facts == {"node": "big", "row": 1}


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("{ name: a, expect: {} }", "the case expects nothing"),
        ("{ name: a, expct: { exit_code: 0 } }", "did you mean 'expect'?"),
        ("{ name: a, expect: { exit_code: 7 } }", "must be at most 4"),
        ("{ name: a, expect: { error: x } }", "ends without an error"),
        (
            "{ name: a, given: { s: { text: x, file: y } }, expect: { exit_code: 0 } }",
            "exactly one",
        ),
        ("{ name: a, expect: { rejected: [{ nod: x }] } }", "did you mean 'node'?"),
    ],
)
def test_mistakes_are_told(case: str, message: str) -> None:
    found = _problems(f"{_HEAD}  - {case}\n")
    assert any(message in problem for problem in found), found


def test_names_of_cases_are_unique() -> None:
    case = "  - { name: a, expect: { exit_code: 0 } }\n"
    assert _problems(_HEAD + case + case) == [
        "two cases are named 'a'; give one of them another name"
    ]
