"""What runs write: which columns, in which form and order, and to which files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clinker.plan.options import Preview
from tests.engine.whole_runs import Workplace

SOURCE = """
    pipeline: { name: p, concurrency: { chunk_size: 40 } }
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: in.csv
          schema:
            - { name: id, type: int }
            - { name: name, type: string }
            - { name: price, type: float }
            - { name: day, type: date }
            - { name: extra, type: string }
"""
ROWS = """\
id,name,price,day,extra
1,bolt,2.5,2024-01-15,x
2,"nut, M8",,2024-01-14,
3,gear,10,,"""

pytestmark = pytest.mark.usefixtures("either_way")


def outputs(**configs: str) -> str:
    """A pipeline whose outputs, all of one node, have these configurations."""
    return SOURCE + "".join(
        f"      - {{ type: output, name: {name}, input: rows, config: {{ {config} }} }}\n"
        for name, config in configs.items()
    )


# Columns and form


def test_columns_and_their_form(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(
        outputs(
            plain="type: csv, path: plain.csv",
            named="type: csv, path: named.csv, mapping: { No: id, Day: day }, "
            "exclude: [price, extra]",
            bare="type: csv, path: bare.csv, include_header: false, options: { delimiter: ';' }, "
            "exclude: [name]",
            nulls="type: json, path: nulls.json, preserve_nulls: true, exclude: [extra, day]",
            texts="type: json, path: texts.json, exclude: [name, id]",
            lines="type: json, path: lines.json, options: { format: ndjson }, exclude: [name]",
            pretty="type: json, path: pretty.json, options: { pretty: true }, "
            "exclude: [name, price, day, extra]",
            hidden="type: csv, path: hidden.csv, mapping: { More: extra }, "
            "exclude: [name, price, day]",
        )
    )
    assert ran.code == 0
    assert workplace.read("plain.csv") == (
        'id,name,price,day,extra\n1,bolt,2.5,2024-01-15,x\n2,"nut, M8",,2024-01-14,\n3,gear,10,,\n'
    )
    assert workplace.read("named.csv") == (
        'No,name,Day\n1,bolt,2024-01-15\n2,"nut, M8",2024-01-14\n3,gear,\n'
    )
    assert workplace.read("bare.csv") == "1;2.5;2024-01-15;x\n2;;2024-01-14;\n3;10;;\n"
    assert workplace.read("nulls.json") == (
        '[\n{"id":1,"name":"bolt","price":2.5},\n{"id":2,"name":"nut, M8","price":null},\n'
        '{"id":3,"name":"gear","price":10.0}\n]\n'
    )
    assert workplace.read("texts.json") == (
        '[\n{"price":2.5,"day":"2024-01-15","extra":"x"},\n'
        '{"price":"","day":"2024-01-14","extra":""},\n{"price":10.0,"day":"","extra":""}\n]\n'
    )
    assert workplace.read("lines.json") == (
        '{"id":1,"price":2.5,"day":"2024-01-15","extra":"x"}\n'
        '{"id":2,"price":"","day":"2024-01-14","extra":""}\n'
        '{"id":3,"price":10.0,"day":"","extra":""}\n'
    )
    assert workplace.read("pretty.json") == (
        '[\n{\n  "id": 1\n},\n{\n  "id": 2\n},\n{\n  "id": 3\n}\n]\n'
    )
    assert workplace.read("hidden.csv") == "id,More\n1,x\n2,\n3,\n"
    assert len(workplace.files()) == 1 + 8
    assert ran.report
    assert (ran.report.counts.total, ran.report.counts.written) == (3, 24)


def test_emitted_columns_only(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(
        SOURCE
        + """
      - type: transform
        name: sized
        input: rows
        config:
          cxl: |
            emit size = name.length()
            emit name = name.upper()
            emit meta kind = if price > 5.0 then "dear" else "cheap"
            emit meta row = $source.row
      - type: output
        name: a
        input: sized
        config: { type: csv, path: a.csv, include_unmapped: false }
      - type: output
        name: b
        input: sized
        config: { type: csv, path: b.csv, exclude: [day, extra] }
      - type: output
        name: c
        input: sized
        config: { type: csv, path: c.csv, include_unmapped: false, include_metadata: all }
      - type: output
        name: d
        input: sized
        config: { type: json, path: d.json, include_unmapped: false, include_metadata: [kind] }
    """
    )
    assert ran.code == 0
    assert workplace.read("a.csv") == 'size,name\n4,BOLT\n7,"NUT, M8"\n4,GEAR\n'
    assert workplace.read("b.csv") == (
        'id,name,price,size\n1,BOLT,2.5,4\n2,"NUT, M8",,7\n3,GEAR,10,4\n'
    )
    assert workplace.read("c.csv") == (
        'size,name,meta.kind,meta.row\n4,BOLT,cheap,1\n7,"NUT, M8",cheap,2\n4,GEAR,dear,3\n'
    )
    assert json.loads(workplace.read("d.json"))[2] == {
        "size": 4,
        "name": "GEAR",
        "meta.kind": "dear",
    }


def test_records_without_columns(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    every = "exclude: [id, name, price, day, extra]"
    ran = workplace.run(
        outputs(
            a=f"type: json, path: a.json, {every}",
            b=f"type: csv, path: b.csv, include_header: false, {every}",
        )
    )
    assert (ran.code, workplace.read("a.json")) == (0, "[\n{},\n{},\n{}\n]\n")
    assert workplace.read("b.csv") == "\n\n\n"
    assert ran.report
    assert ran.report.counts.written == 6


def test_undeclared_columns(workplace: Workplace) -> None:
    (workplace.folder / "one.csv").write_text("id,b,c\n1,001,x\n2,,y\n")
    (workplace.folder / "two.csv").write_text("a,id,b\n7,3,true\n,4,\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: csv, glob: "*.csv", schema: [{ name: id, type: int }] }
          - { type: transform, name: own, input: rows, config: { cxl: "emit c = id * 2" } }
          - { type: output, name: x, input: rows, config: { type: csv, path: o/x.csv } }
          - { type: output, name: y, input: own, config: { type: csv, path: o/y.csv } }
          - { type: output, name: z, input: rows, config: { type: json, path: o/z.json } }
          - type: output
            name: w
            input: own
            config: { type: csv, path: o/w.csv, include_unmapped: false }
        """
    )
    assert ran.code == 0
    assert workplace.read("o/x.csv") == "id,b,c,a\n1,001,x,\n2,,y,\n3,true,,7\n4,,,\n"
    assert workplace.read("o/y.csv") == "id,c,b,a\n1,2,001,\n2,4,,\n3,6,true,7\n4,8,,\n"
    assert json.loads(workplace.read("o/z.json"))[2] == {"id": 3, "b": "true", "c": "", "a": "7"}
    assert workplace.read("o/w.csv") == "c\n2\n4\n6\n8\n"


def test_undeclared_columns_have_names_too(workplace: Workplace) -> None:
    (workplace.folder / "one.csv").write_text("id,b,c\n1,x,y\n")
    (workplace.folder / "two.csv").write_text("a,id,c\nu,2,z\n")
    workplace.write(in_json='{"id": 1, "b": "x", "c": "y"}\n{"id": 2, "a": "u", "c": "z"}\n')
    chosen = "mapping: { B: b, Again: b, N: id, Own: own }, exclude: [c, nowhere]"
    ran = workplace.run(
        f"""
        pipeline: {{ name: p }}
        nodes:
          - type: source
            name: rows
            config: {{ type: csv, glob: "???.csv", schema: [{{ name: id, type: int }}] }}
          - type: source
            name: objects
            config: {{ type: json, path: in.json, schema: [{{ name: id, type: int }}] }}
          - {{ type: transform, name: own, input: objects, config: {{ cxl: "emit own = 0" }} }}
          - {{ type: transform, name: a, input: own, config: {{ cxl: "emit a = id" }} }}
          - {{ type: transform, name: r, input: rows, config: {{ cxl: "emit own = 0" }} }}
          - {{ type: output, name: x, input: r, config: {{ type: csv, path: x.csv, {chosen} }} }}
          - type: output
            name: y
            input: own
            config: {{ type: csv, path: y.csv, {chosen} }}
          - type: output
            name: z
            input: own
            config: {{ type: json, path: z.json, {chosen} }}
          - type: output
            name: w
            input: a
            config: {{ type: json, path: w.json, mapping: {{ A: a, own: id }}, exclude: [own] }}
        """
    )
    assert ran.code == 0
    assert workplace.read("x.csv") == "N,Own,B,Again,a\n1,0,x,x,\n2,0,,,u\n"
    assert workplace.read("y.csv") == "N,Own,B,Again,a\n1,0,x,x,\n2,0,,,u\n"
    assert json.loads(workplace.read("z.json")) == [
        {"N": 1, "Own": 0, "B": "x", "Again": "x"},
        {"N": 2, "Own": 0, "a": "u"},
    ]
    # What a transform emits hides an undeclared field, under whichever name it is written.
    assert json.loads(workplace.read("w.json")) == [
        {"own": 1, "A": 1, "b": "x", "c": "y"},
        {"own": 2, "A": 2, "c": "z"},
    ]


def test_undeclared_fields_of_objects(workplace: Workplace) -> None:
    records = [
        {"id": 1, "b": 2.0, "a": [1, "x"]},
        {"id": 2},
        {"id": 0, "lost": 1},
        {"id": 3, "c": True, "a": None, "s": "é, \n"},
        *({"id": n, "b": n} for n in range(4, 9)),
    ]
    workplace.write(in_json="".join(json.dumps(record) + "\n" for record in records))
    ran = workplace.run(
        """
        pipeline: { name: p, concurrency: { chunk_size: 40 } }
        nodes:
          - type: source
            name: rows
            config: { type: json, path: in.json, schema: [{ name: id, type: int }] }
          - { type: transform, name: good, input: rows, config: { cxl: "emit one = id / id" } }
          - { type: transform, name: own, input: good, config: { cxl: "emit c = id * 2" } }
          - type: output
            name: a
            input: good
            config: { type: csv, path: a.csv, exclude: [one] }
          - type: output
            name: b
            input: good
            config: { type: json, path: b.json, exclude: [one], options: { format: ndjson } }
          - type: output
            name: c
            input: own
            config:
              type: csv
              path: c.csv
              exclude: [one]
              sort_order: [{ field: id, order: desc }]
        error_handling: { strategy: continue }
        """
    )
    assert ran.code == 2
    assert workplace.read("a.csv") == (
        'id,b,a,c,s\n1,2.0,"[1,""x""]",,\n2,,,,\n3,,,true,"é, \n"\n4,4,,,\n5,5,,,\n6,6,,,\n'
        "7,7,,,\n8,8,,,\n"
    )
    assert workplace.read("b.json").splitlines()[:3] == [
        '{"id":1,"b":2.0,"a":[1,"x"]}',
        '{"id":2}',
        '{"id":3,"c":true,"a":"","s":"é, \\n"}',
    ]
    assert workplace.read("c.csv").splitlines()[:3] == ["id,c,b,a,s", "8,16,8,,", "7,14,7,,"]


def test_a_refusal_names_the_output_and_shows_the_way_out(workplace: Workplace) -> None:
    workplace.write(in_csv="a\nx\ny\x01z\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: csv, path: in.csv, schema: { a: string } }
          - { type: output, name: feed, input: rows, config: { type: xml, path: a.xml } }
        """
    )
    assert ran.code == 4
    assert ran.message == (
        "output 'feed': 'y\\x01z' in column 'a' has a character that XML cannot hold (record 2)"
    )
    assert ran.help == "remove it in a transform, or write another format"


def test_a_map_does_not_fit_into_a_cell(workplace: Workplace) -> None:
    workplace.write(in_json='{"id": 1}\n{"id": 2, "more": {"x": 1}}\n')
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: json, path: in.json, schema: [{ name: id, type: int }] }
          - { type: output, name: a, input: rows, config: { type: csv, path: out/a.csv } }
        """
    )
    assert ran.code == 4
    assert ran.message == "csv files cannot hold 'more', which is a Map (record 2)"
    assert ran.help == "exclude it, emit the parts of it that are needed, or write JSON"
    assert ran.codes == ["E078"]
    assert workplace.files() == ["in.json"]


# Order


def test_sorted_outputs(workplace: Workplace) -> None:
    values = ["5", "", "-1", "5", "", "20", "5"]
    rows = "".join(f"{n},{'ab'[n % 2]},{v},,\n" for n, v in enumerate(values))
    workplace.write(in_csv="id,name,price,day,extra\n" + rows)

    def by(order: str, nulls: str) -> str:
        key = f"{{ field: price, order: {order}, null_order: {nulls} }}"
        columns = "exclude: [name, day, price, extra]"
        return f"type: csv, path: {order}-{nulls}.csv, sort_order: [{key}], {columns}"

    ran = workplace.run(
        outputs(
            a=by("asc", "first"),
            b=by("asc", "last"),
            c=by("asc", "drop"),
            d=by("desc", "first"),
            e=by("desc", "last"),
            f=by("desc", "drop"),
            g="type: csv, path: two.csv, exclude: [day, price, extra], "
            "sort_order: [name, { field: id, order: desc }]",
        )
    )
    assert ran.code == 0
    found = {file.stem: file.read_text().split()[1:] for file in workplace.folder.glob("*-*.csv")}
    assert found == {
        "asc-first": list("1420365"),
        "asc-last": list("2036514"),
        "asc-drop": list("20365"),
        "desc-first": list("1450362"),
        "desc-last": list("5036214"),
        "desc-drop": list("50362"),
    }
    assert workplace.read("two.csv").split()[1:] == [
        "6,a",
        "4,a",
        "2,a",
        "0,a",
        "5,b",
        "3,b",
        "1,b",
    ]


# Files


def test_split_outputs(workplace: Workplace) -> None:
    rows = "".join(f"{n},{'aaabbcdddd'[n]},,,\n" for n in range(10))
    workplace.write(in_csv="id,name,price,day,extra\n" + rows)
    some = "exclude: [price, day, extra]"
    ran = workplace.run(
        outputs(
            a=f"type: csv, path: o/a.csv, {some}, split: {{ max_records: 4 }}",
            b=f"type: csv, path: o/b.csv, {some}, "
            "split: { max_bytes: 20, naming: 'b-{seq}.{ext}' }",
            c=f"type: csv, path: o/c.csv, {some}, split: {{ max_records: 3, group_key: name }}",
            d="type: json, path: o/d.json, exclude: [name, price, day, extra], "
            "split: { max_records: 6 }",
            e=f"type: csv, path: o/e.csv, {some}, write_meta: true, "
            "split: { max_records: 6, repeat_header: false }",
        )
    )
    assert ran.code == 0
    found = {
        file.name: file.read_text().replace("\n", " ").strip()
        for file in sorted((workplace.folder / "o").iterdir())
        if file.suffix != ".json" or file.name.startswith("d")
    }
    assert found == {
        "a_0001.csv": "id,name 0,a 1,a 2,a 3,b",
        "a_0002.csv": "id,name 4,b 5,c 6,d 7,d",
        "a_0003.csv": "id,name 8,d 9,d",
        "b-1.csv": "id,name 0,a 1,a 2,a",
        "b-2.csv": "id,name 3,b 4,b 5,c",
        "b-3.csv": "id,name 6,d 7,d 8,d",
        "b-4.csv": "id,name 9,d",
        "c_0001.csv": "id,name 0,a 1,a 2,a",
        "c_0002.csv": "id,name 3,b 4,b 5,c",
        "c_0003.csv": "id,name 6,d 7,d 8,d 9,d",
        "d_0001.json": '[ {"id":0}, {"id":1}, {"id":2}, {"id":3}, {"id":4}, {"id":5} ]',
        "d_0002.json": '[ {"id":6}, {"id":7}, {"id":8}, {"id":9} ]',
        "e_0001.csv": "id,name 0,a 1,a 2,a 3,b 4,b 5,c",
        "e_0002.csv": "6,d 7,d 8,d 9,d",
    }
    meta = json.loads(workplace.read("o/e_0002.csv.meta.json"))
    assert (meta["record_count"], meta["bytes_written"]) == (4, 16)
    place = workplace.folder / "o"
    large = 'the group "d" has 4 records and 16 bytes, more than a file may have'
    assert ran.warnings == [f"{place}/c.csv: {large}"]
    # The files of the first run are in the way of the next.
    again = workplace.run(outputs(a="type: csv, path: o/a.csv, split: { max_records: 4 }"))
    assert again.code == 4
    assert again.message == f"'{workplace.folder}/o/a_0001.csv' exists already"
    strict = "split: { max_records: 3, group_key: name, oversize_group: error }"
    again = workplace.run(outputs(z=f"type: csv, path: o/z.csv, {strict}"))
    assert again.code == 4
    assert again.message.startswith(f'{place}/z.csv: the group "d" has 4 records')
    assert not list(workplace.folder.glob("o/*z*"))


def test_existing_outputs(workplace: Workplace) -> None:
    workplace.write(a_csv="old", b_csv="old", c_csv="old")
    (workplace.folder / "c-01.csv").write_text("older")
    pipeline = outputs(
        a="type: csv, path: a.csv, write_meta: true",
        b="type: csv, path: b.csv, if_exists: overwrite",
        c="type: csv, path: c.csv, if_exists: unique_suffix, unique_suffix_width: 2",
    )
    # Nothing is read: there is no input yet.
    ran = workplace.run(pipeline)
    assert (ran.code, ran.message) == (4, f"'{workplace.folder / 'a.csv'}' exists already")
    assert "--force" in ran.help
    assert workplace.files() == ["a.csv", "b.csv", "c-01.csv", "c.csv"]
    workplace.write(in_csv=ROWS)
    (workplace.folder / "b.csv").chmod(0o600)
    ran = workplace.run(pipeline, force=True)
    assert ran.code == 0
    assert workplace.files() == [
        "a.csv",
        "a.csv.meta.json",
        "b.csv",
        "c-01.csv",
        "c-02.csv",
        "c.csv",
        "in.csv",
    ]
    kept = [workplace.read(file) for file in ("c.csv", "c-01.csv")]
    assert kept == ["old", "older"]
    written = {workplace.read(file) for file in ("a.csv", "b.csv", "c-02.csv")}
    assert len(written) == 1
    assert written.pop().startswith("id,name,price,day,extra\n1,")
    assert (workplace.folder / "b.csv").stat().st_mode & 0o777 == 0o600
    assert ran.report
    assert [path.name for o in ran.report.outputs for path in o.paths] == [
        "a.csv",
        "b.csv",
        "c-02.csv",
    ]
    meta = json.loads(workplace.read("a.csv.meta.json"))
    assert (meta["record_count"], meta["output"]) == (3, "a")
    assert meta["bytes_written"] == (workplace.folder / "a.csv").stat().st_size


def test_paths_with_tokens(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(
        outputs(
            a="type: csv, path: 'new/{source_name}/{batch_id}{channel:-:}.csv'",
            b="type: csv, path: 't/{timestamp}_{pipeline_hash}.csv'",
            c="type: csv, path: 'e/{execution_id}.csv'",
        ),
        batch_id="night/7",
    )
    assert ran.code == 0
    assert ran.report
    paths = [
        Path(str(path)).relative_to(workplace.folder).as_posix()
        for o in ran.report.outputs
        for path in o.paths
    ]
    assert paths[0] == "new/in/night_7.csv"
    assert re.fullmatch(r"t/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ_[0-9a-f]{8}\.csv", paths[1])
    assert paths[2] == f"e/{ran.report.execution_id}.csv"
    assert workplace.files() == sorted(["in.csv", "new/", "new/in/", "t/", "e/", *paths])


PER_FILE = """
    pipeline: {{ name: p, concurrency: {{ chunk_size: 12 }} }}
    nodes:
      - type: source
        name: rows
        config: {{ type: csv, glob: "in/*.csv", schema: [{{ name: id, type: int }}] }}
      - type: transform
        name: odd
        input: rows
        config: {{ cxl: "filter id % 2 == 1" }}
      - type: output
        name: by_file
        input: odd
        config: {{ type: csv, path: "out/{{source_file}}.csv", if_exists: {} }}
"""


def test_an_output_for_each_input_file(workplace: Workplace) -> None:
    (workplace.folder / "in").mkdir()
    contents = {"b": [1, 2, 3, 5], "a": [7, 9, 11, 12, 13], "even": [2, 4], "none": []}
    for name, ids in contents.items():
        text = "id\n" + "".join(f"{n}\n" for n in ids)
        (workplace.folder / "in" / f"{name}.csv").write_text(text)
    ran = workplace.run(PER_FILE.format("error"))
    assert ran.code == 0
    found = {file.name: file.read_text().split() for file in workplace.folder.glob("out/*")}
    assert found == {
        "a.csv": ["id", "7", "9", "11", "13"],
        "b.csv": ["id", "1", "3", "5"],
        "even.csv": ["id"],
        "none.csv": ["id"],
    }
    ran = workplace.run(PER_FILE.format("error"))
    assert (ran.code, ran.message) == (4, f"'{workplace.folder}/out/a.csv' exists already")
    ran = workplace.run(PER_FILE.format("unique_suffix"))
    assert (ran.code, workplace.read("out/b-1.csv")) == (0, "id\n1\n3\n5\n")


@pytest.mark.parametrize(
    ("files", "path", "message", "help_"),
    [
        (
            ["in/a/x.csv", "in/b/y.csv", "in/b/x.csv"],
            "out/{source_file}.csv",
            "the records of 'in/a/x.csv' and 'in/b/x.csv' would go to one file, '{}/out/x.csv'",
            "use {source_path} instead of {source_file}: it has the directories as well",
        ),
        (
            ["in/x.csv", "in/x.txt"],
            "out/{source_path}.csv",
            "the records of 'in/x.csv' and 'in/x.txt' would go to one file, '{}/out/in/x.csv'",
            "give the input files different names, or write them with outputs of their own",
        ),
        (
            ["in/a/other.csv"],
            "out/{source_file}.csv",
            "outputs 'by_file' and 'every' would both write '{}/out/other.csv'",
            "give each of them a path of its own",
        ),
    ],
)
def test_input_files_that_share_an_output(
    workplace: Workplace, files: list[str], path: str, message: str, help_: str
) -> None:
    for name in files:
        (workplace.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (workplace.folder / name).write_text("id\n1\n")
    text = (
        PER_FILE.format("error").replace("in/*.csv", "in/**").replace("out/{source_file}.csv", path)
    )
    text += """
      - type: output
        name: every
        input: odd
        config: { type: csv, path: out/other.csv }
    """
    ran = workplace.run(text)
    assert (ran.code, ran.message) == (1, message.replace("{}", str(workplace.folder)))
    assert (ran.codes, ran.help) == (["E322"], help_)
    counted = text.replace("if_exists: error", "if_exists: unique_suffix")
    ran = workplace.run(counted.replace("other.csv }", "other.csv, if_exists: unique_suffix }"))
    assert ran.code == 0


def test_groups_come_from_no_single_file(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(
        SOURCE
        + """
      - { type: aggregate, name: counted, input: rows, config: { cxl: "emit n = count(*)" } }
      - type: output
        name: out
        input: counted
        config: { type: csv, path: "o-{source_file}.csv" }
    """
    )
    assert (ran.code, workplace.files()) == (0, ["in.csv", "o-merged.csv"])
    assert workplace.read("o-merged.csv") == "n\n3\n"


# Where records come from


def test_records_are_told_apart_by_a_path_into_a_field(workplace: Workplace) -> None:
    workplace.write(
        in_json='{"id": 1, "a": {"b": [1], "c": 1}}\n{"id": 2, "a": {"b": [1.0], "c": 2}}\n'
        '{"id": 3, "a": {"b": 1}}\n{"id": 4, "a": 5}\n{"id": 5, "a": null}\n'
    )
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - { type: source, name: s, config: { type: json, path: in.json, schema: SCHEMA } }
          - { type: transform, name: t, input: s, config: { cxl: distinct by a.b emit id = id } }
          - type: output
            name: out
            input: t
            config: { type: csv, path: out.csv, include_unmapped: false }
        """.replace("SCHEMA", "{ id: int, a: any }")
    )
    # What is no map has nothing inside, and null counts as a value.
    assert (ran.code, workplace.read("out.csv")) == (0, "id\n1\n3\n4\n")


def test_routes_merges_and_diamonds(workplace: Workplace) -> None:
    rows = "".join(f"{n},{'x' * (n % 3)},{n}.5,,\n" for n in range(8))
    workplace.write(in_csv="id,name,price,day,extra\n" + rows)
    ran = workplace.run(
        SOURCE
        + """
      - type: route
        name: one
        input: rows
        config: { conditions: { low: "id < 3", odd: "id % 2 == 1" }, default: rest }
      - type: route
        name: many
        input: rows
        config:
          mode: inclusive
          conditions: { low: "id < 3", odd: "id % 2 == 1" }
          default: rest
      - { type: transform, name: marked, input: one.low, config: { cxl: 'emit name = "low"' } }
      - { type: merge, name: joined, inputs: [one.odd, marked, many.rest] }
      - { type: merge, name: turns, inputs: [one.odd, marked], config: { mode: interleave } }
      - { type: output, name: a, input: one.low, config: { type: csv, path: a.csv } }
      - { type: output, name: b, input: one.odd, config: { type: csv, path: b.csv } }
      - { type: output, name: c, input: one.rest, config: { type: csv, path: c.csv } }
      - { type: output, name: d, input: many.low, config: { type: csv, path: d.csv } }
      - { type: output, name: e, input: many.odd, config: { type: csv, path: e.csv } }
      - { type: output, name: f, input: many.rest, config: { type: csv, path: f.csv } }
      - { type: output, name: g, input: joined, config: { type: csv, path: g.csv } }
      - { type: output, name: h, input: turns, config: { type: csv, path: h.csv } }
      - { type: output, name: i, input: rows, config: { type: csv, path: i.csv } }
    """
    )
    assert ran.code == 0
    ids = {
        name: "".join(line.split(",")[0] for line in workplace.read(f"{name}.csv").split()[1:])
        for name in "abcdefghi"
    }
    assert ids == {
        "a": "012",
        "b": "357",
        "c": "46",
        "d": "012",
        "e": "1357",
        "f": "46",
        "g": "35701246",
        "h": "305172",
        "i": "01234567",
    }
    assert "0,low,0.5,,\n" in workplace.read("g.csv")
    assert ran.report
    assert ran.report.counts.written == sum(map(len, ids.values()))


def test_outputs_inside_a_composition(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS)
    (workplace.folder / "copy.comp.yaml").write_text(
        """
_compose:
  name: copy
  inputs: { given: { schema: [{ name: id, type: int }] } }
  outputs: { same: kept }
nodes:
  - { type: transform, name: kept, input: given, config: { cxl: "emit id = id" } }
  - { type: output, name: aside, input: kept, config: { type: csv, path: aside.csv } }
"""
    )
    ran = workplace.run(
        SOURCE
        + """
      - { type: composition, name: call, input: rows, use: copy.comp.yaml, inputs: { given: rows } }
      - { type: output, name: out, input: call, config: { type: csv, path: out.csv } }
    """
    )
    assert ran.code == 0
    assert workplace.read("aside.csv") == workplace.read("out.csv") != ""


def test_a_preview_shows_and_writes_nothing(workplace: Workplace) -> None:
    workplace.write(in_csv=ROWS, a_csv="old")
    ran = workplace.run(
        outputs(
            a="type: csv, path: a.csv, exclude: [day, extra]",
            b="type: json, path: new/b.json, options: { format: ndjson }, mapping: { n: id }, "
            "include_unmapped: false, split: { max_records: 1 }",
        ),
        preview=Preview(2),
    )
    assert ran.code == 0
    assert ran.report
    shown = [output.preview for output in ran.report.outputs]
    assert shown[0] == b'id,name,price\n1,bolt,2.5\n2,"nut, M8",\n'
    assert shown[1] and shown[1].startswith(b'{"n":1,')
    assert len(shown[1].splitlines()) == 2
    assert workplace.files() == ["a.csv", "in.csv"]
    assert workplace.read("a.csv") == "old"


@pytest.mark.parametrize("shown", ["true", "false"])
def test_records_may_differ_in_undeclared_fields_alone(
    workplace: Workplace, either_way: str, shown: str
) -> None:
    workplace.write(in_csv="id,e\n1,a\n1,a\n1,b\n", in_json='[{"id":1,"e":1},{"id":1},{"id":1}]')
    for kind, expected in (("csv", 2), ("json", 2)):
        ran = workplace.run(f"""
            pipeline: {{ name: p }}
            nodes:
              - type: source
                name: s
                config: {{ type: {kind}, path: in.{kind}, schema: {{ id: int }} }}
              - type: transform
                name: t
                input: s
                config: {{ cxl: distinct }}
              - type: output
                name: out
                input: t
                config: {{ type: csv, path: {kind}.csv, include_unmapped: {shown} }}
            """)
        assert ran.code == 0, ran.message
        assert ran.report
        assert ran.report.counts.written == expected


@pytest.mark.usefixtures("either_way")
def test_provenance(workplace: Workplace) -> None:
    workplace.write(a_csv="id\n1\n2\n", b_csv="id\n3\nx\n4\n", c_json='{"id": 3}\n')
    ran = workplace.run(
        """
        pipeline: { name: p, include_provenance: true }
        nodes:
          - { type: source, name: rows, config: { type: csv, glob: "*.csv", schema: { id: int } } }
          - { type: source, name: more, config: { type: json, path: c.json, schema: { id: int } } }
          - { type: merge, name: both, inputs: [more, rows] }
          - type: transform
            name: step
            input: both
            config: { cxl: "filter $meta.source_row < 3  emit place = $meta.source_file" }
          - type: output
            name: o
            input: step
            config: { type: csv, path: o.out, include_metadata: all }
          - type: combine
            name: pairs
            input: { r: rows, m: more }
            config:
              where: r.id == m.id
              on_miss: skip
              propagate_ck: driver
              cxl: emit id = r.id
          - type: output
            name: p
            input: pairs
            config: { type: json, path: p.out, include_metadata: [source_row, source_name] }
        error_handling: { strategy: continue, dlq: { path: rejected.out } }
        """
    )
    assert ran.code == 2
    assert workplace.read("o.out") == (
        "id,place,meta.source_name,meta.source_file,meta.source_row\n"
        "3,c.json,more,c.json,1\n"
        "1,a.csv,rows,a.csv,1\n"
        "2,a.csv,rows,a.csv,2\n"
        "3,b.csv,rows,b.csv,1\n"
    )
    assert workplace.read("p.out") == (
        '[\n{"id":3,"meta.source_row":1,"meta.source_name":"rows"}\n]\n'
    )


def test_the_number_of_a_name_goes_where_the_path_says(workplace: Workplace) -> None:
    workplace.write(in_csv="id\n1\n")
    pipeline = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
          - type: output
            name: result
            input: rows
            config:
              type: csv
              path: "out{n:_:}.final.csv"
              if_exists: unique_suffix
              unique_suffix_width: 2
    """
    for _ in range(3):
        assert workplace.run(pipeline).code == 0
    names = ["in.csv", "out.final.csv", "out_01.final.csv", "out_02.final.csv"]
    assert workplace.files() == names
    escaping = pipeline.replace("out{n:_:}", "out{n:/../../:}")
    assert workplace.run(escaping).code == 1
