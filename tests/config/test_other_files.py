"""Channels, compositions, schema files and the workspace file."""

from __future__ import annotations

from textwrap import dedent

import pytest

from clinker.config import load_channel, load_composition, load_schema_file, load_workspace
from clinker.config.reference import Ref
from clinker.cxl.types import DATE, INT
from tests.config.loading import brief

CHANNEL = """\
channel:
  name: acme-prod
  target: ./pipelines/orders.yaml
config:
  default: { enrich1.fuzzy_threshold: 0.85 }
  fixed: { lookup_table: "s3://acme/staging.csv" }
vars:
  static: { fuzzy_threshold: { type: float, default: 0.95 }, label: bare }
  pipeline: { cutoff_date: { type: date, default: "2026-01-01" } }
  source: { orders_src: { ingest_label: { type: string, default: acme } } }
  record: { tier: { type: string, default: platinum } }
"""


def test_channel() -> None:
    channel = load_channel(CHANNEL.encode()).value
    assert channel
    assert channel.channel.name == "acme-prod"
    assert not channel.channel.targets_composition
    assert channel.config.default == {"enrich1.fuzzy_threshold": 0.85}
    assert channel.vars.static["label"].type == "string"
    assert channel.vars.source["orders_src"]["ingest_label"].initial == "acme"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("target:", "traget:", ["E005 3:3 unknown key 'traget'"]),
        (
            "orders.yaml",
            "x.comp.yaml",
            ["E109 7:1 a channel for a composition cannot set variables"],
        ),
        (
            "cutoff_date",
            "execution_id",
            ["E110 9:15 $pipeline.execution_id is provided by the engine and cannot be declared"],
        ),
        (
            "ingest_label",
            "path",
            ["E110 10:27 $source.path is provided by the engine and cannot be declared"],
        ),
        (
            "enrich1.fuzzy",
            "a.b.fuzzy",
            ["E032 5:14 'a.b.fuzzy_threshold' does not name a parameter"],
        ),
        (
            '"2026-01-01"',
            "soon",
            [
                "E020 9:51 a default of type date must be a date such as '2026-01-31', "
                "found string 'soon'"
            ],
        ),
        ("acme-prod", "${NAME}", []),
    ],
)
def test_channel_diagnostics(old: str, new: str, expected: list[str]) -> None:
    assert brief(load_channel(CHANNEL.replace(old, new).encode()).diagnostics) == expected


COMPOSITION = """\
_compose:
  name: read_pipeline_var
  inputs:
    inp: { schema: [{ name: id, type: int }], required: true }
    opt: { schema: { code: string } }
  outputs:
    out: tap
    rest: { ref: split.low, description: the others }
  config_schema:
    start_month: { type: int, default: 1, range: [1, 12] }
    mode: { type: string, enum: [fast, exact], required: true }
  resources_schema: { zips: { kind: file } }
  scoped_vars: { pipeline: { cutoff: { type: int }, label: string } }
nodes:
  - { type: transform, name: tap, input: inp, config: { cxl: emit id = id } }
"""


def test_composition() -> None:
    composition = load_composition(COMPOSITION.encode()).value
    assert composition
    signature = composition.signature
    assert signature.inputs["inp"].required
    assert not signature.inputs["opt"].required
    assert signature.outputs["out"].ref == Ref("tap")
    assert signature.outputs["rest"].ref == Ref("split", "low")
    assert signature.scoped_vars.pipeline["label"].type == "string"
    month, mode = signature.config_schema["start_month"], signature.config_schema["mode"]
    assert month.why_not(4) is None
    assert month.why_not(13) == "must be between 1 and 12, found 13"
    assert month.why_not("4") == "expected an integer, found string '4'"
    assert mode.why_not("slow") == "string 'slow' is not one of: fast, exact"


def test_composition_with_one_port() -> None:
    text = """\
        composition:
          name: fiscal_date
          description: "Derive fiscal year"
          requires:
            - { name: invoice_date, type: date }
          produces:
            - { name: fiscal_year, type: int }
          params:
            - { name: start_month, type: int, default: 1, description: First month }
        nodes:
          - { type: transform, name: derive, input: input, cxl: emit fiscal_year = 1 }
        """
    composition = load_composition(dedent(text).encode()).value
    assert composition
    signature = composition.signature
    assert signature.name == "fiscal_date"
    (needed,) = signature.inputs["input"].columns or ()
    assert (needed.name, needed.type) == ("invoice_date", DATE)
    assert signature.inputs["input"].required
    (given,) = signature.outputs["output"].columns or ()
    assert (given.name, given.type) == ("fiscal_year", INT)
    assert signature.outputs["output"].ref is None
    assert signature.config_schema["start_month"].default == 1
    assert needed.at("type").start == (5, 35)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  name: read_pipeline_var\n", "", ["E006 2:3 missing key 'name'"]),
        ("default: 1,", "default: 13,", None),
        ("range: [1, 12]", "range: [12, 1]", None),
        ("range: [1, 12]", "range: [1]", None),
        ("type: int, default", "type: string, default", None),
        ("required: true }\n  res", "required: true, default: fast }\n  res", None),
        ("out: tap", "out: a.b.c", ["E016 7:10 'a.b.c' does not name a node"]),
        ("scoped_vars", "scopedvars", ["E005 13:3 unknown key 'scopedvars'"]),
    ],
)
def test_composition_diagnostics(old: str, new: str, expected: list[str] | None) -> None:
    assert old in COMPOSITION
    found = brief(load_composition(COMPOSITION.replace(old, new).encode()).diagnostics)
    assert found == expected if expected is not None else found


def test_composition_without_body() -> None:
    text = COMPOSITION[: COMPOSITION.index("nodes:")] + "nodes: []\n"
    found = brief(load_composition(text.encode()).diagnostics)
    assert found == ["E031 14:8 the composition has no nodes"]


def test_schema_file() -> None:
    text = """\
        version: "1.0"
        format: fixed_width
        encoding: utf-8
        defs: { money: { type: decimal, scale: 2, width: 10 } }
        records:
          - id: detail
            tag: D
            fields:
              - { name: kind, start: 0, width: 1 }
              - { name: total, start: 1, inherits: money }
        discriminator: { start: 0, width: 1 }
        structure: [{ record: detail, count: "1+" }]
        """
    layout = load_schema_file(dedent(text).encode()).value
    assert layout
    assert layout.records
    assert layout.resolved(layout.records[0].fields[1]).scale == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("format: csv\n", ["E021 1:1 the layout has no fields"]),
        ("version: [1]\nfields: []\n", ["E007 1:10 expected a string, found a list"]),
        ("fields: [{ name: a, pad: '00' }]\n", ["E007 1:26 takes at most 1 character"]),
        ("fields: [{ name: a, type: strng }]\n", ["E007 1:27 unknown type 'strng'"]),
        (
            "fields: [{ name: a, width: 1, end: 2, inherits: x, drop: true }]\n",
            [
                "E021 1:31 field 'a' has both 'width' and 'end'",
                "E021 1:49 'x' is not defined under 'defs'",
                "E021 1:52 'drop' is for schema overrides, not for the layout itself",
            ],
        ),
        ("format: fixed_width\nfields: [{ name: a }]\n", ["E021 2:12 field 'a' has no width"]),
        ("_schema: {}\nfields: [{ name: a }]\n", ["E005 1:1 unknown key '_schema'"]),
    ],
)
def test_schema_file_diagnostics(text: str, expected: list[str]) -> None:
    assert brief(load_schema_file(text.encode()).diagnostics) == expected


WORKSPACE = """\
# where things go
[storage.spill]
dir = "/var/clinker/spill"
disk_cap_bytes = "10GB" # decimal
compress = "off"

[storage.staging]
enabled = true
dir = "/var/clinker/staging"
patterns = [
  "/mnt/nfs/**",
]
"""


def test_workspace() -> None:
    workspace = load_workspace(WORKSPACE.encode()).value
    assert workspace
    spill, staging = workspace.storage.spill, workspace.storage.staging
    assert (spill.disk_cap_bytes, spill.compress) == (10**10, "off")
    assert staging.patterns == ("/mnt/nfs/**",)
    assert staging.verify == "blake3"
    assert spill.at("disk_cap_bytes").start == (4, 18)


def test_an_empty_workspace_has_the_defaults() -> None:
    workspace = load_workspace(b"").value
    assert workspace
    assert workspace.storage.spill.compress == "auto"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"10GB"', '"10 potatoes"', ["E215 4:18 expected a size, found string '10 potatoes'"]),
        ('"off"', '"of"', ["E007 5:12 unknown compress 'of'"]),
        ("compress", "compres", ["E005 5:1 unknown key 'compres'"]),
        ("[storage.staging]", "[storage.stagin]", ["E005 7:2 unknown key 'stagin'"]),
        ("true", '"yes"', ["E007 8:11 expected true or false, found string 'yes'"]),
        ("enabled = true\ndir", "enabled = true\ncleanup", None),
        (
            'dir = "/var/clinker/staging"\n',
            "",
            ["E033 8:11 staging is enabled but has no directory"],
        ),
        ('"off"', '"off', ["E000 5:16 this is not TOML: illegal character '\\n'"]),
        ('"off"', "2024-01-01", ["E007 5:12 expected a word, found 2024-01-01"]),
        (
            "[storage.spill]",
            "[channels]\nx = 1\n[storage.spill]",
            ["E005 3:1 unknown key 'x'"],
        ),
        ("[storage.spill]", "[workspace]\nname = 'w'\ndescription = 'd'\n[storage.spill]", []),
        ("[storage.spill]", "[channels]\ndir = 'c'\ndefault = 'x'\n[storage.spill]", []),
        ("[storage.spill]", "[workspac]\n[storage.spill]", ["W005 2:2 unknown table 'workspac'"]),
        ("[storage.spill]", "[tool.x]\na = 1\n[storage.spill]", ["W005 2:2 unknown table 'tool'"]),
    ],
)
def test_workspace_diagnostics(old: str, new: str, expected: list[str] | None) -> None:
    found = brief(load_workspace(WORKSPACE.replace(old, new).encode()).diagnostics)
    assert found == expected if expected is not None else found
