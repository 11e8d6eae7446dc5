"""Pipelines from Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

import clinker
from clinker.engine.session.session import Session
from tests.docs.pages import Block, blocks

PIPELINE = """
pipeline:
  name: big
  vars: { least: { type: int, default: 3 } }
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema: [{ name: id, type: int }, { name: amount, type: float }]
  - type: transform
    name: big
    input: orders
    config: { cxl: "filter id >= $vars.least\\nemit double = amount * 2.0" }
  - { type: output, name: out, input: big, config: { type: csv, path: out.csv } }
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "orders.csv").write_text("id,amount\n1,1.5\n3,2.5\n5,x\n7,4\n")
    path = tmp_path / "pipeline.yaml"
    path.write_text(PIPELINE + "error_handling: { strategy: continue }\n")
    return path


def test_a_plan_runs_in_the_users_session(pipeline: Path, session: Session) -> None:
    report = clinker.compile(pipeline).run(session.spark)
    assert (report.counts.total, report.counts.written, report.counts.dlq) == (4, 2, 1)
    written = (pipeline.parent / "out.csv").read_text()
    assert written == "id,amount,double\n3,2.5,5\n7,4,8\n"
    assert session.spark.range(1).count() == 1  # it is still open


def test_notebooks_show_plans_and_reports(pipeline: Path, session: Session) -> None:
    plan = clinker.compile(pipeline)
    assert "<title>orders to big</title>" in plan._repr_html_()
    shown = plan.run(session.spark)._repr_html_()
    assert "Finished with rejected records" in shown
    assert "pipeline.yaml:11" in shown  # which rejects an amount that is no number


def test_records_between_nodes_are_counted_for_whoever_wants_it(
    pipeline: Path, session: Session
) -> None:
    more = "  - { type: transform, name: few, input: big, config: { cxl: filter id < 7 } }\n"
    text = pipeline.read_text().replace("  - { type: output", f"{more}  - {{ type: output")
    pipeline.write_text(text.replace("input: big, config: { type", "input: few, config: { type"))
    shown = clinker.compile(pipeline, force=True).run(session.spark)._repr_html_()
    assert "— is a number that does not follow from others: a run counts it with" in shown
    plan = clinker.compile(pipeline, force=True, count_nodes=True)
    report = plan.run(session.spark)
    assert [node.records_out for node in report.nodes if node.name == "big"] == [2]
    assert "—" not in report._repr_html_()


@pytest.mark.parametrize("zone", ["Etc/UTC", "GMT", "Z", "+00:00", "UTC+0"])
def test_a_session_may_call_utc_by_another_name(
    pipeline: Path, session: Session, zone: str
) -> None:
    with in_zone(session, zone):
        clinker.compile(pipeline).run(session.spark)
    assert (pipeline.parent / "out.csv").read_text() == "id,amount,double\n3,2.5,5\n7,4,8\n"


@pytest.mark.parametrize("zone", ["Europe/London", "+01:00", "Etc/GMT+1", "Africa/Abidjan"])
def test_a_session_in_another_zone(pipeline: Path, session: Session, zone: str) -> None:
    way_out = r"set spark.conf.set\('spark.sql.session.timeZone', 'UTC'\)"
    with in_zone(session, zone), pytest.raises(clinker.RunError, match=way_out):
        clinker.compile(pipeline).run(session.spark)


@contextmanager
def in_zone(session: Session, zone: str) -> Iterator[None]:
    session.spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        session.spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_process_has_room_for_one_session(pipeline: Path, session: Session) -> None:
    if session.facts.java is None:
        pytest.skip("the session is on a server")
    with pytest.raises(clinker.RunError, match="has a Spark session already"):
        clinker.compile(pipeline).run()
    assert session.spark.range(1).count() == 1


CHANNEL = """
channel: {{ name: {name}, target: ./pipeline.yaml }}
vars: {{ static: {{ least: {least} }} }}
"""


def test_several_channels_run_in_one_session(pipeline: Path, session: Session) -> None:
    text = pipeline.read_text().replace("path: out.csv", 'path: "{channel}.csv"')
    pipeline.write_text(text)
    for name, least in (("few", 7), ("many", 1)):
        file = pipeline.with_name(f"{name}.channel.yaml")
        file.write_text(CHANNEL.format(name=name, least=least))
        clinker.compile(pipeline, channel=file).run(session.spark)
    written = {name: (pipeline.parent / f"{name}.csv").read_text() for name in ("few", "many")}
    assert written == {
        "few": "id,amount,double\n7,4,8\n",
        "many": "id,amount,double\n1,1.5,3\n3,2.5,5\n7,4,8\n",
    }


def test_variables_are_replaced(pipeline: Path, session: Session) -> None:
    clinker.compile(pipeline, vars={"least": 7}).run(session.spark)
    assert (pipeline.parent / "out.csv").read_text() == "id,amount,double\n7,4,8\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [({"leest": 1}, "did you mean 'least'"), ({"least": "x"}, "is of type int")],
)
def test_wrong_variables(pipeline: Path, given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clinker.compile(pipeline, vars=given)


def test_a_node_is_a_dataframe(pipeline: Path, session: Session) -> None:
    plan = clinker.compile(pipeline)
    frame = plan.dataframe("big", session.spark)
    assert frame.columns == ["id", "amount", "double"]
    assert [tuple(row) for row in frame.where("id > 3").collect()] == [(7, 4.0, 8.0)]
    with pytest.raises(ValueError, match="did you mean 'big'"):
        plan.dataframe("bog", session.spark)


PORTS = """
  - type: route
    name: split
    input: orders
    config: { conditions: { few: id < 4 }, default: many }
  - { type: composition, name: halved, alias: half, input: split.many, use: halve.comp.yaml }
  - type: output
    name: halves
    input: halved
    config: { type: csv, path: halves.csv, exclude: [amount], mapping: { Half: half },
              sort_order: [{ field: id, order: desc }] }
"""
HALVE = """
_compose: { name: halve, inputs: { numbers: {} }, outputs: { all: sizes.all, none: sizes.none } }
nodes:
  - { type: transform, name: halve, input: numbers, config: { cxl: "emit half = amount / 2.0" } }
  - type: route
    name: sizes
    input: halve
    config: { conditions: { none: "id < 0" }, default: all }
"""


@pytest.mark.parametrize(
    ("place", "columns", "records"),
    [
        ("split.few", ["id", "amount"], [(1, 1.5), (3, 2.5)]),
        ("split.many", ["id", "amount"], [(7, 4.0), (9, 5.0)]),
        ("halved", ["id", "amount", "half"], [(7, 4.0, 2.0), (9, 5.0, 2.5)]),
        ("halved.all", ["id", "amount", "half"], [(7, 4.0, 2.0), (9, 5.0, 2.5)]),
        ("halved.none", ["id", "amount", "half"], []),
        ("half/halve", ["id", "amount", "half"], [(7, 4.0, 2.0), (9, 5.0, 2.5)]),
        ("halves", ["id", "Half"], [(9, 2.5), (7, 2.0)]),
    ],
)
def test_whatever_a_node_could_read_is_a_dataframe(
    pipeline: Path, session: Session, place: str, columns: list[str], records: list[object]
) -> None:
    pipeline.write_text(PIPELINE + PORTS + "error_handling: { strategy: continue }\n")
    (pipeline.parent / "halve.comp.yaml").write_text(HALVE)
    (pipeline.parent / "orders.csv").write_text("id,amount\n1,1.5\n3,2.5\n5,x\n7,4\n9,5\n")
    frame = clinker.compile(pipeline).dataframe(place, session.spark)
    assert frame.columns == columns
    assert [tuple(row) for row in frame.collect()] == records


def test_a_node_has_columns_that_no_output_needs(pipeline: Path, session: Session) -> None:
    text = PIPELINE.replace("type: float }", "type: float }, { name: note, type: string }")
    pipeline.write_text(text.replace("path: out.csv", "path: out.csv, exclude: [note]"))
    frame = clinker.compile(pipeline).dataframe("orders", session.spark)
    assert frame.columns == ["id", "amount", "note"]


def test_sums_of_a_node_have_room_for_every_number(pipeline: Path, session: Session) -> None:
    total = """
  - type: aggregate
    name: total
    input: big
    config: { group_by: [], cxl: "emit sum = sum(double)" }
  - { type: output, name: all, input: total, config: { type: csv, path: all.csv } }
"""
    pipeline.write_text(PIPELINE + total)
    (pipeline.parent / "orders.csv").write_text("id,amount\n3,1e300\n5,1.5\n7,-1e300\n")
    frame = clinker.compile(pipeline).dataframe("total", session.spark)
    assert [tuple(row) for row in frame.collect()] == [(3.0,)]


def test_errors_are_shown_with_their_place(pipeline: Path) -> None:
    pipeline.write_text(PIPELINE.replace("amount * 2.0", "amuont * 2.0"))
    with pytest.raises(clinker.CompileError, match="did you mean 'amount'") as caught:
        clinker.compile(pipeline)
    assert caught.value.diagnostics
    assert "pipeline.yaml:" in str(caught.value)


def test_a_plan_is_explained(pipeline: Path) -> None:
    plan = clinker.compile(pipeline)
    assert "AS `double`" in plan.explain("sql")
    with pytest.raises(ValueError, match="text, json, dot, svg, sql, not as 'xml'"):
        plan.explain("xml")


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_what_the_documentation_shows_runs(
    block: Block,
    pipeline: Path,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipeline.rename(pipeline.with_name("orders.yaml"))
    monkeypatch.chdir(pipeline.parent)
    names: dict[str, object] = {"spark": session.spark}
    exec(block.text, names)
    expected = block.option("prints") or ""
    assert capsys.readouterr().out == expected.replace("_", " ") + "\n"
    if big := names.get("big"):
        assert isinstance(big, DataFrame)
        assert big.count() == 1


def test_the_interface_is_listed() -> None:
    assert set(clinker.__all__) < set(dir(clinker))
    assert all(getattr(clinker, name).__module__.startswith("clinker.") for name in clinker.__all__)


def test_a_plan_shows_what_it_is(pipeline: Path) -> None:
    assert repr(clinker.compile(pipeline)) == "<Plan 'big': orders → big → out>"
