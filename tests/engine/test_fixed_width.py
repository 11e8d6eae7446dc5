"""Fixed-width files through whole runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clinker.engine.report.facts import RunError
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

from .whole_runs import Workplace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "src" / "clinker" / "examples" / "mainframe_extract"

PIPELINE = """
    pipeline: { name: p, concurrency: { chunk_size: 64 } }
    nodes:
      - type: source
        name: people
        config:
          type: fixed_width
          path: in.dat
          on_unmapped: drop
          format_schema:
            fields: [{ name: id, width: 5, pad: "0" }, { name: name, width: 8 }]
          schema: { id: int, name: string }
      - type: output
        name: result
        input: people
        config:
          type: fixed_width
          path: out.dat
          schema:
            fields: [{ name: name, width: 4 }, { name: id, width: WIDTH, pad: "0" }]
"""
LINES = b"".join(b"%05d%-8s\n" % (number, b"n%d" % (number * 1000)) for number in range(1, 41))


@pytest.mark.usefixtures("either_way")
def test_values_that_were_cut_are_counted(workplace: Workplace) -> None:
    workplace.write(in_dat=LINES)
    ran = workplace.run(PIPELINE.replace("WIDTH", "3"))
    assert ran.code == 0
    assert workplace.read("out.dat").startswith("n100001\nn200002\n")
    cut = "output 'result': values of 'name' were cut to the 4 bytes of their field"
    assert ran.warnings == [f"{cut} (in 40 records)"]


@pytest.mark.usefixtures("either_way")
def test_a_number_that_has_no_room_ends_the_run(workplace: Workplace) -> None:
    workplace.write(in_dat=LINES)
    ran = workplace.run(PIPELINE.replace("WIDTH", "1"))
    assert (ran.code, ran.codes) == (4, ["E061"])
    assert ran.message == "'10' in column 'id' has 2 bytes, and its field 1 (record 10)"
    assert workplace.files() == ["in.dat"]


def test_the_mainframe_example(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    text = (folder / "pipeline.yaml").read_bytes()
    compiled = compile_pipeline(text, "pipeline.yaml", Options(folder))
    assert compiled.plan and not compiled.diagnostics
    assert run_in(compiled.plan, session, Quiet()).exit_code == 2
    output = folder / "output"
    assert (output / "payments.csv").read_text() == (
        "account,payee,paid_on,amount,urgent\n"
        "0000004711,Müller & Sohn,2024-01-30,123.45,true\n"
        "0000000815,Ann Smith,2024-01-31,2500,false\n"
    )
    assert (output / "bank.txt").read_bytes() == (
        b"000000004711M\xfcller & S30012400000012345Y\r\n"
        b"000000000815Ann Smith 31012400000250000N\r\n"
    )
    assert (output / "totals.json").read_text() == '[\n{"payments":3,"total":2624.45}\n]\n'
    assert (
        "cannot convert '20240231' in column 'paid_on' to date"
        in (output / "rejected.csv").read_text()
    )


def test_an_extract_without_its_trailer_is_refused(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    data = folder / "payments.dat"
    data.write_bytes(data.read_bytes()[:-44])
    compiled = compile_pipeline(
        (folder / "pipeline.yaml").read_bytes(), "pipeline.yaml", Options(folder)
    )
    assert compiled.plan
    with pytest.raises(RunError, match="expected 1 record of type 'trailer', found 0") as refused:
        run_in(compiled.plan, session, Quiet())
    assert refused.value.exit_code == 4
