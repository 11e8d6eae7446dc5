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
from clinker.stores.urls import SCHEMES, parse_url


class Spill(Model):
    dir: Name | None = Field(
        default=None, description="where the engine puts what does not fit into memory"
    )
    disk_cap_bytes: FileSize | None = Field(
        default=None, description="the most bytes it may put there"
    )
    compress: Literal["auto", "off", "on"] = Field(
        default="auto", description="whether it is compressed"
    )


class Staging(Model):
    enabled: bool = Field(
        default=False, description="whether inputs are copied to a local volume first"
    )
    dir: Name | None = Field(default=None, description="the directory on that volume")
    patterns: tuple[Name, ...] = Field(
        default=(), description="the files that are copied; none when left out"
    )
    disk_cap_bytes: FileSize | None = Field(
        default=None, description="the most bytes that copies may take"
    )
    verify: Literal["blake3", "none"] = Field(
        default="blake3", description="how copies are compared with what they were made of"
    )
    on_existing: Literal["overwrite", "reuse", "error"] = Field(
        default="overwrite", description="what happens when a copy is there already"
    )
    cleanup: Literal["on_success", "always", "never"] = Field(
        default="on_success", description="when copies are removed"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.enabled and self.dir is None:
            yield self.problem(
                "E033",
                "staging is enabled but has no directory",
                "enabled",
                help="add 'dir', a directory on a local volume",
            )


class Objects(Model):
    """What pipelines may read and write in object stores."""

    allow: tuple[Name, ...] = Field(
        default=(), description="the buckets, or directories in them, that pipelines may use"
    )

    def check(self) -> Iterator[Diagnostic]:
        for url in self.allow:
            if not parse_url(url):
                yield self.problem(
                    "E033",
                    f"'{url}' is no bucket of an object store",
                    "allow",
                    help="write s3://bucket/ or s3://bucket/directory/; the kinds of stores are: "
                    + ", ".join(SCHEMES),
                )


class Storage(Model):
    spill: Spill = Field(
        default_factory=Spill.model_construct, description="what does not fit into memory"
    )
    staging: Staging = Field(
        default_factory=Staging.model_construct, description="copies of inputs on a local volume"
    )
    objects: Objects = Field(
        default_factory=Objects.model_construct, description="what may be used in object stores"
    )


class Description(Model):
    """What people call the workspace."""

    name: Name | None = Field(default=None, description="the workspace's name")
    description: str | None = Field(default=None, description="what the workspace is for")


class Channels(Model):
    """Where the channels of the workspace are."""

    dir: Name | None = Field(
        default=None,
        description="the directory of channels, for people: a run names the file of its channel",
    )
    default: Name | None = Field(
        default=None,
        description="the usual channel, for people: a run without `--channel` has none",
    )


class EngineChoice(Model):
    """The engine that pipelines of the workspace run on, unless a command says otherwise."""

    name: EngineName = Field(default="spark", description="spark, or sail without Java")


class Workspace(Model):
    """A whole `clinker.toml` file; tables of other tools may stand beside ours."""

    model_config = ConfigDict(extra="ignore")

    storage: Storage = Field(
        default_factory=Storage.model_construct,
        description="where runs put what they need on the way",
    )
    workspace: Description = Field(
        default_factory=Description.model_construct, description="what people call the workspace"
    )
    channels: Channels = Field(
        default_factory=Channels.model_construct, description="where channels are kept"
    )
    engine: EngineChoice = Field(
        default_factory=EngineChoice.model_construct, description="what pipelines run on"
    )

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
