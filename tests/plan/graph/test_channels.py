"""Channels: values of parameters and variables for one client or environment."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.graph.parameters import UnknownField, explain_field
from clinker.plan.options import Options
from tests.plan.graph.test_compositions import accepted, compiled_in, places, shown

PIPELINE = """\
pipeline:
  name: orders
  vars:
    fuzzy_threshold: { type: float, default: 0.85 }
nodes:
  - type: source
    name: orders_src
    config: { name: orders_src, type: csv, path: in.csv,
              schema: [{ name: id, type: int }] }
  - type: transform
    name: enrich
    input: orders_src
    config:
      declares:
        - { name: cutoff_date, scope: pipeline, type: date, default: "2024-01-01" }
        - { name: ingest_label, scope: source, type: string, default: "prod" }
        - { name: tier, scope: record, type: string, default: "bronze" }
      cxl: |
        emit id = id
  - { type: composition, name: enrich1, input: enrich, use: enrich.comp.yaml }
  - { type: output, name: out, input: enrich1, config: { type: csv, path: "{channel}.csv" } }
"""
COMPOSITION = """\
_compose:
  name: enrich
  inputs: { inp: { schema: { id: int } } }
  outputs: { out: tap }
  config_schema:
    fuzzy_threshold: { type: float, default: 0.5, range: [0, 1] }
    lookup_table: { type: path }
nodes:
  - type: transform
    name: tap
    input: inp
    config: { cxl: "emit score = $config.fuzzy_threshold" }
"""
CHANNEL = """\
channel:
  name: acme-prod
  target: ./p.yaml
vars:
  static:
    fuzzy_threshold: { type: float, default: 0.95 }
  pipeline:
    cutoff_date: { type: date, default: "2026-01-01" }
  source:
    orders_src:
      ingest_label: { type: string, default: "acme-prod" }
  record:
    tier: { type: string, default: "platinum" }
"""


def with_channel(
    folder: Path, channel: str, pipeline: str = PIPELINE, composition: str = COMPOSITION
) -> Compiled:
    files = {
        "p.yaml": pipeline,
        "enrich.comp.yaml": composition,
        "channels/acme.channel.yaml": channel,
    }
    return compiled_in(folder, files, "channels/acme.channel.yaml")


def config(**layers: str) -> str:
    lines = [f"  {layer}: {values}" for layer, values in layers.items()]
    return "\n".join(["channel: { name: acme, target: p.yaml }", "config:", *lines]) + "\n"


# Variables


def test_a_channel_replaces_defaults(tmp_path: Path) -> None:
    plan = accepted(with_channel(tmp_path, CHANNEL))
    registry = plan.registry
    assert plan.channel == "acme-prod"
    assert registry.initial("vars", "fuzzy_threshold") == 0.95
    assert registry.initial("pipeline", "cutoff_date") == date(2026, 1, 1)
    assert registry.initial("source", "ingest_label") == "prod"
    assert registry.initial("source", "ingest_label", "orders_src") == "acme-prod"
    assert registry.initial("record", "tier") == "platinum"


def test_without_a_default_the_declared_one_stays(tmp_path: Path) -> None:
    channel = CHANNEL.replace('{ type: string, default: "platinum" }', "{ type: string }")
    registry = accepted(with_channel(tmp_path, channel)).registry
    assert registry.initial("record", "tier") == "bronze"


def test_names_that_only_the_channel_declares(tmp_path: Path) -> None:
    channel = """\
        channel: { name: acme, target: p.yaml }
        vars:
          static: { region: { type: string, default: EU } }
          pipeline: { limit: { type: int, default: 3 } }
          source: { orders_src: { label: { type: string, default: a } } }
          record: { score: { type: float } }
        """
    cxl = "emit x = $vars.region + $source.label\n        emit y = $pipeline.limit + $record.score"
    plan = accepted(with_channel(tmp_path, channel, PIPELINE.replace("emit id = id", cxl)))
    columns = plan.nodes["out"].row.columns
    assert {name: str(columns[name]) for name in "xy"} == {
        "x": "Nullable(String)",
        "y": "Nullable(Float)",
    }
    assert plan.registry.initial("source", "label", "orders_src") == "a"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "tier: { type: string, default: platinum }",
            "tier: { type: int, default: 1 }",
            "E107 acme.channel.yaml:13 $record.tier is declared as string, "
            "the channel makes it int",
        ),
        (
            "orders_src:",
            "order_src:",
            "E111 acme.channel.yaml:10 the pipeline has no source 'order_src'",
        ),
        (
            "cutoff_date: {",
            "batch_id: {",
            "E110 acme.channel.yaml:8 $pipeline.batch_id is provided by the engine and cannot be "
            "declared",
        ),
        (
            "./p.yaml",
            "enrich.comp.yaml",
            "E109 acme.channel.yaml:4 a channel for a composition cannot set variables",
        ),
        ("name: acme-prod", "nmae: x", "E005 acme.channel.yaml:2 unknown key 'nmae'"),
        ('"2026-01-01"', "soon", None),
    ],
)
def test_wrong_channels(tmp_path: Path, old: str, new: str, expected: str | None) -> None:
    channel = CHANNEL.replace('"platinum"', "platinum")
    assert old in channel
    result = with_channel(tmp_path, channel.replace(old, new))
    assert result.plan is None
    assert shown(result.diagnostics) == ([expected] if expected else shown(result.diagnostics))


def test_a_type_mismatch_shows_the_declaration(tmp_path: Path) -> None:
    result = with_channel(
        tmp_path, CHANNEL.replace("type: float", "type: int").replace("0.95", "1")
    )
    mismatch = next(d for d in result.diagnostics if d.code == "E107")
    assert places(mismatch) == ["p.yaml:4 declared as float"]


def test_two_sources_must_agree_on_an_added_variable(tmp_path: Path) -> None:
    other = """\
  - { type: source, name: other, config: { type: csv, path: o.csv, schema: { id: int } } }
"""
    channel = """\
        channel: { name: acme, target: p.yaml }
        vars:
          source:
            orders_src: { label: { type: string } }
            other: { label: { type: int } }
        """
    result = with_channel(tmp_path, channel, PIPELINE + other)
    assert shown(result.diagnostics) == [
        "E107 acme.channel.yaml:5 $source.label is declared as string, the channel makes it int"
    ]


def test_a_channel_that_cannot_be_read(tmp_path: Path) -> None:
    result = compiled_in(
        tmp_path, {"p.yaml": PIPELINE, "enrich.comp.yaml": COMPOSITION}, "nowhere.yaml"
    )
    (problem,) = result.diagnostics
    assert problem.code == "E057"
    assert problem.message.endswith("nowhere.yaml': No such file or directory")


NAMED = {
    "clinker.toml": "[channels]\ndir = 'who'\n",
    "p.yaml": PIPELINE,
    "enrich.comp.yaml": COMPOSITION,
    "who/acme.channel.yaml": CHANNEL,
}


def by_name(folder: Path, name: str, files: dict[str, str]) -> Compiled:
    compiled_in(folder, files)
    options = Options(folder, channel=Path(name))
    return compile_pipeline(PIPELINE.encode(), str(folder / "p.yaml"), options)


def test_a_channel_is_found_by_its_name(tmp_path: Path) -> None:
    plan = by_name(tmp_path, "acme", NAMED).plan
    assert plan and plan.channel == "acme-prod"


def test_a_file_of_that_name_comes_first(tmp_path: Path) -> None:
    other = CHANNEL.replace("acme-prod", "other")
    plan = by_name(tmp_path, "acme", {**NAMED, "acme": other}).plan
    assert plan and plan.channel == "other"


@pytest.mark.parametrize(
    ("name", "workspace", "help"),
    [
        ("acne", "[channels]\ndir = 'who'\n", "did you mean 'acme'?"),
        ("globex", "[channels]\ndir = 'who'\n", "'{}/who' has: acme"),
        ("acme", "[channels]\ndir = 'nowhere'\n", "'{}/nowhere' has no channels"),
        (
            "acme",
            "",
            "give the path of its file, or say in clinker.toml where channels are: channels.dir",
        ),
        ("who/acme", "[channels]\ndir = 'who'\n", "check the path given with --channel"),
    ],
)
def test_a_name_that_no_channel_has(name: str, workspace: str, help: str, tmp_path: Path) -> None:
    (problem,) = by_name(tmp_path, name, {**NAMED, "clinker.toml": workspace}).diagnostics
    assert problem.code == "E057"
    assert problem.help == help.format(tmp_path)


@pytest.mark.parametrize(
    ("target", "warned"),
    [
        ("./p.yaml", False),
        ("../p.yaml", False),
        ("./pipelines/other.yaml", True),
        ("enrich.comp.yaml", False),
        ("other.comp.yaml", True),
    ],
)
def test_the_target_of_a_channel(tmp_path: Path, target: str, warned: bool) -> None:
    result = with_channel(tmp_path, f"channel: {{ name: acme, target: {target} }}\n")
    assert result.plan
    assert [d.code for d in result.diagnostics] == (["W104"] if warned else [])


# Parameters


@pytest.mark.parametrize(
    ("call", "channel", "value"),
    [
        ("", "{}", 0.5),
        ("config: { fuzzy_threshold: 0.6 }, ", "{}", 0.6),
        ("config: { fuzzy_threshold: 0.6 }, ", "default: { enrich1.fuzzy_threshold: 0.7 }", 0.7),
        ("", "default: { fuzzy_threshold: 0.7 }", 0.7),
        ("", "default: { fuzzy_threshold: 0.7, enrich1.fuzzy_threshold: 0.9 }", 0.9),
        ("", "default: { enrich1.fuzzy_threshold: 0.9, fuzzy_threshold: 0.7 }", 0.9),
        ("", "{ default: { fuzzy_threshold: 0.7 }, fixed: { enrich1.fuzzy_threshold: 0.8 } }", 0.8),
    ],
)
def test_who_wins(tmp_path: Path, call: str, channel: str, value: float) -> None:
    layers = channel if channel.startswith("{") else f"{{ {channel} }}"
    text = f"channel: {{ name: acme, target: p.yaml }}\nconfig: {layers}\n"
    pipeline = PIPELINE.replace("use: enrich", f"{call}use: enrich")
    plan = accepted(with_channel(tmp_path, text, pipeline))
    scope = plan.graph.units["enrich1/tap"].scope
    assert scope.config == {"fuzzy_threshold": value, "lookup_table": None}


def test_an_alias_addresses_its_call(tmp_path: Path) -> None:
    pipeline = PIPELINE.replace("name: enrich1", "name: enrich1, alias: e")
    channel = config(fixed="{ e.fuzzy_threshold: 0.9 }")
    plan = accepted(with_channel(tmp_path, channel, pipeline))
    assert plan.graph.units["e/tap"].scope.config["fuzzy_threshold"] == 0.9


def test_a_channel_of_a_composition(tmp_path: Path) -> None:
    channel = (
        "channel: { name: a, target: enrich.comp.yaml }\nconfig: { fixed: { lookup_table: x } }\n"
    )
    plan = accepted(with_channel(tmp_path, channel))
    assert plan.graph.units["enrich1/tap"].scope.config["lookup_table"] == "x"


@pytest.mark.parametrize("key", ["fuzy_threshold", "enrich2.fuzzy_threshold"])
def test_keys_that_no_call_takes(tmp_path: Path, key: str) -> None:
    result = with_channel(tmp_path, config(default=f"{{ {key}: 0.7 }}"))
    assert result.plan
    assert shown(result.diagnostics) == [
        f"W103 acme.channel.yaml:3 no composition call takes '{key}'"
    ]
    assert result.diagnostics[0].help in (
        "did you mean 'fuzzy_threshold'?",
        "did you mean 'enrich1.fuzzy_threshold'?",
    )


def test_values_must_fit_the_parameter(tmp_path: Path) -> None:
    result = with_channel(tmp_path, config(fixed="{ enrich1.fuzzy_threshold: 1.5 }"))
    assert shown(result.diagnostics) == [
        "E052 acme.channel.yaml:3 'fuzzy_threshold' of 'enrich1': "
        "must be between 0 and 1, found 1.5"
    ]
    assert places(result.diagnostics[0]) == ["enrich.comp.yaml:6 the parameter"]


def test_a_channel_can_satisfy_a_required_parameter(tmp_path: Path) -> None:
    composition = COMPOSITION.replace("{ type: path }", "{ type: path, required: true }")
    accepted(with_channel(tmp_path, config(fixed="{ lookup_table: a.csv }"), PIPELINE, composition))


# Provenance


def test_where_a_value_comes_from(tmp_path: Path) -> None:
    channel = config(
        default="{ enrich1.fuzzy_threshold: 0.85 }", fixed="{ enrich1.fuzzy_threshold: 0.92 }"
    )
    call = "config: { fuzzy_threshold: 0.6 }, use: enrich"
    plan = accepted(with_channel(tmp_path, channel, PIPELINE.replace("use: enrich", call)))
    text = explain_field(plan.parameters, "enrich1.fuzzy_threshold")
    assert text.replace(f"{tmp_path}/", "") == (
        "Field: enrich1.fuzzy_threshold\n"
        "\n"
        "  Resolved value: 0.92\n"
        "\n"
        "  Provenance chain (outermost to innermost):\n"
        "  [WON] ChannelFixed           →  0.92  (channels/acme.channel.yaml:4)\n"
        "        ChannelDefault         →  0.85  (channels/acme.channel.yaml:3)  (shadowed)\n"
        "        CallSite               →  0.6  (p.yaml:20)  (shadowed)\n"
        "        CompositionDefault     →  0.5  (enrich.comp.yaml:6)  (shadowed)\n"
    )


def test_a_field_that_is_no_parameter(tmp_path: Path) -> None:
    plan = accepted(with_channel(tmp_path, CHANNEL))
    with pytest.raises(UnknownField, match=r"did you mean 'enrich1\.lookup_table'"):
        explain_field(plan.parameters, "enrich1.lookuptable")
