"""Outputs: where records go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from clinker.config.formats import format_named
from clinker.config.formats.base import FormatOptions
from clinker.config.formats.by_format import ByFormat, format_model
from clinker.config.formats.interchange import EnvelopeWriting
from clinker.config.layout import LayoutRef, positions
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, IfExists, Name, Natural, Positive, SortKey
from clinker.config.nodes.base import SingleInputNode
from clinker.config.template import NamingTemplate, PathTemplate, Template, parse_naming_template
from clinker.diagnostics import Diagnostic


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
    options: Model

    @property
    def format(self) -> FormatOptions:
        """The options and traits of its format."""
        return format_named(self.type)

    @property
    def header_section(self) -> str | None:
        """The `$doc` section whose header is written again, if there is one."""
        options = self.options
        return options.interchange_from_doc if isinstance(options, EnvelopeWriting) else None

    def check(self) -> Iterator[Diagnostic]:
        if self.split is not None and self.format.code_of_split:
            yield self.problem(
                self.format.code_of_split,
                f"an {self.type} interchange is one file and cannot be split",
                "split",
                key=True,
                help="remove 'split'",
            )
        if self.format.needs_layout:
            yield from self._check_layout()
        elif self.has("layout"):
            yield self.problem(
                "W013",
                f"'schema' has no effect on a {self.type} output",
                "layout",
                key=True,
                help="it is for fixed_width outputs; remove it",
                warning=True,
            )

    def _check_layout(self) -> Iterator[Diagnostic]:
        if self.layout is None:
            yield self.problem(
                "E023",
                f"a {self.type.replace('_', '-')} output needs the layout of its lines",
                help="add 'schema' with a .schema.yaml path or the fields themselves",
            )
        elif self.layout.inline is not None:
            for field in self.layout.inline.all_fields:
                yield from positions(self.layout.inline.resolved(field))


@cache
def output_model(format: FormatOptions) -> type[OutputConfig]:
    """The model of outputs of a format."""
    name = f"{format.title}Output"
    return format_model(
        OutputConfig, name, format.name, format.writing, required_for=format.required_to_write
    )


AnyOutput: TypeAlias = Annotated[OutputConfig, ByFormat(output_model)]


class OutputNode(SingleInputNode):
    """Writes records."""

    type: Literal["output"]
    config: AnyOutput = Field(description="what to write")
