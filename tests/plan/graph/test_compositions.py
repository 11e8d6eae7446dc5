"""Compositions: found, expanded, connected, and held to what their ports declare."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plan.compile import Compiled, Plan, compile_pipeline
from clinker.plan.options import Options

SOURCE = """\
- type: source
  name: orders
  config: { type: csv, path: o.csv, schema: { id: int, amount: float, note: string } }
"""
OUTPUT = """\
- type: output
  name: out
  input: call
  config: { type: csv, path: out.csv }
"""
PIPELINE_HEAD = "pipeline: { name: p }\nnodes:\n"
CALL = "- { type: composition, name: call, input: orders, use: c.comp.yaml }\n"

COMPOSITION = """\
_compose:
  name: c
  inputs:
    inp: { schema: { id: int, amount: float } }
  outputs: { out: tap }
  config_schema:
    rate: { type: float, default: 0.2 }
nodes:
  - type: transform
    name: tap
    input: inp
    config:
      cxl: emit tax = amount * $config.rate
"""


def compiled_in(
    folder: Path, files: dict[str, str], channel: str | None = None, base_dir: str = "."
) -> Compiled:
    """What the compiler says about `p.yaml` among other files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    options = Options(folder / base_dir, channel=folder / channel if channel else None)
    pipeline = folder / "p.yaml"
    return compile_pipeline(pipeline.read_bytes(), str(pipeline), options)


def shown(diagnostics: list[Diagnostic]) -> list[str]:
    """`code file:line message` of each, in reading order."""
    lines = []
    for diagnostic in in_reading_order(diagnostics):
        assert diagnostic.primary
        location = diagnostic.primary.location
        file = Path(location.source.name).name
        lines.append(f"{diagnostic.code} {file}:{location.start.line} {diagnostic.message}")
    return lines


def places(diagnostic: Diagnostic) -> list[str]:
    return [
        f"{Path(label.location.source.name).name}:{label.location.start.line} {label.text}"
        for label in diagnostic.secondary
    ]


def accepted(result: Compiled) -> Plan:
    assert result.plan, shown(result.diagnostics)
    return result.plan


def pipeline(*nodes: str) -> str:
    return PIPELINE_HEAD + indent("".join(nodes), "  ")


def with_composition(folder: Path, text: str = COMPOSITION, call: str = CALL) -> Compiled:
    return compiled_in(folder, {"p.yaml": pipeline(SOURCE, call, OUTPUT), "c.comp.yaml": text})


# The spec's own examples

INVOICES = """\
    pipeline:
      name: invoice_pipeline
    nodes:
      - type: source
        name: invoices
        config:
          name: invoices
          type: csv
          path: "./data/invoices.csv"
          schema:
            - { name: invoice_id, type: int }
            - { name: customer_id, type: int }
            - { name: invoice_date, type: date }
            - { name: amount, type: float }
      - type: composition
        name: fiscal_dates
        input: invoices
        use: "./compositions/fiscal_date.comp.yaml"
        config:
          start_month: 4
      - type: transform
        name: final_enrich
        input: fiscal_dates
        config:
          cxl: |
            emit invoice_id = invoice_id
            emit customer_id = customer_id
            emit amount = amount
            emit fiscal_year = fiscal_year
            emit fiscal_quarter = fiscal_quarter
      - type: output
        name: result
        input: final_enrich
        config:
          name: result
          type: csv
          path: "./output/invoices_enriched.csv"
    """
FISCAL_DATE = """\
    composition:
      name: fiscal_date
      description: "Derive fiscal year, quarter, and period from a date field"
      requires:
        - { name: invoice_date, type: date }
      produces:
        - { name: fiscal_year, type: int }
        - { name: fiscal_quarter, type: string }
        - { name: fiscal_period, type: int }
      params:
        - name: start_month
          type: int
          default: 1
          description: "First month of the fiscal year (1-12)"
    nodes:
      - type: transform
        name: derive
        input: input
        config:
          cxl: |
            let shifted = invoice_date.add_months(1 - $config.start_month)
            emit fiscal_year = shifted.year()
            emit fiscal_period = shifted.month()
            emit fiscal_quarter = "Q" + ((shifted.month() + 2) / 3).to_string()
    """


def test_the_invoice_pipeline(tmp_path: Path) -> None:
    files = {"p.yaml": INVOICES, "compositions/fiscal_date.comp.yaml": FISCAL_DATE}
    plan = accepted(compiled_in(tmp_path, files))
    assert list(plan.graph.units) == ["invoices", "fiscal_dates/derive", "final_enrich", "result"]
    assert plan.graph.units["fiscal_dates/derive"].scope.config == {"start_month": 4}
    assert list(plan.nodes["fiscal_dates/derive"].row.columns) == [
        "invoice_id",
        "customer_id",
        "invoice_date",
        "amount",
        "fiscal_year",
        "fiscal_period",
        "fiscal_quarter",
    ]


def test_a_body_reads_the_variables_it_lists(tmp_path: Path) -> None:
    files = {
        "p.yaml": """\
            pipeline: { name: p, vars: { pipeline: { cutoff: { type: int, default: 3 } } } }
            nodes:
              - { type: source, name: s, config: { type: csv, path: s.csv, schema: { id: int } } }
              - { type: composition, name: read, input: s, use: read_pipeline_var.comp.yaml }
              - { type: output, name: o, input: read, config: { type: csv, path: o.csv } }
            """,
        "read_pipeline_var.comp.yaml": """\
            _compose:
              name: read_pipeline_var
              inputs:
                inp:
                  schema:
                    - { name: id, type: int }
              outputs:
                out: tap
              scoped_vars:
                pipeline:
                  cutoff:
                    type: int
            nodes:
              - type: transform
                name: tap
                input: inp
                config:
                  cxl: |
                    emit id = id
                    emit cutoff_seen = $pipeline.cutoff
            """,
    }
    plan = accepted(compiled_in(tmp_path, files))
    assert list(plan.nodes["o"].row.columns) == ["id", "cutoff_seen"]


def test_several_ports(tmp_path: Path) -> None:
    files = {
        "p.yaml": """\
            pipeline: { name: p }
            nodes:
              - type: source
                name: customers
                config: { type: csv, path: c.csv, schema: { id: int, zip: string } }
              - type: source
                name: zip_lookup
                config: { type: csv, path: z.csv, schema: { zip: string, city: string } }
              - type: composition
                name: enrich_address
                input: customers
                use: "./compositions/address_normalize.comp.yaml"
                inputs:
                  primary: customers
                  reference: zip_lookup
                outputs:
                  normalized: next_stage
                config:
                  country_code: "US"
                resources:
                  zip_database: "./data/zipcodes.csv"
              - type: transform
                name: next_stage
                input: enrich_address
                config: { cxl: emit place = city }
              - { type: output, name: good, input: next_stage, config: { type: csv, path: g.csv } }
              - type: output
                name: bad
                input: enrich_address.rejected
                config: { type: csv, path: b.csv }
            """,
        "compositions/address_normalize.comp.yaml": """\
            _compose:
              name: address_normalize
              inputs:
                primary: { schema: { id: int, zip: string }, required: true }
                reference: { schema: { zip: string, city: string }, required: true }
              outputs:
                rejected: { ref: split.unknown }
                normalized: split.known
              config_schema:
                country_code: { type: string, required: true, enum: [US, CA] }
              resources_schema:
                zip_database: { kind: file, required: true }
            nodes:
              - type: combine
                name: join
                input: { c: primary, z: reference }
                config:
                  where: c.zip == z.zip
                  propagate_ck: driver
                  cxl: |
                    emit id = c.id
                    emit city = z.city
                    emit country = $config.country_code
              - type: route
                name: split
                input: join
                config: { conditions: { known: "city != null" }, default: unknown }
            """,
    }
    result = compiled_in(tmp_path, files)
    graph = accepted(result).graph
    assert [(e.label, e.upstream) for e in graph.units["enrich_address/join"].inputs] == [
        ("c", "customers"),
        ("z", "zip_lookup"),
    ]
    read = [graph.units[name].inputs[0] for name in ("next_stage", "bad")]
    assert [edge.upstream for edge in read] == ["enrich_address/split"] * 2
    assert [edge.port for edge in read] == ["known", "unknown"]


# Expansion


def test_the_body_of_every_call_is_its_own(tmp_path: Path) -> None:
    second = CALL.replace("name: call", "name: again").replace("input: orders", "input: call")
    second = second.replace("use:", "alias: twice, config: { rate: 1 }, use:")
    files = {"p.yaml": pipeline(SOURCE, CALL, second, OUTPUT), "c.comp.yaml": COMPOSITION}
    graph = accepted(compiled_in(tmp_path, files)).graph
    assert list(graph.units) == ["orders", "call/tap", "twice/tap", "out"]
    assert graph.units["call/tap"].scope.config == {"rate": 0.2}
    assert graph.units["twice/tap"].scope.config == {"rate": 1.0}
    assert graph.units["twice/tap"].inputs[0].upstream == "call/tap"


def test_columns_that_no_port_declares_pass_through(tmp_path: Path) -> None:
    plan = accepted(with_composition(tmp_path))
    assert list(plan.nodes["out"].row.columns) == ["id", "amount", "note", "tax"]


def test_a_port_without_schema_shows_everything(tmp_path: Path) -> None:
    text = COMPOSITION.replace("{ schema: { id: int, amount: float } }", "{}")
    text = text.replace("emit tax = amount", "emit shout = note.upper()\n        emit tax = amount")
    accepted(with_composition(tmp_path, text.replace("cxl: emit", "cxl: |\n        emit")))


NESTED = """\
_compose:
  name: outer
  inputs: { rows: { schema: { id: int, amount: float } } }
  outputs: { done: inner }
nodes:
  - { type: composition, name: inner, input: rows, use: c.comp.yaml, config: { rate: 0.5 } }
"""


def test_compositions_nest(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "parts/outer.comp"), OUTPUT),
        "parts/outer.comp.yaml": NESTED,
        "parts/c.comp.yaml": COMPOSITION,
    }
    graph = accepted(compiled_in(tmp_path, files)).graph
    assert list(graph.units) == ["orders", "call/inner/tap", "out"]
    assert graph.units["call/inner/tap"].scope.config == {"rate": 0.5}
    crossings = [(c.call, c.port) for c in graph.units["call/inner/tap"].inputs[0].through]
    assert crossings == [("call/inner/", "inp"), ("call/", "rows")]


@pytest.mark.parametrize(
    ("use", "file"),
    [
        ("c.comp.yaml", "c.comp.yaml"),
        ("./parts/c.comp.yaml", "parts/c.comp.yaml"),
        ("c.comp.yaml", "some/where/c.comp.yaml"),
    ],
)
def test_where_a_composition_is_found(tmp_path: Path, use: str, file: str) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp.yaml", use), OUTPUT),
        file: COMPOSITION,
    }
    accepted(compiled_in(tmp_path, files))


def test_an_output_port_may_hand_on_an_input_port(tmp_path: Path) -> None:
    text = COMPOSITION.replace("out: tap", "out: inp")
    plan = accepted(with_composition(tmp_path, text))
    assert plan.graph.units["out"].inputs[0].upstream == "orders"


def nested(use: str) -> str:
    """A composition that only calls another one."""
    return NESTED.replace("c.comp.yaml, config: { rate: 0.5 }", use)


# Findings about files


def test_a_missing_file(tmp_path: Path) -> None:
    files = {"p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "d.comp"), OUTPUT)}
    result = compiled_in(tmp_path, {**files, "c.comp.yaml": COMPOSITION})
    assert shown(result.diagnostics) == [
        "E103 p.yaml:6 composition file 'd.comp.yaml' does not exist"
    ]
    assert result.diagnostics[0].help == "did you mean 'c.comp.yaml'?"


def test_an_ambiguous_file_name(tmp_path: Path) -> None:
    files = {"p.yaml": pipeline(SOURCE, CALL, OUTPUT)}
    result = compiled_in(tmp_path, files | {f"{d}/c.comp.yaml": COMPOSITION for d in "ab"})
    assert shown(result.diagnostics) == ["E103 p.yaml:6 several files are named 'c.comp.yaml'"]


def test_a_malformed_file(tmp_path: Path) -> None:
    result = with_composition(tmp_path, COMPOSITION.replace("nodes:", "noeds:"))
    assert shown(result.diagnostics) == [
        "E005 c.comp.yaml:8 unknown key 'noeds'",
        "E101 p.yaml:6 'c.comp.yaml' is not a valid composition file",
    ]
    assert places(result.diagnostics[0]) == ["p.yaml:6 in composition 'call', called here"]


def test_an_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "c.comp.yaml").write_bytes(b"\xff\xfe")
    files = {"p.yaml": pipeline(SOURCE, CALL, OUTPUT)}
    codes = [d.code for d in compiled_in(tmp_path, files).diagnostics]
    assert codes == ["E000", "E101"]


def test_a_path_out_of_the_workspace(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "parts/outer.comp"), OUTPUT),
        "parts/outer.comp.yaml": NESTED.replace("c.comp", "../../c.comp"),
    }
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E-SEC-001 outer.comp.yaml:6 '../../c.comp.yaml' climbs out of its directory with '..'"
    ]


def test_a_path_to_a_directory_above_in_the_same_workspace(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "parts/outer.comp"), OUTPUT),
        "parts/outer.comp.yaml": NESTED.replace("c.comp", "../c.comp"),
    }
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E103 outer.comp.yaml:6 composition file '../c.comp.yaml' does not exist"
    ]
    assert compiled_in(tmp_path, {**files, "c.comp.yaml": COMPOSITION}).plan


@pytest.mark.parametrize(
    ("link", "use"),
    [
        ("parts/c.comp.yaml", "c.comp.yaml"),  # beside the file that uses it
        ("c.comp.yaml", "c.comp.yaml"),  # in the base directory
        ("deep/below/c.comp.yaml", "c.comp.yaml"),  # found by its name
        ("parts/more", "more/c.comp.yaml"),  # a directory
        ("parts/c.comp.yaml", "../parts/c.comp.yaml"),
    ],
)
def test_a_link_out_of_the_workspace(tmp_path: Path, link: str, use: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.comp.yaml").write_text(COMPOSITION)
    folder = tmp_path / "work"
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside / "c.comp.yaml" if link.endswith("yaml") else outside)
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "parts/outer.comp"), OUTPUT),
        "parts/outer.comp.yaml": nested(use),
    }
    assert shown(compiled_in(folder, files).diagnostics) == [
        f"E-SEC-001 outer.comp.yaml:6 '{use}' leads out of the base directory through a "
        "symbolic link"
    ]
    in_pipeline = {"p.yaml": pipeline(SOURCE, CALL.replace("c.comp.yaml", link), OUTPUT)}
    if link.endswith("yaml"):
        codes = [d.code for d in compiled_in(folder, in_pipeline).diagnostics]
        assert codes == ["E-SEC-001"]


def test_a_composition_that_uses_itself(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL, OUTPUT),
        "c.comp.yaml": nested("d.comp.yaml"),
        "d.comp.yaml": nested("c.comp.yaml"),
    }
    result = compiled_in(tmp_path, files)
    assert shown(result.diagnostics) == [
        "E050 d.comp.yaml:6 these compositions use each other in a circle: "
        "c.comp.yaml → d.comp.yaml → c.comp.yaml"
    ]
    assert places(result.diagnostics[0]) == [
        "c.comp.yaml:6 in composition 'call/inner', called here",
        "p.yaml:6 in composition 'call', called here",
    ]


def chain(length: int) -> dict[str, str]:
    """Compositions that each call the next one."""
    calls = {f"c{n}.comp.yaml": nested(f"c{n + 1}.comp.yaml") for n in range(length)}
    return {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "c0.comp"), OUTPUT),
        **calls,
        f"c{length}.comp.yaml": COMPOSITION,
    }


def test_fifty_levels_are_enough(tmp_path: Path) -> None:
    accepted(compiled_in(tmp_path, chain(49)))
    assert shown(compiled_in(tmp_path, chain(50)).diagnostics) == [
        "E051 c49.comp.yaml:6 compositions are nested more than 50 deep"
    ]


def test_calls_that_multiply_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clinker.plan.graph.compositions.MAX_NODES", 200)

    def doubling(n: int) -> str:
        first = nested(f"c{n + 1}.comp.yaml")
        return first + first[first.index("  - {") :].replace("inner", "other")

    files = {name: doubling(n) for n in range(30) if (name := f"c{n}.comp.yaml")}
    files["p.yaml"] = pipeline(SOURCE, CALL.replace("c.comp", "c0.comp"), OUTPUT)
    files["c30.comp.yaml"] = COMPOSITION
    result = compiled_in(tmp_path, files)
    assert {d.code for d in result.diagnostics} == {"E051"}
    assert len(result.diagnostics) < 50


# Findings about calls


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("config: { rat: 1.0 }", ["E103 'c.comp.yaml' has no parameter 'rat'"]),
        (
            "config: { rate: high }",
            ["E052 'rate' of 'call': expected a number, found string 'high'"],
        ),
        ("resources: { x: y.csv }", ["E103 'c.comp.yaml' has no resource 'x'"]),
        ("inputs: { inq: orders }", ["E103 'c.comp.yaml' has no input port 'inq'"]),
        ("outputs: { ou: out }", ["E103 'c.comp.yaml' has no output port 'ou'"]),
        ("outputs: { out: nobody }", ["E004 port 'out' is handed to unknown node 'nobody'"]),
        ("outputs: { out: orders }", ["E054 'orders' does not read from 'call'"]),
        ("inputs: { inp: orders }", []),
    ],
)
def test_what_a_call_sets(tmp_path: Path, call: str, expected: list[str]) -> None:
    result = with_composition(tmp_path, call=CALL.replace("use:", f"{call}, use:"))
    assert [f"{d.code} {d.message}" for d in result.diagnostics] == expected
    assert all(line.split()[1] == "p.yaml:6" for line in shown(result.diagnostics))


@pytest.mark.parametrize(
    ("parameter", "given", "expected"),
    [
        ("type: float, required: true", "", "E104 parameter 'rate' of 'c.comp.yaml' has no value"),
        ("type: int, enum: [1, 2]", "3", "E052 'rate' of 'call': integer 3 is not one of: 1, 2"),
        (
            "type: int, range: [1, 9]",
            "0",
            "E052 'rate' of 'call': must be between 1 and 9, found 0",
        ),
        ("type: int", "", None),
    ],
)
def test_parameters(tmp_path: Path, parameter: str, given: str, expected: str | None) -> None:
    text = COMPOSITION.replace("type: float, default: 0.2", parameter)
    call = CALL.replace("use:", f"config: {{ rate: {given} }}, use:") if given else CALL
    result = with_composition(tmp_path, text, call)
    assert [f"{d.code} {d.message}" for d in result.diagnostics] == ([expected] if expected else [])


TWO_PORTS = """\
_compose:
  name: c
  inputs:
    main: { required: true }
    extra: { schema: { id: int, amount: float, note: string } }
  outputs: { out: all, more: polish }
nodes:
  - { type: transform, name: polish, input: extra, config: { cxl: emit note = note.trim() } }
  - { type: merge, name: all, inputs: [main, polish] }
"""


def test_an_optional_port_may_stay_unconnected(tmp_path: Path) -> None:
    graph = accepted(with_composition(tmp_path, TWO_PORTS)).graph
    assert list(graph.units) == ["orders", "call/all", "out"]
    assert [edge.upstream for edge in graph.units["call/all"].inputs] == ["orders"]


def test_what_an_unconnected_port_would_deliver(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL, OUTPUT.replace("input: call", "input: call.more")),
        "c.comp.yaml": TWO_PORTS,
    }
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E104 p.yaml:9 'out' reads what an unconnected port of 'call' would deliver"
    ]


def test_a_required_port_must_be_connected(tmp_path: Path) -> None:
    call = CALL.replace("input: orders", "inputs: { extra: orders }")
    result = with_composition(tmp_path, TWO_PORTS, call)
    assert shown(result.diagnostics)[0] == (
        "E104 p.yaml:6 input port 'main' of 'c.comp.yaml' is not connected"
    )


def test_a_port_that_is_connected_twice(tmp_path: Path) -> None:
    more = SOURCE.replace("orders", "others")
    call = CALL.replace("use:", "inputs: { inp: others }, use:")
    files = {"p.yaml": pipeline(SOURCE, more, call, OUTPUT), "c.comp.yaml": COMPOSITION}
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E055 p.yaml:9 port 'inp' is connected twice, to 'orders' and 'others'"
    ]


def test_two_calls_with_the_same_alias(tmp_path: Path) -> None:
    second = CALL.replace("name: call", "name: again, alias: call")
    files = {"p.yaml": pipeline(SOURCE, CALL, second, OUTPUT), "c.comp.yaml": COMPOSITION}
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E053 p.yaml:7 two composition calls name their nodes 'call/…'"
    ]


# Findings about wiring


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "input: inp",
            "input: orders",
            "E108 c.comp.yaml:11 'tap' reads 'orders', which is outside the composition",
        ),
        ("input: inp", "input: imp", "E004 c.comp.yaml:11 'tap' reads from unknown node 'imp'"),
        ("input: inp", "input: tap", "E002 c.comp.yaml:11 'tap' reads from itself"),
        ("input: inp", "input: inp.x", "E036 c.comp.yaml:11 input port 'inp' has no port 'x'"),
        (
            "out: tap",
            "out: top",
            "E004 c.comp.yaml:5 output port 'out' reads from unknown node 'top'",
        ),
        ("name: tap", "name: inp", "E053 c.comp.yaml:10 an input port is named 'inp' as well"),
    ],
)
def test_wiring_in_a_body(tmp_path: Path, old: str, new: str, expected: str) -> None:
    result = with_composition(tmp_path, COMPOSITION.replace(old, new))
    assert expected in shown(result.diagnostics)
    found = next(d for d in result.diagnostics if d.code == expected.split()[0])
    assert places(found)[-1] == "p.yaml:6 in composition 'call', called here"


def test_an_output_port_that_does_not_exist(tmp_path: Path) -> None:
    reader = OUTPUT.replace("input: call", "input: call.ouch")
    files = {"p.yaml": pipeline(SOURCE, CALL, reader), "c.comp.yaml": COMPOSITION}
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E036 p.yaml:9 'call' has no port 'ouch'"
    ]


def test_a_composition_without_output_ports(tmp_path: Path) -> None:
    result = with_composition(tmp_path, COMPOSITION.replace("  outputs: { out: tap }\n", ""))
    assert shown(result.diagnostics) == [
        "E036 p.yaml:9 'out' reads from 'call', which has no output port"
    ]


def test_calls_that_only_hand_records_to_each_other(tmp_path: Path) -> None:
    first = CALL.replace("input: orders", "input: again")
    second = CALL.replace("name: call", "name: again").replace("input: orders", "input: call")
    files = {
        "p.yaml": pipeline(SOURCE, first, second, OUTPUT),
        "c.comp.yaml": COMPOSITION.replace("out: tap", "out: inp"),
    }
    assert {d.code for d in compiled_in(tmp_path, files).diagnostics} == {"E003"}


# Findings about columns


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "id: int,",
            "di: int,",
            "E102 p.yaml:6 port 'inp' of 'call' needs column 'di': 'orders' has none of that name",
        ),
        (
            "id: int,",
            "id: string,",
            "E102 p.yaml:6 port 'inp' of 'call' needs column 'id': "
            "'orders' has it as Int, not as String",
        ),
        (
            "amount * $config.rate",
            "note.length()",
            "E058 c.comp.yaml:13 'note' is a column of the caller that no input port declares",
        ),
        (
            "emit tax",
            "emit note",
            "W101 c.comp.yaml:13 this replaces column 'note' of the caller, "
            "which no input port declares",
        ),
        (
            "{ out: tap }",
            "{ out: { ref: tap, schema: [{ name: vat, type: float }] } }",
            "E056 c.comp.yaml:5 port 'out' promises column 'vat', but 'call/tap' "
            "has none of that name",
        ),
    ],
)
def test_columns(tmp_path: Path, old: str, new: str, expected: str) -> None:
    result = with_composition(tmp_path, COMPOSITION.replace(old, new))
    assert shown(result.diagnostics) == [expected]


@pytest.mark.parametrize("type_", ["any", "numeric", "nullable(int)"])
def test_types_that_fit_a_port(tmp_path: Path, type_: str) -> None:
    accepted(with_composition(tmp_path, COMPOSITION.replace("id: int,", f"id: {type_},")))


def test_fields_named_outside_cxl_must_be_declared_too(tmp_path: Path) -> None:
    text = COMPOSITION[: COMPOSITION.index("  - type")] + dedent("""\
          - type: transform
            name: first
            input: inp
            config:
              cxl: emit twice = amount * 2.0
              validations: [{ field: note, check: not_empty }, { field: twice, check: not_null }]
          - type: aggregate
            name: tap
            input: first
            config: { group_by: [note], cxl: emit n = count(*) }
        """)
    assert shown(with_composition(tmp_path, text).diagnostics) == [
        "E058 c.comp.yaml:14 'note' is a column of the caller that no input port declares",
        "E058 c.comp.yaml:18 'note' is a column of the caller that no input port declares",
    ]


def test_an_inner_call_sees_only_what_the_outer_one_declares(tmp_path: Path) -> None:
    files = {
        "p.yaml": pipeline(SOURCE, CALL.replace("c.comp", "outer.comp"), OUTPUT),
        "outer.comp.yaml": NESTED.replace(", amount: float", ""),
        "c.comp.yaml": COMPOSITION,
    }
    assert shown(compiled_in(tmp_path, files).diagnostics) == [
        "E102 outer.comp.yaml:6 port 'inp' of 'call/inner' needs column 'amount': "
        "'orders' has none of that name"
    ]


def test_errors_in_a_body_name_the_call(tmp_path: Path) -> None:
    result = with_composition(tmp_path, COMPOSITION.replace("amount *", "amuont *"))
    assert shown(result.diagnostics) == ["E200 c.comp.yaml:13 unknown field 'amuont'"]
    assert places(result.diagnostics[0]) == ["p.yaml:6 in composition 'call', called here"]


def test_a_window_in_a_body_looks_up_sources_of_the_body(tmp_path: Path) -> None:
    windowed = COMPOSITION.replace(
        "cxl: emit tax = amount * $config.rate",
        "{ analytic_window: { source: orders, group_by: [id] }, cxl: emit n = $window.count() }",
    )
    [problem] = with_composition(tmp_path, windowed).diagnostics
    assert problem.message == "the window looks up records of unknown source 'orders'"
    assert problem.help == (
        "a composition looks up its own sources only: add one to it, or use a combine"
    )
    own = indent(SOURCE.replace("orders", "own"), "  ")
    [problem] = with_composition(tmp_path, windowed + own).diagnostics
    assert problem.help == "the sources are: own"
    accepted(with_composition(tmp_path, windowed.replace("source: orders", "source: own") + own))
