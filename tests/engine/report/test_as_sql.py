"""`--explain sql` shows the steps that a run builds, without reading anything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import dedent

import pytest

from clinker.engine.flow.building import Building
from clinker.engine.flow.flows import Flows
from clinker.engine.flow.frame import Frame
from clinker.engine.reading import inputs as reading
from clinker.engine.reading.unopened import UnopenedInput
from clinker.engine.rejects.sites import Site, Sites
from clinker.engine.report import as_sql as describing
from clinker.engine.report.as_sql import as_sql
from clinker.engine.report.facts import RunError, identify
from clinker.engine.run.observer import Quiet
from clinker.engine.run.system import SystemValues
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.nodes import PlannedSource
from clinker.plan.options import Options
from tests.engine.flowing import planned
from tests.engine.opening import open_files
from tests.spec.cases import Case, compiled, good_cases, name_of

ORDERS = """
    pipeline: { name: p }
    nodes:
      - type: source
        name: orders
        config:
          type: csv
          path: orders.csv
          on_unmapped: { mode: drop }
          schema:
            - { name: id, type: int }
            - { name: day, type: date }
            - { name: form, type: string }
"""
REPORT = """
      - type: transform
        name: later
        input: orders
        config:
          cxl: |
            filter id > 3
            emit shown = day.format(form)
            emit after = id + 1
            emit file = $source.file
      - type: aggregate
        name: totals
        input: later
        config: { group_by: [shown, file], cxl: "emit total = sum(after)" }
      - type: output
        name: report
        input: totals
        config: { type: csv, path: report.csv, sort_order: [total] }
"""


@pytest.mark.parametrize("case", good_cases(), ids=name_of)
def test_every_example_is_described(case: Case) -> None:
    plan = compiled(case).plan
    assert plan
    text = as_sql(plan)
    assert text == as_sql(plan)
    assert str(case.folder) not in text
    headers = [line for line in text.splitlines() if line.startswith("-- output ")]
    assert headers == [f"-- output '{u.name}'" for u in plan.graph if u.kind == "output"]
    for block in text.split("\n\n"):
        assert all(block.splitlines()), "a step has no text"


@pytest.mark.parametrize("case", good_cases(), ids=name_of)
def test_the_files_of_an_example_change_nothing(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = compiled(case).plan
    assert plan
    if _asks_service(plan):
        return
    try:
        opened = open_files(plan, identify(None), Sites())
    except RunError:
        return  # the example shows what happens to files that cannot be read
    with_columns = [source for source in opened if source.spec.undeclared == "keep"]
    if any(source.inventory.undeclared for source in with_columns):
        return
    from_plan = as_sql(plan)
    monkeypatch.setattr(describing, "unopened_inputs", partial(_large_inputs, opened))
    assert _without_notes(as_sql(plan)) == _without_notes(from_plan)


def _large_inputs(
    opened: Sequence[reading.SourceInput], plan: Plan, sites: Sites
) -> list[UnopenedInput]:
    """Opened files, taken for large ones that may have bad records."""
    for source in opened:
        sites.add(Site(source.name, "", None))
    return [UnopenedInput(**vars(source), has_parted_arrays=False) for source in opened]


def _without_notes(text: str) -> list[str]:
    return [block for block in text.split("\n\n") if not block.startswith("-- '")]


def test_the_steps_are_those_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SMALL_INPUT", 0)
    (tmp_path / "orders.csv").write_text("id,day,form\n4,2024-05-01,%Y\n")
    plan = compile_pipeline(dedent(ORDERS + REPORT).encode(), "p.yaml", Options(tmp_path)).plan
    assert plan
    (output,) = Flows(*_opened(plan)).outputs()
    built = list(_steps(output.frame))[::-1]
    assert len(built) > 5
    assert any("Python adds" in step for step in built)
    assert as_sql(plan).splitlines() == ["-- output 'report'", *built]


def _asks_service(plan: Plan) -> bool:
    return any(isinstance(each, PlannedSource) and each.is_rest for each in plan.nodes.values())


def _opened(plan: Plan) -> tuple[Building, tuple[reading.SourceInput, ...]]:
    identity = identify(None)
    sites = Sites()
    inputs = open_files(plan, identity, sites)
    files = {source.name: [file.name for file in source.files] for source in inputs}
    return Building(plan, SystemValues(plan, identity, files, lambda _: 1), sites, Quiet()), inputs


def _steps(frame: Frame) -> Iterator[str]:
    while True:
        yield frame.sql()
        if not frame.inputs:
            return
        (frame,) = frame.inputs


def test_frames_that_several_read_have_names() -> None:
    plan = planned(
        ORDERS
        + """
      - type: transform
        name: numbers
        input: orders
        config: { cxl: "emit next = id % 7" }
      - type: combine
        name: pairs
        input: { a: numbers, b: orders }
        config:
          where: a.next == b.id
          match: first
          on_miss: null_fields
          propagate_ck: driver
          cxl: "emit id = a.id\\nemit form = b.form"
      - { type: output, name: out, input: pairs, config: { type: csv, path: out.csv } }
        """
    )
    blocks = [block.splitlines() for block in as_sql(plan).split("\n\n")]
    *named, output = blocks
    assert [block[0] for block in named] == [f"-- t{n}" for n in range(1, len(named) + 1)]
    assert named[0][1] == "FROM 'orders'"
    assert output[0] == "-- output 'out'"
    joins = [line for block in blocks for line in block if line.startswith("LEFT JOIN t")]
    assert len(joins) == 1
    for number, block in enumerate(blocks, 1):
        used = {word for line in block[1:] for word in line.split() if word in _names(99)}
        assert used <= _names(number - 1)


def _names(last: int) -> set[str]:
    return {f"t{number}" for number in range(1, last + 1)}


def test_what_only_files_tell_is_said() -> None:
    plan = planned(
        ORDERS.replace("mode: drop", "mode: auto_widen")
        + REPORT.split("- type: agg")[0]
        + "- { type: output, name: out, input: later, config: { type: csv, path: o.csv } }\n"
    )
    note = "-- 'orders' has a column more for each undeclared field of its files"
    assert as_sql(plan).splitlines()[0] == note


def test_texts_of_several_lines_stay_on_one() -> None:
    plan = planned(
        ORDERS
        + """
      - type: transform
        name: lines
        input: orders
        config: { cxl: "emit text = form.concat(\\"a\\\\nb\\")" }
      - { type: output, name: out, input: lines, config: { type: csv, path: out.csv } }
        """
    )
    assert r"a\nb" in as_sql(plan)


def test_no_spark_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(dedent(ORDERS + REPORT))
    check = (
        "import sys; from clinker.cli.clinker import main;"
        f"main(['run', {str(path)!r}, '--explain', 'sql']);"
        "sys.exit('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "-- output 'report'"), done.stderr


def test_the_example_of_the_guide_is_asked_as_it_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/explain.md").read_text("utf-8")
    blocks = dict(re.findall(r"^```text (\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    plan = compile_pipeline(blocks["sql_pipeline"].encode(), "p.yaml", Options(tmp_path)).plan
    assert plan
    assert as_sql(plan) == blocks["sql"]
