"""The writer for each format."""

from __future__ import annotations

from clinker.formats.csv_writer import CsvRenderer
from clinker.formats.json_writer import JsonRenderer
from clinker.formats.writing import Renderer, WriteSpec


def renderer(spec: WriteSpec) -> Renderer:
    return CsvRenderer(spec) if spec.format == "csv" else JsonRenderer(spec)
