"""Channel files: a pipeline's settings for one client or environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.variables import Variable, reserved_names
from clinker.diagnostics import Diagnostic

_PARAMETER = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?")


class ChannelHeader(Model):
    name: Name = Field(description="the channel's name")
    target: Name = Field(description="the pipeline or composition it is for")

    @property
    def targets_composition(self) -> bool:
        return self.target.endswith(".comp.yaml")


class Overlay(Model):
    """Values for parameters, `alias.param` or `param`; only defaults can be overridden again."""

    default: dict[str, Any] = Field(
        default_factory=dict, description="values that pipelines and calls may override"
    )
    fixed: dict[str, Any] = Field(default_factory=dict, description="values that nothing overrides")

    def check(self) -> Iterator[Diagnostic]:
        for layer in ("default", "fixed"):
            for key in getattr(self, layer):
                if not _PARAMETER.fullmatch(key):
                    yield self.problem(
                        "E032",
                        f"'{key}' does not name a parameter",
                        layer,
                        key,
                        key=True,
                        help="write 'param', or 'node.param' for one composition node",
                    )


class ChannelVariables(Model):
    static: dict[str, Variable] = Field(default_factory=dict, description="values of constants")
    pipeline: dict[str, Variable] = Field(
        default_factory=dict, description="values of the run's variables"
    )
    source: dict[str, dict[str, Variable]] = Field(
        default_factory=dict, description="values of variables of one source, by its name"
    )
    record: dict[str, Variable] = Field(
        default_factory=dict, description="values of the records' variables"
    )

    def check(self) -> Iterator[Diagnostic]:
        yield from reserved_names(self, "pipeline", self.pipeline, "pipeline")
        for source, variables in self.source.items():
            yield from reserved_names(self, "source", variables, "source", source)


class Channel(Model):
    """A whole `.channel.yaml` file."""

    channel: ChannelHeader = Field(description="the channel's name and target")
    config: Overlay = Field(
        default_factory=Overlay.model_construct, description="values of parameters of compositions"
    )
    resources: Overlay = Field(
        default_factory=Overlay.model_construct, description="files that compositions ask for"
    )
    vars: ChannelVariables = Field(
        default_factory=ChannelVariables.model_construct,
        description="values of variables of the pipeline",
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.channel.targets_composition and self.has("vars"):
            yield self.problem(
                "E109",
                "a channel for a composition cannot set variables",
                "vars",
                key=True,
                help="move 'vars' to a channel of the pipeline",
            )
