"""Configuration files as validated models that remember where they were written.

One function per kind of file; each gives a `Loaded` with the model and every diagnostic.
"""

from clinker.config.channel import Channel
from clinker.config.composition import Composition
from clinker.config.layout import Layout
from clinker.config.load import (
    Loaded,
    load_cases,
    load_channel,
    load_columns,
    load_composition,
    load_pipeline,
    load_schema_file,
    load_workspace,
)
from clinker.config.model import Model
from clinker.config.pipeline import Pipeline
from clinker.config.workspace import Workspace

__all__ = [
    "Channel",
    "Composition",
    "Layout",
    "Loaded",
    "Model",
    "Pipeline",
    "Workspace",
    "load_cases",
    "load_channel",
    "load_columns",
    "load_composition",
    "load_pipeline",
    "load_schema_file",
    "load_workspace",
]
