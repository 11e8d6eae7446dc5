"""Arrays that the reader takes apart give what whole ones give, whatever the records hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinker.engine.reading import inputs
from clinker.engine.rejects.sites import Demand
from clinker.engine.run import retry
from clinker.engine.run.compute import compute
from tests.engine.whole_runs import Ran, Workplace

Records = list[dict[str, Any]]

SOURCE = """
pipeline: { name: p }
nodes:
  - type: source
    name: orders
    config:
      type: json
      path: in.json
      options: { format: ndjson }
      schema: { id: int, lines: array }
"""


def unfolding(body: str, more: str = "", each: str = "emit each line in lines") -> str:
    statements = "".join(f"\n          {line.strip()}" for line in body.strip().splitlines())
    return f"""{SOURCE}
  - type: transform
    name: unfolded
    input: orders
    config:
      cxl: |
        emit id = id
        {each} {{{statements}
        }}
{more or output("unfolded")}"""


def output(upstream: str) -> str:
    return f"""
  - type: output
    name: out
    input: {upstream}
    config:
      type: json
      path: out.json
      include_unmapped: false
      preserve_nulls: true
      if_exists: overwrite
"""


PLAIN: Records = [
    {"id": 1, "lines": [{"sku": "a", "qty": 2, "price": 1.5, "on": True, "more": [1]}]},
    {"id": 2, "lines": []},
    {"id": 3, "lines": None},
    {"id": 4},
    {"id": 5, "lines": [{"sku": "", "qty": 0, "price": -0.0}, {"sku": 'ü\n"', "qty": -7}]},
    {"id": 6, "lines": [{}, {"price": 1e300, "qty": None}, {"price": 0.1, "qty": 2**62}]},
]
VALUES = """
    emit sku = line.sku
    emit qty = line.qty
    emit price = line.price
    emit on = line.on
"""
COMPUTED = """
    let doubled = line.qty + line.qty
    emit total = line.qty * line.price
    emit quarter = line.price / 4.0 - 1
    emit again = doubled
    emit half = doubled / 2
    emit is_large = line.price >= 1
    emit is_a = line.sku == "a" or line.sku != "b" and line.on
    emit shouted = line.sku.upper() + "!"
    emit kind = line.qty.type_of() + line.price.type_of()
    emit known = line.qty ?? line.price ?? line.sku ?? "nothing"
    emit either = if line.on then line.qty else line.price
    emit band = match line.qty { 2 => "two", null => "none", _ => line.price }
    emit all = [line.sku, line.qty, line.price]
    emit m = {"qty": line.qty, "price": line.price}
"""


class Both:
    """A pipeline run with its arrays whole and with them taken apart."""

    def __init__(self, workplace: Workplace, patch: pytest.MonkeyPatch) -> None:
        self._workplace = workplace
        self._patch = patch
        self.demands: list[frozenset[Demand]] = []
        computed = compute

        def noted(prepared: Any, session: Any, demands: frozenset[Demand], *more: Any) -> Any:
            self.demands.append(demands)
            return computed(prepared, session, demands, *more)

        patch.setattr(retry, "compute", noted)

    def __call__(self, pipeline: str, records: Records) -> str:
        """What both write: it must be the same. Then `demands` tells about the second run."""
        lines = "".join(json.dumps(record) + "\n" for record in records)
        self._workplace.write(in_json=lines)
        whole = self._run(pipeline, small=2**30)
        self.demands.clear()
        apart = self._run(pipeline, small=-1)
        assert apart == whole
        return whole

    def _run(self, pipeline: str, small: int) -> str:
        self._patch.setattr(inputs, "SMALL_INPUT", small)
        out = Path(self._workplace.folder, "out.json")
        out.unlink(missing_ok=True)
        ran: Ran = self._workplace.run(pipeline)
        return f"{ran.code} {ran.message}\n{out.read_text() if out.exists() else ''}"

    @property
    def ran_again(self) -> bool:
        return len(self.demands) > 1


@pytest.fixture
def both(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both(workplace, monkeypatch)


def test_members_as_they_are(both: Both) -> None:
    assert '{"id":1,"sku":"a","qty":2,"price":1.5,"on":true}' in both(unfolding(VALUES), PLAIN)
    assert not both.ran_again


def test_records_without_elements(both: Both) -> None:
    written = both(unfolding(VALUES, each="emit each line in lines outer"), PLAIN)
    assert '{"id":3,"sku":null,"qty":null,"price":null,"on":null}' in written
    assert not both.ran_again


def test_members_in_expressions(both: Both) -> None:
    written = both(unfolding(COMPUTED), PLAIN[:5])
    assert '"total":3.0,"quarter":-0.625,"again":4,"half":2,' in written
    assert '"either":2,' in written
    assert '"m":{"qty":2,"price":1.5}' in written
    assert not both.ran_again


def test_members_of_several_kinds(both: Both) -> None:
    mixed = [{"id": n, "lines": [{"qty": value, "price": 2}]} for n, value in enumerate([1, 1.5])]
    written = both(unfolding("emit total = line.qty * line.price"), mixed)
    assert '{"id":0,"total":2}' in written
    assert '{"id":1,"total":3.0}' in written
    assert not both.ran_again


def test_elements_that_are_no_maps(both: Both) -> None:
    odd = [*PLAIN, {"id": 7, "lines": [1, None, "x", {"sku": "b"}, [{"sku": "c"}]]}]
    assert '{"id":7,"sku":null,"qty":null,"price":null,"on":null}' in both(unfolding(VALUES), odd)
    assert not both.ran_again


@pytest.mark.parametrize(
    "lines",
    [
        [{"sku": 1}],
        [{"qty": 1.0}],
        [{"qty": 2**63}],
        [{"qty": True}],
        [{"price": 5}],
        [{"price": {"amount": 5}}],
        [{"on": "yes"}],
        '[{"sku": "in a text"}]',
        "",
    ],
)
def test_records_unlike_those_before(both: Both, lines: Any) -> None:
    usual = PLAIN[:4] * 20
    written = both(unfolding(VALUES), [*usual, {"id": 7, "lines": lines}, *usual])
    assert both.ran_again
    assert written.startswith("0 ")


def test_a_value_that_is_no_array(both: Both) -> None:
    written = both(unfolding(VALUES), [*PLAIN, {"id": 7, "lines": 5}])
    assert both.ran_again
    assert "cannot convert '5' in column 'lines' to array" in written


def test_a_row_that_fails(both: Both) -> None:
    large = {"id": 7, "lines": [{"qty": 1}, {"qty": 2**62}]}
    written = both(unfolding("emit fourfold = line.qty * 4"), [*PLAIN[:3], large])
    assert both.ran_again
    assert written.startswith("3 ")


def test_an_operator_that_fails_for_all(both: Both) -> None:
    assert both(unfolding("emit bad = line.sku * 2"), PLAIN).startswith("3 ")
    assert both.ran_again


def test_too_many_elements(both: Both) -> None:
    pipeline = unfolding(VALUES).replace(
        "config:\n      cxl", "config:\n      max_expansion: 2\n      cxl"
    )
    assert both(pipeline, PLAIN).startswith("3 ")
    assert both.ran_again


@pytest.mark.parametrize("when", ["line.qty > 0", "line.sku != null", "line.price * 2.0 > 1.0"])
def test_nodes_behind_see_the_declared_types(both: Both, when: str) -> None:
    nodes = f"""
  - type: transform
    name: derived
    input: unfolded
    config:
      cxl: |
        emit kinds = sku.type_of() + qty.type_of() + price.type_of()
        emit sum = qty + 1
        emit flag = flag
  - type: route
    name: chosen
    input: derived
    config:
      conditions: {{ flagged: flag == true }}
      default: others
  - type: merge
    name: merged
    inputs: [chosen.flagged, chosen.others]
{output("merged")}"""
    written = both(unfolding(f"{VALUES}\nemit flag = {when}", nodes), PLAIN[:5])
    assert '"kinds":"StringIntFloat","sum":3' in written
    assert not both.ran_again


def test_groups_of_members(both: Both) -> None:
    nodes = f"""
  - type: aggregate
    name: groups
    input: unfolded
    config:
      group_by: [sku]
      cxl: |
        emit most = max(price)
        emit n = count(*)
{output("groups")}"""
    assert '{"sku":"a","most":1.5,"n":1}' in both(unfolding(VALUES, nodes), PLAIN)


def test_sorted_and_checked_members(both: Both) -> None:
    nodes = output("unfolded").replace(
        "include_unmapped", "sort_order: [{ field: price, order: desc }]\n      include_unmapped"
    )
    checks = (
        "config:\n      validations: [{ check: '(qty ?? 0) != 13', severity: error }]\n      cxl"
    )
    written = both(unfolding(VALUES, nodes).replace("config:\n      cxl", checks), PLAIN)
    assert written.splitlines()[2].startswith('{"id":6,"sku":null,"qty":null,"price":1')


def test_rejected_records_show_the_whole_array(both: Both) -> None:
    dlq = "{ path: rejected.csv, if_exists: overwrite }"
    handling = f"\nerror_handling: {{ strategy: continue, dlq: {dlq} }}\n"
    bad = {"id": 7, "lines": [{"qty": 1, "more": {"b": 1, "a": 2}}, {"qty": 2**62}]}
    written = both(unfolding("emit fourfold = line.qty * 4") + handling, [*PLAIN[:3], bad])
    assert written.startswith("2 ")
    letters = Path(both._workplace.folder, "rejected.csv").read_text()
    assert '""more"":{""b"":1,""a"":2}' in letters
