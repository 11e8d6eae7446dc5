"""The workspace file `clinker.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import ConfigDict, Field

from clinker.config.errors import known_keys
from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.quantities import FileSize
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.suggest import closest
from clinker.engine_names import EngineName


class Spill(Model):
    dir: Name | None = None
    disk_cap_bytes: FileSize | None = None
    compress: Literal["auto", "off", "on"] = "auto"


class Staging(Model):
    enabled: bool = False
    dir: Name | None = None
    patterns: tuple[Name, ...] = ()
    disk_cap_bytes: FileSize | None = None
    verify: Literal["blake3", "none"] = "blake3"
    on_existing: Literal["overwrite", "reuse", "error"] = "overwrite"
    cleanup: Literal["on_success", "always", "never"] = "on_success"

    def check(self) -> Iterator[Diagnostic]:
        if self.enabled and self.dir is None:
            yield self.problem(
                "E033",
                "staging is enabled but has no directory",
                "enabled",
                help="add 'dir', a directory on a local volume",
            )


class Storage(Model):
    spill: Spill = Field(default_factory=Spill.model_construct)
    staging: Staging = Field(default_factory=Staging.model_construct)


class Description(Model):
    """What people call the workspace."""

    name: Name | None = None
    description: str | None = None


class Channels(Model):
    """Where the channels of the workspace are."""

    dir: Name | None = None
    default: Name | None = None


class EngineChoice(Model):
    """The engine that pipelines of the workspace run on, unless a command says otherwise."""

    name: EngineName = "spark"


class Workspace(Model):
    """A whole `clinker.toml` file; tables of other tools may stand beside ours."""

    model_config = ConfigDict(extra="ignore")

    storage: Storage = Field(default_factory=Storage.model_construct)
    workspace: Description = Field(default_factory=Description.model_construct)
    channels: Channels = Field(default_factory=Channels.model_construct)
    engine: EngineChoice = Field(default_factory=EngineChoice.model_construct)

    def check(self) -> Iterator[Diagnostic]:
        known = list(known_keys(type(self)))
        for key in self.node.entries.keys() - set(known):
            meant = closest(key, known)
            yield self.problem(
                "W005",
                f"unknown table '{key}'",
                key,
                key=True,
                help=f"did you mean '{meant}'?" if meant else f"known tables: {', '.join(known)}",
                warning=True,
            )
