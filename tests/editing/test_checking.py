"""What is said about files of every kind, and under which names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from clinker.editing.checking import NO_DIRECTORY, check_content, rules_of
from clinker.editing.kinds import kind_of
from clinker.plan.options import Options

PIPELINE = """\
pipeline: { name: p, vars: { limit: 5 } }
nodes:
  - { type: source, name: s, config: { type: csv, path: s.csv, schema: [{ name: a, type: int }] } }
  - { type: composition, name: call, use: c.comp.yaml, inputs: { rows: s } }
  - { type: output, name: o, input: call.out, config: { type: csv, path: o.csv } }
"""
COMPOSITION = """\
_compose:
  name: c
  inputs: { rows: { schema: [{ name: a, type: int }] } }
  outputs: { out: t }
  config_schema: { factor: { type: int, default: 2 } }
nodes:
  - { type: transform, name: t, input: rows, config: { cxl: "emit b = a * $config.factor" } }
"""
CHANNEL = "channel: { name: acme, target: %s }\nconfig: { fixed: { call.%s: 3 } }\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def said(path: Path) -> list[str]:
    """The findings, as `code file:line`."""
    content = path.read_bytes()
    kind = kind_of(path, content.decode())
    assert kind
    findings = check_content(path, content, kind, Options(NO_DIRECTORY))
    places = [f.primary.location for f in findings if f.primary]
    return [
        f"{f.code} {place.source.name}:{place.start.line}"
        for f, place in zip(findings, places, strict=True)
    ]


@pytest.mark.parametrize("directory", ["", "channels", "a/b"])
def test_a_channel_is_checked_on_its_pipeline(tmp_path: Path, directory: str) -> None:
    write(tmp_path, {"clinker.toml": "", "p.yaml": PIPELINE, "c.comp.yaml": COMPOSITION})
    good, bad = (tmp_path / directory / f"{name}.channel.yaml" for name in ("good", "bad"))
    write(tmp_path, {str(good): CHANNEL % ("p.yaml", "factor")})
    write(tmp_path, {str(bad): CHANNEL % ("p.yaml", "facter")})
    assert said(good) == []
    assert said(bad) == [f"W103 {bad}:2"]


def test_a_channel_whose_pipeline_is_elsewhere_is_checked_by_itself(tmp_path: Path) -> None:
    write(tmp_path, {"clinker.toml": "", "a.channel.yaml": CHANNEL % ("none.yaml", "x")})
    assert said(tmp_path / "a.channel.yaml") == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("fields: [{ name: a, start: 0, width: 3 }]\n", []),
        ("a: int\nb: string\n", []),
        ("schema: [{ name: a, type: int }]\n", []),
        ("- { name: a, type: itn }\n", ["E014"]),
        ("fields: [{ name: a, widht: 3 }]\n", ["E005"]),
        ("fields: []\nrecords: []\n", ["E021"]),
    ],
)
def test_a_schema_file_is_a_layout_or_columns(tmp_path: Path, text: str, codes: list[str]) -> None:
    path = tmp_path / "x.schema.yaml"
    path.write_text(text)
    assert [finding.split()[0] for finding in said(path)] == codes


def test_other_files_are_named_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = COMPOSITION.replace("= a *", "= aa *")
    write(tmp_path, {"sub/p.yaml": PIPELINE, "sub/c.comp.yaml": broken})
    monkeypatch.chdir(tmp_path)
    assert said(Path("sub/p.yaml")) == ["E200 sub/c.comp.yaml:7"]
    monkeypatch.chdir(tmp_path / "sub")
    assert said(Path("p.yaml")) == ["E200 c.comp.yaml:7"]


def test_modules_of_files_without_a_pipeline_are_found_above_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "clinker.toml": "",
            "rules/m.cxl": "fn f(x) = x\n",
            "programs/deep/x.cxl": "use m emit a = m::f(1)\n",
        },
    )
    program = tmp_path / "programs" / "deep" / "x.cxl"
    assert said(program) == []
    assert rules_of(program, Options(NO_DIRECTORY)) == tmp_path / "rules"
