"""Outputs: where records go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from clinker.config.formats import (
    CsvWriting,
    EdifactWriting,
    FixedWidthWriting,
    JsonWriting,
    X12Writing,
    XmlWriting,
)
from clinker.config.layout import LayoutRef, positions
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, IfExists, Name, Natural, Positive, SortKey
from clinker.config.nodes.base import SingleInputNode
from clinker.config.template import NamingTemplate, PathTemplate, Template, parse_naming_template
from clinker.diagnostics import Diagnostic

_NO_SPLIT = {"edifact": "E323", "x12": "E338"}


def _default_naming() -> Template:
    return parse_naming_template("{stem}_{seq:04}.{ext}")


class Split(Model):
    """When to start a new file."""

    max_records: Positive | None = None
    max_bytes: Positive | None = None
    group_key: Name | None = Field(
        default=None, description="never split between records that share it"
    )
    naming: NamingTemplate = Field(default_factory=_default_naming)
    repeat_header: bool = True
    oversize_group: Literal["warn", "error", "allow"] = "warn"

    @property
    def has_limit(self) -> bool:
        return self.max_records is not None or self.max_bytes is not None

    def check(self) -> Iterator[Diagnostic]:
        if not self.has_limit:
            yield self.problem(
                "W013",
                "'split' has no effect without a limit",
                help="add 'max_records' or 'max_bytes'",
                warning=True,
            )
        if all(token.name != "seq" for token in self.naming.tokens):
            yield self.problem(
                "E018",
                "every file would get the same name",
                "naming",
                help="add {seq:04}, the number of the file",
            )


class Metadata(Model):
    """Which `$meta` fields are written."""

    mode: Literal["none", "all", "listed"] = "none"
    keys: tuple[Name, ...] = ()


class OutputConfig(Model):
    """What all outputs have, whatever their format."""

    type: str
    path: PathTemplate = Field(description="the file to write")
    name: Name | None = Field(default=None, description="a label; the node's name counts")
    include_unmapped: bool = True
    mapping: dict[str, Name] = Field(
        default_factory=dict, description="output names and the fields they show"
    )
    exclude: tuple[Name, ...] = ()
    include_header: bool = True
    include_correlation_keys: bool = False
    include_metadata: Metadata = Field(default_factory=Metadata.model_construct)
    preserve_nulls: bool = False
    sort_order: tuple[SortKey, ...] = ()
    if_exists: IfExists = "error"
    unique_suffix_width: Natural = 0
    write_meta: bool = False
    layout: LayoutRef | None = Field(
        default=None, alias="schema", description="the physical layout"
    )
    split: Split | None = None
    correlation_fanout_policy: FanoutPolicy | None = None

    def check(self) -> Iterator[Diagnostic]:
        if self.split is not None and self.type in _NO_SPLIT:
            yield self.problem(
                _NO_SPLIT[self.type],
                f"an {self.type} interchange is one file and cannot be split",
                "split",
                key=True,
                help="remove 'split'",
            )
        if self.type == "fixed_width":
            yield from self._check_layout()

    def _check_layout(self) -> Iterator[Diagnostic]:
        if self.layout is None:
            yield self.problem(
                "E023",
                "a fixed-width output needs the layout of its lines",
                help="add 'schema' with a .schema.yaml path or the fields themselves",
            )
        elif self.layout.inline is not None:
            for field in self.layout.inline.all_fields:
                yield from positions(self.layout.inline.resolved(field))


class CsvOutput(OutputConfig):
    type: Literal["csv"]
    options: CsvWriting = Field(default_factory=CsvWriting.model_construct)


class JsonOutput(OutputConfig):
    type: Literal["json"]
    options: JsonWriting = Field(default_factory=JsonWriting.model_construct)


class XmlOutput(OutputConfig):
    type: Literal["xml"]
    options: XmlWriting = Field(default_factory=XmlWriting.model_construct)


class FixedWidthOutput(OutputConfig):
    type: Literal["fixed_width"]
    options: FixedWidthWriting = Field(default_factory=FixedWidthWriting.model_construct)


class EdifactOutput(OutputConfig):
    type: Literal["edifact"]
    options: EdifactWriting = Field(description="the interchange header and more")


class X12Output(OutputConfig):
    type: Literal["x12"]
    options: X12Writing = Field(description="the interchange and group headers and more")


AnyOutput: TypeAlias = Annotated[
    CsvOutput | JsonOutput | XmlOutput | FixedWidthOutput | EdifactOutput | X12Output,
    Field(discriminator="type"),
]


class OutputNode(SingleInputNode):
    """Writes records."""

    type: Literal["output"]
    config: AnyOutput = Field(description="what to write")
