"""Outputs that write a file for every value of a field."""

from __future__ import annotations

import pytest

from clinker.engine.writing import collecting, destinations
from clinker.plan.options import Preview
from tests.engine.whole_runs import Workplace

PIPELINE = """
    pipeline: {{ name: p, concurrency: {{ chunk_size: 64 }} }}
    error_handling: {{ strategy: continue, dlq: {{ path: dlq.csv, if_exists: overwrite }} }}
    nodes:
      - type: source
        name: people
        config:
          type: csv
          path: in.csv
          schema: [{{ name: id, type: int }}, {{ name: land, type: string }},
                   {{ name: born, type: date }}, {{ name: score, type: any }}]
      - {{ type: output, name: out, input: people, config: {{ {} }} }}
"""
PEOPLE = """\
id,land,born,score
1,DE,2024-01-15,1
2,../etc,,1.0
x,FR,2024-01-15,
3,,2024-02-29,a
4,DE,2024-01-15,
5,R&D/1,2024-01-15,01
6,.,2024-01-15,1
"""

pytestmark = pytest.mark.usefixtures("either_way")


def pipeline(path: str, more: str = "") -> str:
    return PIPELINE.format(f'type: csv, path: "{path}", exclude: [born, score]{more}')


def written(workplace: Workplace) -> dict[str, list[str]]:
    """The records in each file, without their headers."""
    found = workplace.folder.joinpath("out").rglob("*")
    return {
        str(file.relative_to(workplace.folder / "out")): file.read_text().splitlines()[1:]
        for file in sorted(found)
        if file.is_file()
    }


def test_every_value_has_a_file(workplace: Workplace) -> None:
    workplace.write(in_csv=PEOPLE)
    ran = workplace.run(pipeline("out/{field:land}.csv"))
    assert ran.report
    assert written(workplace) == {
        "DE.csv": ["1,DE", "4,DE"],
        "R~26D~2F1.csv": ["5,R&D/1"],
        "~2E.csv": ["6,."],
        "~2E.~2Fetc.csv": ["2,../etc"],
        "~empty.csv": ["3,"],
    }
    (output,) = ran.report.outputs
    assert (output.records, len(output.paths), ran.report.counts.dlq) == (6, 5, 1)
    assert not [name for name in workplace.files() if name.startswith((".", "out/."))]


def test_values_of_several_fields_make_directories(workplace: Workplace) -> None:
    workplace.write(in_csv=PEOPLE)
    workplace.run(
        pipeline(
            "out/{field:born}/{source_file}{field:score:-:}.csv", ", split: { max_records: 1 }"
        )
    )
    assert written(workplace) == {
        "2024-01-15/in-01_0001.csv": ["5,R&D/1"],
        "2024-01-15/in-1_0001.csv": ["1,DE"],
        "2024-01-15/in-1_0002.csv": ["6,."],
        "2024-01-15/in-~null_0001.csv": ["4,DE"],
        "2024-02-29/in-a_0001.csv": ["3,"],
        "~null/in-1.0_0001.csv": ["2,../etc"],
    }


def test_more_values_than_files_may_be_open(workplace: Workplace) -> None:
    rows = [f"{n},land {n % 150},,\n" for n in range(450)]
    workplace.write(in_csv="id,land,born,score\n" + "".join(rows))
    workplace.run(pipeline("out/{field:land}.csv").replace("chunk_size: 64", "chunk_size: 4096"))
    found = written(workplace)
    assert len(found) == 150
    assert found["land 7.csv"] == ["7,land 7", "157,land 7", "307,land 7"]


def test_too_many_values(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MOST_FILES", 4)
    workplace.write(in_csv=PEOPLE)
    ran = workplace.run(pipeline("out/{field:land}.csv"))
    assert (ran.code, ran.message) == (4, "'out/{field:land}.csv' would be more than 4 files")
    assert workplace.files() == ["in.csv"]


def test_a_file_that_exists(workplace: Workplace) -> None:
    workplace.write(in_csv=PEOPLE)
    (workplace.folder / "out").mkdir()
    (workplace.folder / "out" / "DE.csv").write_text("mine")
    ran = workplace.run(pipeline("out/{field:land}.csv"))
    assert (ran.code, ran.message) == (4, f"'{workplace.folder}/out/DE.csv' exists already")
    assert workplace.files() == ["in.csv", "out/", "out/DE.csv"]
    assert workplace.run(pipeline("out/{field:land}.csv"), force=True).code == 2
    assert written(workplace)["DE.csv"] == ["1,DE", "4,DE"]
    assert workplace.run(pipeline("out/{field:land}.csv", ", if_exists: unique_suffix")).code == 2
    assert written(workplace)["DE-1.csv"] == ["1,DE", "4,DE"]


def test_values_that_a_disk_takes_for_the_same(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(destinations, "ignores_case", lambda path: True)
    workplace.write(in_csv="id,land,born,score\n1,de,,\n2,DE,,\n")
    ran = workplace.run(pipeline("out/{field:land}.csv"))
    message = (
        f"the records of 'DE' and of 'de' would go to one file, '{workplace.folder}/out/de.csv'"
    )
    assert (ran.code, ran.message, ran.codes) == (1, message, ["E322"])


def test_a_value_that_leads_to_the_file_of_another_output(workplace: Workplace) -> None:
    workplace.write(in_csv=PEOPLE)
    other = "- { type: output, name: all, input: people, config: { type: csv, path: out/DE.csv } }"
    ran = workplace.run(pipeline("out/{field:land}.csv") + f"      {other}\n")
    assert (ran.code, ran.codes) == (1, ["E322"])
    assert "outputs 'out' and 'all' would both write" in ran.message
    assert workplace.files() == ["in.csv"]


def test_no_records_make_no_files(workplace: Workplace) -> None:
    workplace.write(in_csv="id,land,born,score\n")
    ran = workplace.run(pipeline("out/{field:land}.csv"))
    assert ran.report
    assert (ran.code, ran.report.outputs[0].paths, workplace.files()) == (0, (), ["in.csv"])


def test_a_preview_shows_the_records_of_all_files(workplace: Workplace) -> None:
    workplace.write(in_csv=PEOPLE)
    ran = workplace.run(pipeline("out/{field:land}.csv"), preview=Preview(3))
    assert ran.report
    assert ran.report.outputs[0].preview == b"id,land\n1,DE\n2,../etc\n"
    assert workplace.files() == ["in.csv"]
