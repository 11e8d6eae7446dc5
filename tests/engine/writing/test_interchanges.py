"""Runs that write interchanges, here or in parts: what was read, and what others made."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from clinker.plan.options import Preview
from tests.engine.whole_runs import Workplace

ROOT = Path(__file__).resolve().parents[3]
HEAD = (
    "ISA*00*          *00*          *ZZ*S              *ZZ*R              "
    "*240101*1200*U*00401*00000000{number}*0*P*:~\n"
    "GS*PO*S*R*20240101*1200*1*X*004010~\n"
)
SETS = "ST*850*0001~\nBEG*00*SA*P{number}~\nSE*3*0001~\n"
TAIL = "GE*1*1~\nIEA*1*00000000{number}~\n"
SOURCE = """\
pipeline: { name: p, concurrency: { chunk_size: 40 } }
nodes:
  - type: source
    name: segments
    config:
      type: x12
      glob: "*.x12"
      envelope:
        sections: { interchange: { extract: { segment: ISA }, fields: { e13: string } } }
      schema: { seg_id: string, set_ref: string, e01: string }
"""
GROUP = "group_header: [PO, S, R, '20240101', '1200', '1', X, '004010']"
AGAIN = f"""\
  - type: output
    name: out
    input: segments
    config:
      type: x12
      path: out/result.x12
      options: {{ interchange_from_doc: interchange, {GROUP} }}
"""


def interchange(number: int) -> str:
    return (HEAD + SETS + TAIL).format(number=number)


@pytest.mark.usefixtures("either_way")
def test_what_was_read_is_written_again(workplace: Workplace) -> None:
    workplace.write(a_x12=interchange(1))
    assert workplace.run(SOURCE + AGAIN).code == 0
    assert workplace.read("out/result.x12") == interchange(1)


@pytest.mark.usefixtures("either_way")
def test_a_file_for_each_input_has_an_envelope_of_its_own(workplace: Workplace) -> None:
    workplace.write(a_x12=interchange(1), b_x12=interchange(2).replace("*", "|"))
    ran = workplace.run(SOURCE + AGAIN.replace("result.x12", "{source_file}.edi"))
    assert (ran.code, ran.warnings) == (0, [])
    assert workplace.read("out/a.edi") == interchange(1)
    assert workplace.read("out/b.edi") == interchange(2).replace("*", "|")


@pytest.mark.usefixtures("either_way")
def test_several_interchanges_become_one(workplace: Workplace) -> None:
    workplace.write(a_x12=interchange(1), b_x12=interchange(2))
    ran = workplace.run(SOURCE + AGAIN)
    sets = SETS.format(number=1) + SETS.format(number=2)
    expected = HEAD.format(number=1) + sets + "GE*2*1~\nIEA*1*000000001~\n"
    assert workplace.read("out/result.x12") == expected
    assert len(ran.warnings) == 1
    assert "result.x12: the records come from several interchanges" in ran.warnings[0]


@pytest.mark.usefixtures("either_way")
def test_delimiters_in_data_stop_the_run(workplace: Workplace) -> None:
    workplace.write(in_csv="seg_id,set_ref,e01\nBEG,1,a\nPO1,1,5*8\n")
    ran = workplace.run(
        f"""
        pipeline: {{ name: p, concurrency: {{ chunk_size: 10 }} }}
        nodes:
          - type: source
            name: rows
            config:
              type: csv
              path: in.csv
              schema: {{ seg_id: string, set_ref: string, e01: string }}
          - type: output
            name: out
            input: rows
            config:
              type: x12
              path: out/result.x12
              options:
                set_type: "850"
                interchange: ["00", "", "00", "", ZZ, S, ZZ, R, "240101", "1200", U, "00401",
                  "000000001", "0", P, ":"]
                {GROUP}
        """
    )
    assert ran.code == 4
    assert ran.message == "'e01' is '5*8', and '*' is a delimiter of the file (record 2)"
    assert ran.codes == ["E063"]
    assert workplace.files() == ["in.csv"]


def test_undeclared_columns_without_a_place_stop_the_run(workplace: Workplace) -> None:
    workplace.write(in_json='{"seg_id": "A", "e01": "1"}\n{"seg_id": "B", "amount": 5}\n')
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: json, path: in.json, schema: { seg_id: string } }
          - type: output
            name: out
            input: rows
            config:
              type: edifact
              path: out/result.edi
              options: { message_type: X, interchange: [UNOA, S, R, D, REF] }
        """
    )
    assert ran.code == 4
    assert ran.message == "an edifact file has no place for the column 'amount' (record 2)"
    assert workplace.files() == ["in.json"]


def test_a_preview_shows_the_interchange(workplace: Workplace) -> None:
    workplace.write(a_x12=interchange(1))
    ran = workplace.run(SOURCE + AGAIN, preview=Preview(records=10))
    assert ran.report
    assert ran.report.outputs[0].preview == interchange(1).encode()


def test_the_example_of_orders(workplace: Workplace) -> None:
    example = ROOT / "src" / "clinker" / "examples" / "edi_orders"
    shutil.copytree(example, workplace.folder, dirs_exist_ok=True)
    assert workplace.run((example / "pipeline.yaml").read_text()).code == 0
    assert workplace.read("output/order_totals.csv") == dedent(
        """\
        order_number,ordered_on,lines,total
        PO-4711,20240115,2,445
        PO-4712,20240115,1,497.5
        """
    )
    assert workplace.read("output/acknowledgements.x12").splitlines()[1:] == [
        "GS*PR*WIDGETCO*ACME*20240115*1000*1*X*004010~",
        "ST*855*0001~",
        "BAK*00*AD*PO-4711*20240115~",
        "CTT*2~",
        "SE*4*0001~",
        "ST*855*0002~",
        "BAK*00*AD*PO-4712*20240115~",
        "CTT*1~",
        "SE*4*0002~",
        "GE*2*1~",
        "IEA*1*000000055~",
    ]
