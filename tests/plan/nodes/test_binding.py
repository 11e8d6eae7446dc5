"""What nodes read and write, checked against the rows that reach them."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.plan.compiling import compiled

SOURCE = """\
pipeline: { name: orders }
nodes:
  - type: source
    name: orders
    config:
      type: json
      path: orders.json
      schema:
        - { name: id, type: int }
        - { name: region, type: string }
        - { name: amount, type: float }
        - { name: customer, type: map }
"""
OUTPUT = """\
- type: output
  name: result
  input: {reads}
  config:
    type: {kind}
    path: result.out
{more}"""


def transform(more: str) -> str:
    node = "- type: transform\n  name: t\n  input: orders\n  config:\n" + indent(more, "    ")
    return indent(node, "  ")


def output(reads: str = "orders", kind: str = "json", more: str = "") -> str:
    return indent(OUTPUT.format(reads=reads, kind=kind, more=indent(more, "    ")), "  ")


def messages(nodes: str) -> list[str]:
    return [f"{d.code} {d.message}" for d in compiled(SOURCE + nodes).diagnostics]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "include_unmapped: false\nmapping: { a: nope }",
            "E200 mapping reads unknown field 'nope'",
        ),
        ("include_unmapped: false\nexclude: [nope]", "E200 exclude reads unknown field 'nope'"),
        (
            "exclude: [amuont]",
            "W013 'exclude' has an effect on 'amuont' only if a file has it undeclared",
        ),
        ("sort_order: [nope]", "E200 sort_order reads unknown field 'nope'"),
        ("mapping: { id: amount }", "E077 two columns of the output are named 'id'"),
        ("include_metadata: [k]", "E200 include_metadata names 'k', which no node before sets"),
    ],
)
def test_wrong_outputs(more: str, message: str) -> None:
    assert messages(output(more=more)) == [message]


def test_decimals_are_columns_of_numbers() -> None:
    options = "mapping: { cost: amount }\noptions: { decimals: { id: [9, 0], cost: [9, 2] } }"
    assert messages(output(kind="parquet", more=options)) == []
    options = "options: { decimals: { region: [9, 0], customer: [9, 0], amuont: [9, 2] } }"
    assert messages(output(kind="parquet", more=options)) == [
        "E007 only numbers can be decimals, and 'region' is String",
        "E007 only numbers can be decimals, and 'customer' is Map",
        "E200 'decimals' names 'amuont', which is no column of the output",
    ]


def test_outputs_may_name_columns_that_only_files_have() -> None:
    named = output(more="mapping: { a: unseen }\nexclude: [hidden]")
    assert messages(named) == [
        "W013 'mapping' has an effect on 'unseen' only if a file has it undeclared",
        "W013 'exclude' has an effect on 'hidden' only if a file has it undeclared",
    ]
    strict = SOURCE.replace("path: orders.json", "path: orders.json\n      on_unmapped: drop")
    unknown = [
        "E200 mapping reads unknown field 'unseen'",
        "E200 exclude reads unknown field 'hidden'",
    ]
    assert [f"{d.code} {d.message}" for d in compiled(strict + named).diagnostics] == unknown
    counted = (
        "- type: aggregate\n  name: t\n  input: orders\n  config: { cxl: emit n = count(*) }\n"
    )
    named = output("t", more="mapping: { a: unseen }\nexclude: [hidden]")
    assert messages(indent(counted, "  ") + named) == unknown


def test_a_field_may_be_shown_under_several_names() -> None:
    found = compiled(SOURCE + output(more="mapping: { a: amount, b: amount }"))
    assert found.plan
    assert [c.name for c in found.plan.projections["result"]] == [
        "id",
        "region",
        "a",
        "b",
        "customer",
    ]


def test_behind_a_merge_all_that_its_inputs_emitted_is_written() -> None:
    nodes = """\
  - { type: transform, name: a, input: orders, config: { cxl: "emit x = 1 emit region = 'a'" } }
  - { type: transform, name: b, input: orders, config: { cxl: "emit id = 2 emit x = 3" } }
  - { type: transform, name: c, input: b, config: { cxl: "filter x > 2" } }
  - { type: merge, name: m, inputs: [a, c] }
  - { type: merge, name: n, inputs: [orders, d] }
  - { type: transform, name: d, input: orders, config: { cxl: "emit amount = 1.0" } }
  - { type: merge, name: k, inputs: [orders, orders] }
"""
    outputs = [
        output(reads, more="include_unmapped: false").replace("result", f"of_{reads}")
        for reads in ("m", "n", "k")
    ]
    found = compiled(SOURCE + nodes + "\n".join(outputs))
    assert found.plan
    written = {
        name: [column.name for column in columns]
        for name, columns in found.plan.projections.items()
    }
    every = ["id", "region", "amount", "customer"]
    assert written == {"of_m": ["x", "region", "id"], "of_n": every, "of_k": every}


@pytest.mark.parametrize("kind", ["csv", "xml"])
def test_only_json_holds_maps(kind: str) -> None:
    expected = f"E078 {kind} files cannot hold 'customer', which is a Map"
    assert messages(output(kind=kind)) == [expected]
    assert messages(output(kind=kind, more="exclude: [customer]")) == []


@pytest.mark.parametrize("chosen", ["all", "[whole]"])
def test_metadata_may_be_no_map_either(chosen: str) -> None:
    cxl = "cxl: emit meta whole = customer emit meta maybe = customer.id emit meta n = 1\n"
    more = f"exclude: [customer]\ninclude_metadata: {chosen}"
    found = compiled(SOURCE + transform(cxl) + output("t", "csv", more))
    assert [f"{d.code} {d.message} {d.help}" for d in found.diagnostics] == [
        "E078 csv files cannot hold '$meta.whole', which is a Map leave it out of"
        " 'include_metadata', emit the parts of it that are needed, or write JSON"
    ]
    assert messages(transform(cxl) + output("t", "json", more)) == []
    some = "exclude: [customer]\ninclude_metadata: [maybe, n]"
    assert messages(transform(cxl) + output("t", "csv", some)) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "validations: [{ field: region, check: min, args: { value: 3 } }]",
            "E200 the check 'min' is for Numeric, but 'region' is String",
        ),
        (
            "validations: [{ field: id, check: matches, args: { pattern: 'a+' } }]",
            "E200 the check 'matches' is for String, but 'id' is Int",
        ),
        (
            "validations: [{ field: region, check: matches, args: { pattern: '(' } }]",
            "E026 invalid pattern: group '(' is not closed",
        ),
        (
            "validations: [{ field: id, check: range, args: { min: 5, max: 1 } }]",
            "E026 'min' is larger than 'max', so no record passes",
        ),
        (
            "validations: [{ field: nope, check: not_empty }]",
            "E200 the validation reads unknown field 'nope'",
        ),
        ("validations: [{ check: amount }]", "E200 the validation must be Bool, got Float"),
        (
            "log: [{ level: info, when: per_record, message: m, fields: [nope] }]",
            "E200 the log reads unknown field 'nope'",
        ),
    ],
)
def test_wrong_transforms(more: str, message: str) -> None:
    nodes = transform(f"cxl: emit double = amount * 2\n{more}\n") + output("t")
    assert messages(nodes) == [message]


def test_an_error_does_not_hide_those_after_it() -> None:
    nodes = transform("cxl: |\n  emit double = amuont * 2\n  emit big = double > 5\n")
    assert messages(nodes + output("t", more="exclude: [doubel]")) == [
        "E200 unknown field 'amuont'",
        "W013 'exclude' has an effect on 'doubel' only if a file has it undeclared",
    ]


def test_the_array_of_a_collect_hides_no_column() -> None:
    combine = indent(
        """\
- type: combine
  name: joined
  input: { o: orders, region: orders }
  config:
    where: o.id == region.id
    match: collect
    propagate_ck: driver
""",
        "  ",
    )
    assert messages(combine + output("joined")) == [
        "E301 the array of 'region' would hide the driver's column 'region'"
    ]


def test_undeclared_fields_of_build_inputs_can_be_read() -> None:
    combine = """\
- type: source
  name: items
  config: { type: csv, path: i.csv, schema: { id: int, name: string }MORE }
- type: combine
  name: joined
  input: { o: orders, p: items }
  config:
    where: o.id == p.id
    propagate_ck: driver
    cxl: |
      emit remark = p.remark
      emit name = p.nmae
"""
    nodes = indent(combine, "  ") + output("joined")
    found = compiled(SOURCE + nodes.replace("MORE", "")).diagnostics
    assert [(f"{d.code} {d.message}", d.help) for d in found] == [
        (
            "W200 no schema declares 'p.remark': it is null unless a file has it",
            "declare it in the schema of its source",
        ),
        (
            "W200 no schema declares 'p.nmae': it is null unless a file has it",
            "did you mean 'p.name'?",
        ),
    ]
    assert messages(nodes.replace("MORE", ", on_unmapped: drop")) == [
        "E308 unknown field 'p.remark'",
        "E308 unknown field 'p.nmae'",
    ]
    of_driver = nodes.replace("MORE", "").replace("p.remark", "o.remark")
    assert messages(of_driver)[0] == "E308 unknown field 'o.remark'"
