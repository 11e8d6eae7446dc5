"""Input that cannot be read, or hardly: the run says what is wrong and leaves nothing behind."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from pyspark.errors import PySparkException

from clinker.engine.report.facts import RunError
from clinker.engine.run import run, runs
from clinker.engine.run.observer import Quiet
from clinker.engine.session import SessionSettings
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

from .whole_runs import Workplace

CSV = """
    pipeline: { name: p, concurrency: { chunk_size: 64 } }
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: in.csv
          schema: [{ name: id, type: int }, { name: text, type: string }]
      - { type: output, name: result, input: rows, config: { type: csv, path: out.csv } }
    error_handling: { strategy: continue, dlq: { path: rejected.csv } }
"""
JSON = CSV.replace("csv", "json").replace("rejected.json", "rejected.csv")
PRECIOUS = "from an earlier run"
DEEP = "[" * 1000 + "]" * 1000


@pytest.fixture
def taken(workplace: Workplace) -> Workplace:
    """A place with outputs of an earlier run."""
    workplace.write(out_csv=PRECIOUS, out_json=PRECIOUS, rejected_csv=PRECIOUS)
    return workplace


def is_untouched(workplace: Workplace, *inputs: str) -> bool:
    """Whether there is nothing but the inputs and the outputs of an earlier run."""
    kept = ["out.csv", "out.json", "rejected.csv"]
    return all(workplace.read(file) == PRECIOUS for file in kept) and (
        workplace.files() == sorted([*kept, *inputs])
    )


# Files that cannot be read


@pytest.mark.parametrize(
    ("content", "message", "help"),
    [
        (
            b'id,text\n1,a\n2,"b\n3,c\n',
            'the file ends inside quotes: a cell in row 2 opens with " that is never closed',
            "quote_char",
        ),
        (b"id,text\n1,\x00\x01\x7fELF\n", "there is a NUL character at byte 10", "encoding"),
        (b"id,text\n1,caf\xe9\n", "byte 13 (0xE9) is not UTF-8", "encoding: latin-1"),
        ("id,text\n1,a\n".encode("utf-16"), "the file is UTF-16, not UTF-8", "encoding: utf-16"),
        (b"", "the file is empty", "has_header: false"),
    ],
    ids=["open quote", "binary", "latin-1", "utf-16", "empty"],
)
@pytest.mark.usefixtures("either_way")
def test_a_csv_file_that_is_none(taken: Workplace, content: bytes, message: str, help: str) -> None:
    taken.write(in_csv=content)
    ran = taken.run(CSV, force=True)
    assert ran.code == 4
    assert ran.message.startswith(f"{taken.folder / 'in.csv'}: {message}")
    assert help in ran.help
    assert is_untouched(taken, "in.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1}, {"id": 2}', "line 1, column 22: unexpected end of data"),
        ('[{"id": 1}, 7]', "element 2 of the array is no object but a number"),
        (b'[{"id": 1},\n{"id": 2, "text": "caf\xe9"}]\n', "line 2: byte 0xE9 is not UTF-8"),
        ("id,text\n", "JSON records begin with { or [, found 'i'"),
        (f'[{{"id": 1}},\n{{"x": {DEEP}}}]\n', "record 2 is nested more than 250 levels deep"),
    ],
    ids=["array", "element", "latin-1", "csv", "deep"],
)
@pytest.mark.usefixtures("either_way")
def test_a_json_file_that_is_none(taken: Workplace, content: str | bytes, message: str) -> None:
    taken.write(in_json=content)
    ran = taken.run(JSON, force=True)
    assert (ran.code, ran.message) == (4, f"{taken.folder / 'in.json'}: {message}")
    assert is_untouched(taken, "in.json")


def test_files_that_are_not_there(taken: Workplace) -> None:
    ran = taken.run(CSV, force=True)
    assert (ran.code, ran.codes, ran.message) == (4, ["E216"], "'in.csv' does not exist")
    (taken.folder / "in.csv").mkdir()
    ran = taken.run(CSV, force=True)
    assert (ran.code, ran.codes, ran.message) == (4, ["E216"], "'in.csv' is a directory")
    assert is_untouched(taken, "in.csv/")


def test_a_file_that_nobody_may_read(taken: Workplace) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    taken.write(in_csv="id,text\n1,a\n")
    (taken.folder / "in.csv").chmod(0)
    ran = taken.run(CSV, force=True)
    assert ran.code == 4
    assert ran.message.endswith("in.csv: cannot be read: Permission denied")


# Records that cannot be read


@pytest.mark.usefixtures("either_way")
def test_ragged_rows_are_rejected_one_by_one(workplace: Workplace) -> None:
    workplace.write(in_csv='id,text\n1,a\n2\n3,c,"and\nmore"\n4,d\n\n5,e,\n6,f\n')
    ran = workplace.run(CSV)
    assert (ran.code, workplace.read("out.csv")) == (2, "id,text\n1,a\n4,d\n6,f\n")
    letters = csv.DictReader(io.StringIO(workplace.read("rejected.csv")))
    assert [(x["_cxl_dlq_source_row"], x["_cxl_dlq_error_detail"]) for x in letters] == [
        ("2", "row 2 has 1 cell, expected 2"),
        ("3", "row 3 has 3 cells, expected 2"),
        ("5", "row 5 has 3 cells, expected 2"),
    ]
    assert ran.report
    assert (ran.report.counts.total, ran.report.counts.dlq) == (6, 3)


@pytest.mark.usefixtures("either_way")
def test_lines_that_are_no_records_are_rejected_one_by_one(workplace: Workplace) -> None:
    lines = ['{"id": 1}', '{"id": ', "[]", '{"id": 4, "text": "caf\udce9"}', f'{{"x": {DEEP}}}']
    content = "\n".join([*lines, '{"id": 6}']).encode(errors="surrogateescape")
    workplace.write(in_json=content)
    ran = workplace.run(JSON)
    assert (ran.code, workplace.read("out.json")) == (
        2,
        '[\n{"id":1,"text":""},\n{"id":6,"text":""}\n]\n',
    )
    letters = list(csv.DictReader(io.StringIO(workplace.read("rejected.csv"))))
    assert [
        (
            x["_cxl_dlq_source_row"],
            x["_cxl_dlq_error_category"],
            x["_cxl_dlq_error_detail"],
            x["_cxl_dlq_triggering_value"],
        )
        for x in letters
    ] == [
        (
            "2",
            "type_coercion_failure",
            "row 2 is not JSON: unexpected end of data at column 8",
            '{"id": ',
        ),
        ("3", "type_coercion_failure", "row 3 is no object but an array", "[]"),
        (
            "4",
            "type_coercion_failure",
            "row 4 is not JSON: byte 0xE9 at column 23 is not UTF-8",
            '{"id": 4, "text": "caf\\xe9"}',
        ),
        ("5", "type_coercion_failure", "row 5 is nested more than 250 levels deep", ""),
    ]
    assert ran.report
    assert (ran.report.counts.total, ran.report.counts.dlq) == (6, 4)


@pytest.mark.usefixtures("either_way")
def test_documents_are_counted(workplace: Workplace) -> None:
    workplace.write(in_json='[\n{"id": 1}, {"id": "x"},\n{"id": 3}]')
    ran = workplace.run(JSON)
    assert (ran.code, workplace.read("out.json")) == (
        2,
        '[\n{"id":1,"text":""},\n{"id":3,"text":""}\n]\n',
    )
    assert ran.report
    assert (ran.report.counts.total, ran.report.counts.dlq) == (3, 1)
    assert ran.warnings == [
        "source 'rows' declares column 'text', which its files do not have: null"
    ]


@pytest.mark.usefixtures("either_way")
def test_strange_names(workplace: Workplace) -> None:
    header = 'id,text,ID,a.b,we`ird,"q""x, y",un.declar`d,\n'
    workplace.write(in_csv=header + "1,t,2,3,4,5,6,7\nbad,t,2,3,4,5,6,7\n")
    header = header.replace(",\n", ",col_7\n")
    names = ["ID", "a.b", "we`ird", 'q"x, y']
    columns = "".join(f", {{ name: {json.dumps(name)}, type: int }}" for name in names)
    schema = "{ name: text, type: string }"
    ran = workplace.run(CSV.replace(schema, schema + columns))
    assert (ran.code, workplace.read("out.csv")) == (2, header + "1,t,2,3,4,5,6,7\n")
    [letter] = csv.DictReader(io.StringIO(workplace.read("rejected.csv")))
    assert [letter[name] for name in ("id", *names, "un.declar`d", "col_7")] == [
        "bad",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
    ]


@pytest.mark.usefixtures("either_way")
def test_a_name_that_is_not_utf_8(workplace: Workplace, either_way: str) -> None:
    strange = os.fsencode(workplace.folder) + b"/\xff\nerror: x.csv"
    Path(os.fsdecode(strange)).write_text("id,text\n1,a\n?,b\n")
    ran = workplace.run(CSV.replace("path: in.csv", "glob: '*.csv'"))
    assert ran.code == 2
    assert workplace.read("out.csv") == "id,text\n1,a\n"
    (entry,) = csv.DictReader(io.StringIO(workplace.read("rejected.csv")))
    assert entry["_cxl_dlq_source_file"] == "\\xff\nerror: x.csv"


def test_a_name_cannot_forge_a_message(workplace: Workplace) -> None:
    (workplace.folder / "in\nerror: x.csv").write_bytes(b"id,text\n1,\xff\n")
    ran = workplace.run(CSV.replace("path: in.csv", "glob: '*.csv'"))
    assert (ran.code, "\n" in ran.message) == (4, False)
    assert ran.message.endswith("in\\nerror: x.csv: byte 10 (0xFF) is not UTF-8")


def test_quoted_newlines_across_the_borders_of_splits(workplace: Workplace) -> None:
    cells = [f'"line one of {n}\nline, ""two""\r\n{"x" * (n % 40)}"' for n in range(24)]
    content = "id,text\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells))
    workplace.write(in_csv=content)
    ran = workplace.run(CSV)
    assert (ran.code, workplace.read("out.csv")) == (0, content)


@pytest.mark.usefixtures("either_way")
def test_a_very_large_cell(workplace: Workplace) -> None:
    cell = "naïve, " * (10 * 2**20 // 8)
    workplace.write(
        in_csv=f'id,text\n1,"{cell}"\n2,b\n',
        in_json=f'{{"id": 1, "text": "{cell}"}}\n{{"id": 2, "text": "b"}}\n',
    )
    ran = workplace.run(CSV)
    assert ran.code == 0
    assert workplace.read("out.csv") == f'id,text\n1,"{cell}"\n2,b\n'
    ran = workplace.run(JSON)
    assert ran.code == 0
    assert workplace.read("out.json") == (
        f'[\n{{"id":1,"text":"{cell}"}},\n{{"id":2,"text":"b"}}\n]\n'
    )


@pytest.mark.usefixtures("either_way")
def test_no_records(workplace: Workplace) -> None:
    workplace.write(in_csv="id,text\n", a_json="[]", b_json="", c_json="\n\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config:
              type: csv
              path: in.csv
              schema: [{ name: id, type: int }, { name: text, type: string }]
          - type: source
            name: objects
            config: { type: json, glob: "?.json", schema: [{ name: id, type: int }] }
          - { type: output, name: csv, input: rows, config: { type: csv, path: o/a.csv } }
          - { type: output, name: json, input: rows, config: { type: json, path: o/a.json } }
          - type: output
            name: lines
            input: rows
            config: { type: json, path: o/a.ndjson, options: { format: ndjson } }
          - { type: output, name: bare, input: objects, config: { type: csv, path: o/b.csv } }
        """
    )
    assert ran.code == 0
    assert {file.name: file.read_text() for file in (workplace.folder / "o").iterdir()} == {
        "a.csv": "id,text\n",
        "a.json": "[]\n",
        "a.ndjson": "",
        "b.csv": "id\n",
    }


# Disks that are full


@pytest.fixture
def tiny_disk(workplace: Workplace) -> Iterator[Path]:
    """A directory `disk` with room for one megabyte."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    place = workplace.folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("id_", ["7", "x7"], ids=["output", "dead letters"])
def test_a_full_disk(workplace: Workplace, tiny_disk: Path, id_: str) -> None:
    (tiny_disk / "out.csv").write_text(PRECIOUS)
    workplace.write(in_csv="id,text\n" + f"{id_},{'x' * 500}\n" * 4000)
    pipeline = CSV.replace("chunk_size: 64", "chunk_size: 200000")
    pipeline = pipeline.replace("path: out.csv", "path: disk/out.csv")
    ran = workplace.run(pipeline.replace("path: rejected.csv", "path: disk/x.csv"), force=True)
    assert ran.code == 4
    assert ran.message.startswith(f"cannot write {tiny_disk}")
    assert ran.message.endswith("No space left on device")
    assert workplace.files() == ["disk/", "disk/out.csv", "in.csv"]
    assert (tiny_disk / "out.csv").read_text() == PRECIOUS


@pytest.mark.usefixtures("either_way")
def test_a_file_where_a_directory_should_be(workplace: Workplace) -> None:
    workplace.write(in_csv="id,text\n1,a\n")
    ran = workplace.run(CSV.replace("path: out.csv", "path: in.csv/out.csv"))
    file = workplace.folder / "in.csv"
    assert ran.message == f"cannot write {file}/out.csv: {file} is no directory"
    assert (ran.code, workplace.files()) == (4, ["in.csv"])


# Spark


def test_an_error_is_read_while_spark_is_there(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Spark has to say about a failure is gone together with its process."""
    is_open = True

    class Problem(PySparkException):
        def __str__(self) -> str:
            assert is_open
            return "out of luck"

    @contextmanager
    def session(*_: object) -> Iterator[None]:
        nonlocal is_open
        try:
            yield
        finally:
            is_open = False

    def fails(*_: object) -> None:
        raise Problem("")

    monkeypatch.setattr(runs, "start_jvm", lambda _: None)
    monkeypatch.setattr(runs, "open_session", session)
    monkeypatch.setattr(run, "_complete", fails)
    workplace.write(in_csv="id,text\n1,a\n")
    compiled = compile_pipeline(dedent(CSV).encode(), "p.yaml", Options(workplace.folder))
    assert compiled.plan
    with pytest.raises(RunError, match="Spark failed: out of luck"):
        run.run(compiled.plan, SessionSettings(), Quiet())
    assert not is_open
