"""The smallest pipeline that can be run, where it does not matter what it does."""

from __future__ import annotations

from pathlib import Path

PIPELINE = """\
pipeline: { name: p }
nodes:
  - type: source
    name: s
    config: { type: csv, path: s.csv, schema: { id: int } }
  - type: output
    name: o
    input: s
    config: { type: csv, path: o.csv }
"""
DATA = "id\n1\n"


def lay_out(place: Path) -> None:
    """Put the pipeline, as p.yaml, into a directory; what it reads is what it will write."""
    (place / "p.yaml").write_text(PIPELINE)
    (place / "s.csv").write_text(DATA)
