"""`clinker lsp` as an editor meets it: a process of its own, over the protocol."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editing.client import Editor, RequestFailed, editing

PIPELINE = """\
pipeline:
  name: p   # 😀
  vars: { limit: 5 }
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema:
        - { name: id, type: int }
        - { name: amount, type: float }
        - { name: customer, type: string }
  - type: transform
    name: taxed
    input: orders
    config:
      cxl: |
        let rate = 0.19   # 😀
        emit tax = "😀".length() + (amount * rate).round(2)
        emit big = amount > $vars.limit
  - type: aggregate
    name: sums
    input: taxed
    config:
      group_by: [customer]
      cxl: |
        emit total = sum(amount)
        emit taxes = sum(tax)
  - type: output
    name: result
    input: sums
    config:
      type: csv
      path: out.csv
      mapping: { Kunde: customer }
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with editing(tmp_path_factory.mktemp("editor")) as editor:
        yield editor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "p.yaml"
    file.write_text(PIPELINE, encoding="utf-8")
    return file


def test_tells_what_is_wrong_while_it_is_typed(editor: Editor, path: Path) -> None:
    assert editor.open(path) == []
    editor.change(path, PIPELINE.replace("(amount * rate)", "(amuont * rate)"))
    (problem,) = editor.diagnostics(path)
    assert (problem["code"], problem["severity"], problem["source"]) == ("E200", 1, "clinker")
    assert problem["message"] == "unknown field 'amuont'\nhelp: did you mean 'amount'?"
    # The emoji in front counts as two, as editors count.
    assert problem["range"] == {
        "start": {"line": 19, "character": 36},
        "end": {"line": 19, "character": 42},
    }
    editor.change(path, PIPELINE)
    assert editor.diagnostics(path) == []


def test_completes_while_the_yaml_is_broken(editor: Editor, path: Path) -> None:
    editor.open(path)
    broken = PIPELINE.replace("input: sums", "input: ").replace("schema:", "schema: [", 1)
    editor.change(path, broken)
    assert [*editor.complete(path, "name: result\n    input: |")] == ["orders", "taxed", "sums"]
    assert editor.diagnostics(path)
    assert "taxed" in editor.complete(path, "name: result\n    input: |")


@pytest.mark.parametrize(
    ("old", "new", "offered", "not_offered"),
    [
        ("    input: taxed\n", "    |\n", {"input", "description"}, {"name", "path"}),
        ("- type: aggregate", "- type: |", {"source", "aggregate", "state"}, {"csv"}),
        ("      path: out.csv\n", "      |\n", {"path", "split", "exclude"}, {"mapping", "cxl"}),
        ("[customer]", "[|]", {"customer", "tax", "big"}, {"total"}),
        ("Kunde: customer", "Kunde: |", {"customer", "total"}, {"amount"}),
        ("type: float }", "type: | }", {"float", "date_time"}, {"csv"}),
        ("big = amount > $vars.limit", "big = amount > $vars.|", {"limit"}, {"rate"}),
        ("$vars.limit", "|", {"rate", "tax", "customer", "if"}, {"let", "sum"}),
        ("$vars.limit", "$|", {"vars", "pipeline"}, {"window"}),
        ("taxes = sum(tax)", "taxes = |", {"sum", "count", "tax"}, {"let"}),
        ("rate).round(2)", "rate).|", {"round", "to_string"}, {"trim"}),
        ("emit taxes = sum(tax)", "|", {"emit", "let"}, set()),
        ("(amount * rate)", '("a customer.|")', set(), {"trim", "customer"}),
        ("# 😀\n  vars", "# 😀 |\n  vars", set(), {"vars", "memory"}),
    ],
)
def test_completes(
    editor: Editor, path: Path, old: str, new: str, offered: set[str], not_offered: set[str]
) -> None:
    editor.open(path)
    assert PIPELINE.count(old) == 1
    editor.change(path, PIPELINE.replace(old, new.replace("|", "")))
    before, after = PIPELINE.split(old)
    suggestions = set(editor.complete(path, before[-20:] + new + after[:20]))
    assert offered <= suggestions
    assert not not_offered & suggestions


def test_explains_what_stands_under_the_cursor(editor: Editor, path: Path) -> None:
    editor.open(path)
    told = editor.hover(path, "(amo|unt * rate)")
    assert "amount: Nullable(Float)" in told
    assert "declared by source `orders`, line 12" in told
    assert "emitted by transform `taxed`, line 20" in editor.hover(path, "sum(t|ax)")
    assert "declared by source `orders`, line 13" in editor.hover(path, "[cust|omer]")
    assert "Rounds to a number of decimal places" in editor.hover(path, ").ro|und(2)")
    assert "Numeric.round([decimals: Int])" in editor.hover(path, ").ro|und(2)")
    assert "The sum of the values" in editor.hover(path, "su|m(amount)")
    assert "rate: Float" in editor.hover(path, "amount * ra|te")
    assert "constant, `5`" in editor.hover(path, "$vars.li|mit")
    assert "**transform** `taxed`" in editor.hover(path, "input: ta|xed")
    assert "the fields of a group" in editor.hover(path, "grou|p_by")
    assert editor.hover(path, "# 😀|\n  vars") == ""


def test_goes_to_definitions_and_finds_references(editor: Editor, path: Path) -> None:
    editor.open(path)
    assert editor.definition(path, "sum(amou|nt)") == ["p.yaml:12:amount"]
    assert editor.definition(path, "sum(t|ax)") == ["p.yaml:20:tax"]
    assert editor.definition(path, "input: su|ms") == ["p.yaml:23:sums"]
    assert editor.definition(path, "* rat|e)") == ["p.yaml:19:rate"]
    assert editor.definition(path, "$vars.li|mit") == ["p.yaml:3:limit"]
    assert sorted(editor.references(path, "cust|omer]")) == [
        "p.yaml:13:customer",
        "p.yaml:26:customer",
        "p.yaml:36:customer",
    ]
    assert sorted(editor.references(path, "name: tax|ed")) == ["p.yaml:15:taxed", "p.yaml:24:taxed"]


def test_answers_are_about_the_text_as_it_is_now(editor: Editor, path: Path) -> None:
    editor.open(path)
    editor.change(path, "# one more line\n" + PIPELINE)
    assert editor.definition(path, "sum(t|ax)") == ["p.yaml:21:tax"]


def test_renames_columns_and_nodes(editor: Editor, path: Path) -> None:
    editor.open(path)
    assert editor.rename(path, "sum(amo|unt)", "price") == (
        PIPELINE.replace("name: amount", "name: price")
        .replace("(amount", "(price")
        .replace("big = amount", "big = price")
    )
    assert editor.rename(path, "[cust|omer]", "client") == PIPELINE.replace("customer", "client")
    assert editor.rename(path, "name: su|ms", "totals") == (
        PIPELINE.replace("name: sums", "name: totals").replace("input: sums", "input: totals")
    )


@pytest.mark.parametrize(
    ("marked", "name", "reason"),
    [
        ("sum(amo|unt)", "tax", "'taxed' has a column 'tax' already"),
        ("sum(amo|unt)", "if", "'if' is a word of the language"),
        ("sum(amo|unt)", "a b", "'a b' is no name"),
        ("name: su|ms", "orders", "there is a node 'orders' already"),
        ("name: su|ms", "a.b", "'a.b' cannot name a node"),
        ("path: or|ders.csv", "x", "there is no column or node here"),
    ],
)
def test_says_why_something_keeps_its_name(
    editor: Editor, path: Path, marked: str, name: str, reason: str
) -> None:
    editor.open(path)
    with pytest.raises(RequestFailed, match=reason):
        editor.rename(path, marked, name)


def test_formats_the_cxl(editor: Editor, path: Path) -> None:
    editor.open(path)
    editor.change(path, PIPELINE.replace("amount * rate", "amount*rate"))
    assert editor.format(path) == PIPELINE.replace("   # 😀\n        emit", "  # 😀\n        emit")


def test_outlines_nodes_and_what_they_emit(editor: Editor, path: Path) -> None:
    editor.open(path)
    document = {"textDocument": {"uri": path.as_uri()}}
    symbols = editor.request("textDocument/documentSymbol", document)
    named = [(s["name"], s.get("detail"), [c["name"] for c in s["children"]]) for s in symbols]
    assert named == [
        ("pipeline", None, []),
        ("orders", "source", []),
        ("taxed", "transform", ["tax", "big"]),
        ("sums", "aggregate", ["total", "taxes"]),
        ("result", "output", []),
    ]


COMPOSITION = """\
_compose:
  name: c
  inputs:
    rows: { schema: [{ name: amount, type: float }], required: true }
  outputs: { out: doubled }
  config_schema: { factor: { type: int, default: 2 } }
nodes:
  - type: transform
    name: doubled
    input: rows
    config: { cxl: "use money as m emit double = m::times(amount, $config.factor)" }
"""
CALL = """\
  - { type: composition, name: call, use: c.comp.yaml, inputs: { rows: orders } }
  - type: aggregate
    name: sums
    input: call.out
"""


@pytest.fixture
def project(path: Path) -> Path:
    folder = path.parent
    (folder / "rules").mkdir()
    (folder / "rules" / "money.cxl").write_text("fn times(a, b) = a * b\n")
    (folder / "c.comp.yaml").write_text(COMPOSITION)
    head, _, tail = PIPELINE.partition("  - type: aggregate\n")
    body = tail.partition("input: taxed\n")[2].replace("sum(tax)", "sum(double)")
    path.write_text(head + CALL + body, encoding="utf-8")
    return folder


def test_follows_compositions_and_modules(editor: Editor, project: Path, path: Path) -> None:
    composition = project / "c.comp.yaml"
    assert editor.open(path) == []
    assert editor.definition(path, "use: c.co|mp.yaml") == ["c.comp.yaml:2:c"]
    assert editor.definition(path, "sum(dou|ble)") == ["c.comp.yaml:11:double"]
    assert "emitted by transform `call/doubled`" in editor.hover(path, "sum(dou|ble)")
    assert editor.open(composition) == []
    assert editor.definition(composition, "m::ti|mes") == ["money.cxl:1:times"]
    assert editor.definition(composition, "input: ro|ws") == ["c.comp.yaml:4:rows"]
    assert "fn times(a, b) = a * b" in editor.hover(composition, "m::ti|mes")
    assert "factor" in editor.complete(composition, "$config.|factor")
    assert "times" in editor.complete(composition, "m::|times")
    with pytest.raises(RequestFailed, match=r"also named in c\.comp\.yaml"):
        editor.rename(path, "sum(amo|unt)", "price")


def test_completes_ports_and_parameters_of_a_call(
    editor: Editor, project: Path, path: Path
) -> None:
    editor.open(path)
    text = editor.texts[path][0]
    editor.change(path, text.replace("{ rows: orders } }", "{ rows: orders }, config: {  } }"))
    assert "factor" in editor.complete(path, "config: { | }")
    editor.change(path, text.replace("{ rows: orders } }", "{  } }"))
    assert set(editor.complete(path, "inputs: { | }")) == {"rows"}


def test_reads_texts_that_are_not_saved(editor: Editor, project: Path, path: Path) -> None:
    composition = project / "c.comp.yaml"
    editor.open(path)
    editor.open(composition)
    editor.change(composition, COMPOSITION.replace("emit double", "emit twice"))
    assert editor.diagnostics(composition) == []
    (problem,) = editor.diagnostics(path)
    assert "unknown field 'double'" in problem["message"]


def test_an_error_elsewhere_is_shown_where_that_is_used(
    editor: Editor, project: Path, path: Path
) -> None:
    (project / "c.comp.yaml").write_text(COMPOSITION.replace("(amount", "(amuont"))
    (problem, *_) = editor.open(path)
    assert problem["message"].startswith("c.comp.yaml:11: ")
    assert problem["range"]["start"]["line"] == 21
    assert problem["relatedInformation"][0]["location"]["uri"].endswith("c.comp.yaml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.channel.yaml", "channel:\n  nam: x\n  target: p.yaml\n  \n", "unknown key 'nam'"),
        ("l.schema.yaml", "fields:\n  - { name: a, widht: 3 }\n", "unknown key 'widht'"),
        ("clinker.toml", "[storage.spill]\ncompress = 'maybe'\n", "unknown compress 'maybe'"),
        ("x.cxl", "emit a = b.trimm()\n", "unknown method 'trimm'"),
    ],
)
def test_other_kinds_of_files_are_checked(
    editor: Editor, tmp_path: Path, name: str, text: str, message: str
) -> None:
    problems = editor.open(tmp_path / name, text)
    assert any(message in problem["message"] for problem in problems), problems


def test_other_kinds_of_files_are_completed(editor: Editor, tmp_path: Path) -> None:
    channel, toml, cxl = (tmp_path / name for name in ("a.channel.yaml", "clinker.toml", "x.cxl"))
    editor.open(channel, "channel:\n  name: x\n  \n")
    assert "target" in editor.complete(channel, "name: x\n  |")
    editor.open(toml, "[storage.spill]\n\n")
    assert {"dir", "compress"} <= set(editor.complete(toml, "spill]\n|"))
    editor.open(cxl, "let a = 1\nemit b = a.\n")
    assert "to_string" in editor.complete(cxl, "b = a.|")
    assert "declared" not in editor.hover(cxl, "let |a")


def test_a_channel_leads_to_what_it_is_for(editor: Editor, path: Path) -> None:
    channel = path.with_name("a.channel.yaml")
    editor.open(path)
    assert editor.open(channel, "channel: { name: a, target: p.yaml }\n") == []
    assert editor.definition(channel, "target: p.y|aml") == ["p.yaml:1:"]
    assert "the pipeline or composition it is for" in editor.hover(channel, "tar|get: p")


def test_a_file_that_is_closed_has_no_problems(editor: Editor, path: Path) -> None:
    assert editor.open(path, PIPELINE.replace("input: sums", "input: sum"))
    editor.change(path, PIPELINE.replace("input: sums", "input: su"))
    editor.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    assert editor.open(path, PIPELINE) == []


def test_a_file_of_others_is_left_alone(editor: Editor, tmp_path: Path) -> None:
    assert editor.open(tmp_path / "compose.yaml", "services: [\n") == []


def test_an_editor_may_count_other_units(tmp_path: Path, path: Path) -> None:
    with editing(tmp_path, general={"positionEncodings": ["utf-8"]}) as editor:
        (problem,) = editor.open(path, PIPELINE.replace("(amount * rate)", "(amuont * rate)"))
        assert problem["range"]["start"] == {"line": 19, "character": 38}


def test_says_what_is_missing_without_the_extra(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['pygls'] = None; from importlib import util;"
        "find = util.find_spec; util.find_spec = lambda n: None if n == 'pygls' else find(n);"
        "from clinker.cli.clinker import main; sys.exit(main(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr == (
        "error: the language server needs pygls, which is not installed\n"
        "  help: pip install 'clinker-spark[lsp]'\n"
    )
