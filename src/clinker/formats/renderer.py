"""What writes the records of an output."""

from __future__ import annotations

from clinker.formats.common.writing import Renderer, WriteSpec
from clinker.formats.registry import load_format


def renderer(spec: WriteSpec) -> Renderer:
    """The writer of the format that an output has."""
    return load_format(spec.format).make_renderer(spec, spec.dialect)
