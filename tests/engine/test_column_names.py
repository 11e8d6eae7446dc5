"""Columns of any name: what a file calls them is data, and no name confuses the engine."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from clinker import engine, formats

from .whole_runs import Workplace

ODD = [
    *("`", "a`b", "`$9`", "'", '"', "\\", "\\u0041", "a.b", ".", "*", "%s", "{}", "{{", "--", "/*"),
    *("\n", "\r\n", "\x01", "\t", " ", "\u2028", "\ufeff", "ä", "a\u0308", "𝄞", "x" * 5000),
    *(
        "ID",
        "Id",
        "select",
        "null",
        "true",
        "x -> y",
        " AS `q`",
        "$",
        "$$",
        "$ Amount",
        "$B",
        "a$b",
    ),
    *("_cxl_dlq_route", "meta.x", "x", "y", "e", "record", "start", "it"),
]
ENGINES_OWN = [
    *("$pos", "$reject", "$source", "$widened", "$widened.x", "$meta.k", "$origin.id", "$ck.id"),
    *("$1", "$barrier", "$place", "$group_key", "$branch:a", "$found", "$each1"),
]
"""Names that hidden columns have; no schema declares them, but files have them."""


def quoted(value: Any) -> str:
    """A value as YAML on one line, in which nothing but letters stands for itself."""
    match value:
        case str():
            inside = (c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in value)
            return f'"{"".join(inside)}"'
        case Mapping():
            pairs = (f"{quoted(key)}: {quoted(item)}" for key, item in value.items())
            return f"{{{', '.join(pairs)}}}"
        case Sequence():
            return f"[{', '.join(map(quoted, value))}]"
        case _:
            return json.dumps(value)


def source(name: str, format: str, columns: Mapping[str, str], **more: Any) -> dict[str, Any]:
    schema = [{"name": column, "type": type_} for column, type_ in columns.items()]
    config = {"type": format, "path": f"in.{format}", "schema": schema, **more}
    return {"type": "source", "name": name, "config": config}


def output(name: str, node: str, format: str = "json", **more: Any) -> dict[str, Any]:
    config = {"type": format, "path": f"{name}.{format}", **more}
    return {"type": "output", "name": name, "input": node, "config": config}


def node(kind: str, name: str, inputs: Any, **config: Any) -> dict[str, Any]:
    key = "inputs" if kind == "merge" else "input"
    return {"type": kind, "name": name, key: inputs, "config": config}


def pipeline(*nodes: Mapping[str, Any]) -> str:
    handling = {"strategy": "continue", "dlq": {"path": "rejected.csv"}}
    return quoted({"pipeline": {"name": "p"}, "nodes": nodes, "error_handling": handling})


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def written(workplace: Workplace, path: str) -> Any:
    return json.loads(workplace.read(path))


def given(workplace: Workplace, names: Sequence[str]) -> list[dict[str, Any]]:
    """Three records and a bad one in a CSV and a JSON file; the three as they should be read."""
    rows = [[str(n), *(f"{n % 2}-{at}" for at, _ in enumerate(names))] for n in (1, 2, 3)]
    rows.append(["bad", *("z" for _ in names)])
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["id", *names], *rows])
    records = [dict(zip(["id", *names], row, strict=True)) for row in rows]
    workplace.write(in_csv=text.getvalue(), in_json=json.dumps(records))
    return [{**record, "id": int(record["id"])} for record in records[:3]]


def own_fields(record: Mapping[str, Any], *others: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in others}


@pytest.mark.parametrize("format", ["csv", "json"])
def test_declared_columns_go_through_all_kinds_of_nodes(
    workplace: Workplace, either_way: str, format: str
) -> None:
    expected = given(workplace, ODD)
    columns = {"id": "int", **dict.fromkeys(ODD, "string")}
    half = len(ODD) // 2
    window = {"group_by": ODD[:half], "sort_by": [{"field": name} for name in ODD[half:]]}
    checks = [{"field": name, "check": "not_empty"} for name in ODD]
    log = [{"level": "warn", "when": "per_record", "message": "read", "fields": ODD}]
    cxl = "let k = id + 1\nemit square = k * k"
    both = {"l": "rows", "r": "more"}
    joined = {"where": "l.id == r.id", "match": "collect", "propagate_ck": "driver"}
    text = pipeline(
        source("rows", format, columns),
        source("more", format, columns),
        node("transform", "t", "rows", cxl=cxl, validations=checks, log=log),
        output("sorted", "t", sort_order=[{"field": name} for name in ODD]),
        node("aggregate", "grouped", "t", group_by=ODD, cxl="emit ids = collect(id)"),
        output("groups", "grouped"),
        node("transform", "w", "rows", analytic_window=window, cxl="emit n = $window.row_number()"),
        output("windows", "w"),
        node("merge", "merged", ["rows", "more"]),
        output("twice", "merged"),
        node("combine", "c", both, **joined),
        output("matched", "c"),
        node("transform", "d", "rows", cxl="distinct"),
        output("renamed", "d", "csv", mapping={f"f{at}": name for at, name in enumerate(ODD)}),
        output("without", "d", exclude=ODD),
    )
    assert workplace.run(text).code == 2
    by_id = sorted(written(workplace, "sorted.json"), key=lambda record: record["id"])
    assert [own_fields(record, "square") for record in by_id] == expected
    one, two, _ = (own_fields(record, "id") for record in expected)
    groups = [{**one, "ids": [1, 3]}, {**two, "ids": [2]}]
    assert written(workplace, "groups.json") == groups
    numbered = [{**record, "n": n} for record, n in zip(expected, (1, 1, 2), strict=True)]
    assert written(workplace, "windows.json") == numbered
    assert written(workplace, "twice.json") == expected * 2
    assert written(workplace, "matched.json") == [{**r, "r": [r]} for r in expected]
    assert written(workplace, "without.json") == [{"id": n} for n in (1, 2, 3)]
    renamed = cells(workplace.read("renamed.csv"))
    assert renamed[0] == ["id", *(f"f{at}" for at, _ in enumerate(ODD))]
    assert renamed[1:] == [[str(value) for value in record.values()] for record in expected]
    rejected = cells(workplace.read("rejected.csv"))
    assert rejected[0][12:] == ["id", *ODD]
    assert [row[12:] for row in rejected[1:]] == [["bad", *("z" for _ in ODD)]] * 2


@pytest.mark.parametrize("format", ["csv", "json"])
def test_undeclared_columns_travel_under_any_name(
    workplace: Workplace, either_way: str, format: str
) -> None:
    names = [*ENGINES_OWN, *ODD]
    expected = given(workplace, names)
    mapping = {f"f{at}": name for at, name in enumerate(names)}
    text = pipeline(
        source("rows", format, {"id": "int"}),
        node("transform", "t", "rows", cxl="emit id = id * 10\nemit n = id + 1"),
        output("all", "t"),
        output("cells", "t", "csv"),
        output("renamed", "t", mapping=mapping),
        output("swapped", "t", mapping={"$reject": "id", "$pos": "n", "n": "$source"}),
        output("without", "t", exclude=names),
    )
    assert workplace.run(text).code == 2
    computed = [{"id": n * 10, "n": n * 10 + 1} for n in (1, 2, 3)]
    others = [own_fields(record, "id") for record in expected]
    everything = [a | b for a, b in zip(computed, others, strict=True)]
    assert written(workplace, "all.json") == everything
    shown = [[str(value) for value in record.values()] for record in everything]
    assert cells(workplace.read("cells.csv")) == [["id", "n", *names], *shown]
    assert [list(r.values()) for r in written(workplace, "renamed.json")] == [
        list(r.values()) for r in everything
    ]
    for record, origin in zip(written(workplace, "swapped.json"), everything, strict=True):
        assert record["$reject"] == origin["id"]
        assert record["$pos"] == origin["n"]
        assert record["n"] == origin["$source"]
    assert written(workplace, "without.json") == computed
    assert cells(workplace.read("rejected.csv"))[1][12:] == ["bad", *("z" for _ in names)]


def test_hidden_columns_have_names_that_no_schema_can_declare() -> None:
    packages = [Path(str(package.__file__)).parent for package in (engine, formats)]
    modules = [path for package in packages for path in package.rglob("*.py")]
    names = {
        name for module in modules for name in re.findall(r'"(\$[^"\s]+)"', module.read_text())
    }
    assert {"$pos", "$reject", "$source"} <= names
    assert [name for name in names if not re.match(r"\$[a-z0-9{]", name)] == []


def test_names_of_files_need_not_be_text(workplace: Workplace, either_way: str) -> None:
    path = os.fsencode(workplace.folder) + b"/caf\xe9.csv"
    with open(path, "w") as file:  # noqa: PTH123 - a path in bytes
        file.write("id\n1\nx\n")
    rows = source("rows", "csv", {"id": "int"})
    del rows["config"]["path"]
    rows["config"]["glob"] = "*.csv"
    cxl = "emit file = $source.file"
    ran = workplace.run(pipeline(rows, node("transform", "t", "rows", cxl=cxl), output("o", "t")))
    assert ran.code == 2
    assert written(workplace, "o.json") == [{"id": 1, "file": r"caf\xe9.csv"}]
    assert cells(workplace.read("rejected.csv"))[1][2] == r"caf\xe9.csv"


@pytest.mark.parametrize(
    "name", ["$pos", "`$1`", "a`b", "'", '"', "\n", "\x01", "a b", "%s", "[a]"]
)
def test_nodes_branches_and_files_of_any_name(workplace: Workplace, name: str) -> None:
    (workplace.folder / f"{name}.csv").write_text("id\n1\nbad\n2\n")
    rows = source(name, "csv", {"id": "int"}, path=f"{name}.csv")
    cxl = "emit file = $source.file\nemit source = $source.name\nemit x = 1 / (id - 1)"
    text = pipeline(
        rows,
        node("transform", f"{name}t", name, cxl=cxl),
        node("route", f"{name}r", f"{name}t", conditions={name: "id > 1"}, default=f"{name}d"),
        output(f"{name}o", f"{name}r.{name}"),
        output(f"{name}e", f"{name}r.{name}d"),
    )
    assert workplace.run(text).code == 2
    (record,) = written(workplace, f"{name}o.json")
    assert record == {"id": 2, "file": f"{name}.csv", "source": name, "x": 1}
    entries = cells(workplace.read("rejected.csv"))[1:]
    assert [entry[2:6] for entry in entries] == [
        [f"{name}.csv", name, "1", f"{name}t"],
        [f"{name}.csv", name, "2", name],
    ]


def test_control_characters_of_a_path_are_not_printed(workplace: Workplace) -> None:
    (workplace.folder / "a\x1b[31m.csv").write_text('id\n"1\n')
    rows = source("rows", "csv", {"id": "int"}, path="a\x1b[31m.csv")
    ran = workplace.run(pipeline(rows, output("o", "rows")))
    assert ran.code == 4
    assert ran.message.startswith(f"{workplace.folder}/a\\x1b[31m.csv: the file ends inside quotes")


# Columns without a header


def test_the_schema_names_columns_without_a_header(workplace: Workplace, either_way: str) -> None:
    (workplace.folder / "a.csv").write_text("1,x,p\n2,y\n")
    (workplace.folder / "b.csv").write_text('3,"z\n1"\n4\n5,v,q\nx,w\n')
    options = {"has_header": False}
    columns = {"id": "int", "name": "string"}
    rows = source("rows", "csv", columns, paths=["a.csv", "b.csv"], options=options)
    del rows["config"]["path"]
    concurrency = 'concurrency": {"chunk_size": 4}'
    text = pipeline(rows, output("o", "rows")).replace(
        f"{quoted('pipeline')}: {{", f'"pipeline": {{"{concurrency}, ', 1
    )
    assert workplace.run(text).code == 2
    assert written(workplace, "o.json") == [
        {"id": 1, "name": "x", "col_2": "p"},
        {"id": 3, "name": "z\n1", "col_2": ""},
    ]
    entries = cells(workplace.read("rejected.csv"))
    assert entries[0][12:] == ["id", "name"]
    assert [(*entry[2:5:2], entry[9], *entry[12:]) for entry in entries[1:]] == [
        ("a.csv", "2", "row 2 has 2 cells, expected 3", "2", "y"),
        ("b.csv", "2", "row 2 has 1 cell, expected 2", "4", ""),
        ("b.csv", "3", "row 3 has 3 cells, expected 2", "5", "v"),
        ("b.csv", "4", "cannot convert 'x' in column 'id' to int", "x", "w"),
    ]


@pytest.mark.parametrize(("mode", "code"), [("drop", 0), ("reject", 4)])
def test_undeclared_columns_without_a_header(workplace: Workplace, mode: str, code: int) -> None:
    workplace.write(in_csv="1,x\n")
    rows = source("rows", "csv", {"id": "int"}, options={"has_header": False}, on_unmapped=mode)
    ran = workplace.run(pipeline(rows, output("o", "rows")))
    assert ran.code == code
    if code:
        assert "the schema does not declare column 'col_1'" in ran.message
    else:
        assert written(workplace, "o.json") == [{"id": 1}]


def test_a_record_of_which_two_cells_do_not_fit(workplace: Workplace, either_way: str) -> None:
    workplace.write(in_csv="id,n\n1,2\nx,y\n")
    rows = source("rows", "csv", {"id": "int", "n": "int"})
    assert workplace.run(pipeline(rows, output("o", "rows"))).code == 2
    assert written(workplace, "o.json") == [{"id": 1, "n": 2}]
    assert cells(workplace.read("rejected.csv"))[1][9:] == [
        *("cannot convert 'x' in column 'id' to int", "id", "x", "x", "y")
    ]
