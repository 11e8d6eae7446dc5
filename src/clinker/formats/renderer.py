"""The writer for each format."""

from __future__ import annotations

from clinker.formats.common.writing import Renderer, WriteSpec
from clinker.formats.csv.writer import CsvRenderer
from clinker.formats.json.writer import JsonRenderer


def renderer(spec: WriteSpec) -> Renderer:
    return CsvRenderer(spec) if spec.format == "csv" else JsonRenderer(spec)
