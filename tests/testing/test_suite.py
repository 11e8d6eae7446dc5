"""Test files run: what passes, what fails and how that is told, and what is rewritten."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET

import pytest

from clinker.engine.session.session import Session
from clinker.testing.as_junit import junit
from clinker.testing.as_text import Screen
from clinker.testing.outcome import Outcome
from clinker.testing.suite import Suite

_PIPELINE = """\
pipeline: { name: shop, vars: { least: { type: int, default: 0 } } }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int, amount: float, day: date } }
  - type: transform
    name: shares
    input: orders
    config:
      cxl: |
        filter amount > $vars.least
        emit share = 100.0 / (id - 2)
  - type: route
    name: sized
    input: shares
    config: { conditions: { big: share > 40 }, default: small }
  - type: output
    name: result
    input: sized.big
    config: { type: csv, path: result.csv, mapping: { part: share }, exclude: [amount, day] }
error_handling: { strategy: continue }
"""


class Workplace:
    def __init__(self, folder: Path, session: Session) -> None:
        self.folder = folder
        self._session = session
        self.write("shop.yaml", _PIPELINE)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(dedent(text))

    def test(self, cases: str, *, wanted: str = "", updates: bool = False) -> list[Outcome]:
        self.write("shop_test.yaml", "pipeline: shop.yaml\ncases:\n" + dedent(cases))
        suite = Suite(
            files=[self.folder / "shop_test.yaml"],
            session=lambda _: self._session,
            wanted=wanted,
            updates=updates,
        )
        return list(suite.run())

    def told(self, outcomes: list[Outcome]) -> str:
        stream = io.StringIO()
        screen = Screen(stream)
        for outcome in outcomes:
            screen.show(outcome)
        screen.finish(outcomes, 1.0)
        return stream.getvalue().replace(str(self.folder) + "/", "")


@pytest.fixture
def workplace(tmp_path: Path, session: Session) -> Workplace:
    return Workplace(tmp_path, session)


def test_cases_that_pass(workplace: Workplace) -> None:
    workplace.write("given.csv", "id,amount\n7,1\n")
    outcomes = workplace.test(
        """\
        - name: records of nodes, ports and outputs
          given:
            orders:
              - { id: 1, amount: 5, day: 2024-01-31 }
              - { id: 4, amount: 5 }
          expect:
            records:
              orders: [{ id: 1, day: 2024-01-31 }, { id: 4, day: null }]
              sized.small: [{ share: -100 }]
              result: [{ id: 4, part: 50.0 }]
        - name: rejected records
          given: { orders: { text: "id,amount\\n2,1\\nx,1\\n" } }
          expect:
            rejected:
              - { node: shares, detail: division by zero, row: 1, file: orders.csv }
              - { field: id, value: x, category: type_coercion_failure }
        - name: a value of a variable
          given: { orders: [{ id: 1, amount: 5 }, { id: 3, amount: 20 }] }
          vars: { least: 10 }
          expect: { records: { shares: [{ id: 3 }] } }
        - name: a file
          given: { orders: given.csv }
          expect: { records: { orders: [{ id: 7 }] } }
        - name: no records
          given: { orders: [] }
          expect: { records: { result: [] } }
        """
    )
    assert [o.name for o in outcomes if not o.has_passed] == []
    assert len(outcomes) == 5
    assert sorted(path.name for path in workplace.folder.iterdir()) == [
        "given.csv",
        "shop.yaml",
        "shop_test.yaml",
    ]


def test_what_is_otherwise_is_shown_record_by_record(workplace: Workplace) -> None:
    outcomes = workplace.test(
        """\
        - name: shares
          given: { orders: [{ id: 1, amount: 5 }, { id: 3, amount: 5 }, { id: 4, amount: 5 }] }
          expect:
            records:
              shares:
                - { id: 1, share: -100 }
                - { id: 3, share: 99 }
                - { id: 4, share: 50 }
        - name: none is rejected
          given: { orders: [{ id: 2, amount: 5 }] }
          expect: { records: { result: [] } }
        """
    )
    told = workplace.told(outcomes)
    assert told.startswith("shop_test.yaml\n  FAILED  shares  ")
    assert (
        "      shares: 3 records expected, 3 records found\n"
        "        id  share\n"
        "        1   -100.0\n"
        "      - 3   99\n"
        "      + 3   100.0\n"
        "        4   50.0\n"
    ) in told
    assert "the exit code is 2, not 0" in told
    assert "division by zero" in told
    assert told.endswith("0 passed, 2 failed in 1.0 s\n")


def test_errors_may_be_expected(workplace: Workplace) -> None:
    pipeline = _PIPELINE.replace("strategy: continue", "strategy: fail_fast")
    workplace.write("shop.yaml", pipeline)
    outcomes = workplace.test(
        """\
        - name: the run ends
          given: { orders: [{ id: 2, amount: 5 }] }
          expect: { exit_code: 3, error: division by zero }
        - name: for another reason
          given: { orders: [{ id: 2, amount: 5 }] }
          expect: { exit_code: 3, error: overflow }
        - name: not at all
          given: { orders: [{ id: 2, amount: 5 }] }
          expect: { records: { result: [] } }
        """
    )
    assert [outcome.has_passed for outcome in outcomes] == [True, False, False]
    told = workplace.told(outcomes)
    assert "the error does not mention 'overflow'" in told
    assert "the exit code is 3, not 0: orders.csv, row 1: division by zero" in told


def test_a_pipeline_with_mistakes_fails_its_cases(workplace: Workplace) -> None:
    workplace.write("shop.yaml", _PIPELINE.replace("amount >", "amuont >"))
    outcomes = workplace.test(
        """\
        - { name: it is right, given: { orders: [] }, expect: { exit_code: 0 } }
        - { name: it is wrong, given: { orders: [] }, expect: { exit_code: 1, error: E200 } }
        """
    )
    assert [outcome.has_passed for outcome in outcomes] == [False, True]
    assert "did you mean 'amount'?" in workplace.told(outcomes)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("given: { ordres: [] }, expect: { exit_code: 0 }", "did you mean 'orders'?"),
        ("expect: { records: { shars: [] } }", "did you mean 'shares'?"),
        ("expect: { records: { sized: [] } }", "sized.big, sized.small"),
        ("vars: { lest: 1 }, expect: { exit_code: 0 }", "did you mean 'least'?"),
        ("given: { orders: gone.csv }, expect: { exit_code: 0 }", "the exit code is 4"),
    ],
)
def test_what_does_not_fit_the_pipeline_is_told(
    workplace: Workplace, case: str, message: str
) -> None:
    [outcome] = workplace.test(f"- {{ name: a, {case} }}\n")
    assert not outcome.has_passed
    assert message in workplace.told([outcome])


def test_expectations_are_rewritten_in_place(workplace: Workplace) -> None:
    cases = """\
    # what we know
    - name: shares   # of one order
      given: { orders: [{ id: 3, amount: 5 }, { id: 2, amount: 5 }] }
      expect:
        records:
          # the first node
          shares:
            - { id: 3, share: 99 }  # to be seen
          result: []
        rejected: []  # none
        exit_code: 0
    - name: inline
      given: { orders: [{ id: 3, amount: 5 }] }
      expect: { records: { orders: [{ id: 4 }] } }
    - name: right
      given: { orders: [] }
      expect: { records: { orders: [   ] } }
    """
    outcomes = workplace.test(cases, updates=True)
    assert [outcome.is_updated for outcome in outcomes] == [True, True, False]
    text = (workplace.folder / "shop_test.yaml").read_text()
    assert text == "pipeline: shop.yaml\ncases:\n" + dedent(
        """\
        # what we know
        - name: shares   # of one order
          given: { orders: [{ id: 3, amount: 5 }, { id: 2, amount: 5 }] }
          expect:
            records:
              # the first node
              shares:
                - { id: 3, share: 100.0 }  # to be seen
              result:
                - { id: 3, part: 100.0 }
            rejected:
              - { node: shares, category: type_coercion_failure, row: 2, field: share, \
detail: "division by zero" }  # none
            exit_code: 2
        - name: inline
          given: { orders: [{ id: 3, amount: 5 }] }
          expect: { records: { orders: [{ id: 3 }] } }
        - name: right
          given: { orders: [] }
          expect: { records: { orders: [   ] } }
        """
    )
    again = text.removeprefix("pipeline: shop.yaml\ncases:\n")
    assert all(outcome.has_passed for outcome in workplace.test(again))


def test_only_some_cases_are_run(workplace: Workplace) -> None:
    cases = """\
    - { name: the first, given: { orders: [] }, expect: { exit_code: 0 } }
    - { name: the second, given: { orders: [] }, expect: { exit_code: 0 } }
    """
    assert [o.name for o in workplace.test(cases, wanted="SECOND")] == ["the second"]
    assert len(workplace.test(cases, wanted="shop_test")) == 2


def test_junit_tells_the_same(workplace: Workplace) -> None:
    outcomes = workplace.test(
        """\
        - { name: good, given: { orders: [] }, expect: { exit_code: 0 } }
        - name: "bad\\x1b"
          given: { orders: [{ id: 3, amount: 5 }] }
          expect: { records: { orders: [] } }
        - { name: unusable, given: { odrers: [] }, expect: { exit_code: 0 } }
        """
    )
    root = ET.fromstring(junit(outcomes))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    [_, bad, unusable] = root.iter("testcase")
    failure, error = bad.find("failure"), unusable.find("error")
    assert bad.get("name") == "bad\\x1b"
    assert failure is not None and "0 records expected, 1 record found" in str(failure.text)
    assert error is not None and "did you mean 'orders'?" in str(error.text)


def test_groups_that_fall_are_not_changed_by_looking(workplace: Workplace) -> None:
    pipeline = _PIPELINE.replace("path: orders.csv,", "path: orders.csv, correlation_key: day,")
    workplace.write("shop.yaml", pipeline)
    outcomes = workplace.test(
        """\
        - name: a group falls
          given:
            orders:
              - { id: 4, amount: 5, day: 2024-01-31 }
              - { id: 2, amount: 5, day: 2024-01-31 }
              - { id: 3, amount: 5, day: 2024-02-01 }
              - { id: 9, amount: -1, day: 2024-01-31 }
          expect:
            records:
              orders: [{ id: 4 }, { id: 2 }, { id: 3 }, { id: 9 }]
              result: [{ id: 3, part: 100 }]
            rejected:
              - { row: 2, detail: division by zero }
              - { row: 1, category: correlated }
        """
    )
    assert workplace.told(outcomes).endswith("1 passed in 1.0 s\n")


_SERVICE = """\
pipeline: { name: service }
nodes:
  - type: source
    name: prices
    config:
      type: json
      transport: { kind: rest, url: "http://127.0.0.1:9/prices", max_pages: 1 }
      schema: { id: int, price: float }
  - type: output
    name: result
    input: prices
    config: { type: csv, path: result.csv }
"""


def test_web_services_are_given_and_never_asked(workplace: Workplace) -> None:
    workplace.write("shop.yaml", _SERVICE)
    outcomes = workplace.test(
        """\
        - name: given
          given: { prices: [{ id: 1, price: 2.5 }] }
          expect: { records: { result: [{ id: 1, price: 2.5 }] } }
        - { name: not given, expect: { exit_code: 0 } }
        """
    )
    assert [outcome.has_passed for outcome in outcomes] == [True, False]
    assert "reads a web service, which tests do not" in workplace.told(outcomes)


def test_files_that_are_given_may_be_compressed(workplace: Workplace) -> None:
    (workplace.folder / "given.csv.gz").write_bytes(gzip.compress(b"id,amount\n7,1\n"))
    [outcome] = workplace.test(
        """\
        - name: compressed
          given: { orders: given.csv.gz }
          expect: { records: { orders: [{ id: 7 }] } }
        """
    )
    assert outcome.has_passed, workplace.told([outcome])


def test_records_are_given_to_parquet_sources(workplace: Workplace) -> None:
    workplace.write("shop.yaml", _PIPELINE.replace("type: csv", "type: parquet"))
    outcomes = workplace.test(
        """
          - name: records of several kinds
            given:
              orders:
                - { id: 1, amount: 5, day: 2024-01-01 }
                - { id: many, amount: 1.5 }
                - { id: 3, amount: 2.5 }
            expect:
              records:
                shares:
                  - { id: 1, share: -100.0, day: 2024-01-01 }
                  - { id: 3, share: 100.0, day: null }
              rejected: [{ node: orders, field: id, value: many }]
          - name: none at all
            given: { orders: [] }
            expect: { records: { result: [] } }
        """
    )
    assert all(outcome.has_passed for outcome in outcomes), workplace.told(outcomes)
