from __future__ import annotations

from pathlib import Path

import pytest

from clinker.editing.kinds import FileKind, kind_of


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("orders.yaml", "pipeline:\n  name: p\nnodes: []\n", FileKind.PIPELINE),
        ("orders.yml", "nodes:\n  - type: source\n", FileKind.PIPELINE),
        ("orders.yaml", '"pipeline": {}\nnodes: [', FileKind.PIPELINE),
        ("part.yaml", "_compose:\n  name: c\nnodes: []\n", FileKind.COMPOSITION),
        ("part.comp.yaml", "", FileKind.COMPOSITION),
        ("acme.channel.yaml", "", FileKind.CHANNEL),
        ("acme.yaml", "channel: { name: a, target: b }\n", FileKind.CHANNEL),
        ("lines.schema.yaml", "fields: []\n", FileKind.SCHEMA),
        ("clinker.toml", "", FileKind.WORKSPACE),
        ("tax.cxl", "", FileKind.PROGRAM),
        ("pyproject.toml", "", None),
        ("compose.yaml", "services:\n  db: {}\n", None),
        ("ci.yaml", "pipeline:\n  - step: build\n", None),
        ("new.yaml", "pipeline:\n  name: p\n", FileKind.PIPELINE),
        ("new.yaml", "pipeline: # mine\n  name: p\n", FileKind.PIPELINE),
        ("new.yaml", "pipeline: { name: p }\n", FileKind.PIPELINE),
        ("nested.yaml", "x:\n  pipeline: 1\n  nodes: 2\n", None),
    ],
)
def test_kinds(name: str, text: str, kind: FileKind | None) -> None:
    assert kind_of(Path("dir", name), text) is kind
