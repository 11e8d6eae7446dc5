"""Pipelines as texts, compiled or just bound, and findings in the short form of the tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from clinker.config import Pipeline, load_pipeline
from clinker.cxl.modules import ModuleLibrary
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plan.binding import bind
from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.graph import Graph
from clinker.plan.options import Options
from clinker.plan.planned import Planned
from clinker.plan.variables import declared
from clinker.plan.wiring import wire


def compiled(text: str) -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        return compile_pipeline(dedent(text).encode(), "pipeline.yaml", Options(Path(folder)))
