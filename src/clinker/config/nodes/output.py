"""Outputs: where records go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePath
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from clinker.config.formats import format_named
from clinker.config.formats.base import FormatOptions
from clinker.config.formats.by_format import ByFormat, format_model
from clinker.config.formats.interchange import EnvelopeWriting
from clinker.config.formats.parquet import Digits, ParquetWriting
from clinker.config.layout import LayoutRef, positions
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, IfExists, Name, Natural, Positive, SortKey
from clinker.config.nodes.base import SingleInputNode
from clinker.config.template import NamingTemplate, PathTemplate, Template, parse_naming_template
from clinker.diagnostics import Diagnostic
from clinker.file_names import compression_of


def _default_naming() -> Template:
    return parse_naming_template("{stem}_{seq:04}.{ext}")


class Split(Model):
    """When to start a new file."""

    max_records: Positive | None = Field(default=None, description="the most records of a file")
    max_bytes: Positive | None = Field(
        default=None, description="the size from which on a new file begins"
    )
    group_key: Name | None = Field(
        default=None, description="never split between records that share it"
    )
    naming: NamingTemplate = Field(
        default_factory=_default_naming, description="the names of the files"
    )
    repeat_header: bool = Field(default=True, description="whether every file begins with a header")
    oversize_group: Literal["warn", "error", "allow"] = Field(
        default="warn", description="what happens when one group is larger than a file may be"
    )

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

    mode: Literal["none", "all", "listed"] = Field(
        default="none", description="none, all, or those listed"
    )
    keys: tuple[Name, ...] = Field(default=(), description="the names of the fields")


class OutputConfig(Model):
    """What all outputs have, whatever their format."""

    type: str
    path: PathTemplate = Field(description="the file to write")
    name: Name | None = Field(default=None, description="a label; the node's name counts")
    include_unmapped: bool = Field(
        default=True, description="whether fields that nothing emits are written too"
    )
    mapping: dict[str, Name] = Field(
        default_factory=dict, description="output names and the fields they show"
    )
    exclude: tuple[Name, ...] = Field(default=(), description="fields that are not written")
    include_header: bool = Field(
        default=True, description="whether a CSV file begins with the names of its columns"
    )
    include_correlation_keys: bool = Field(
        default=False, description="whether the $ck columns are written"
    )
    include_metadata: Metadata = Field(
        default_factory=Metadata.model_construct,
        description="which $meta fields are written: none, all, or a list",
    )
    preserve_nulls: bool = Field(
        default=False,
        description="whether nulls stay apart from empty texts, where the format can tell",
    )
    sort_order: tuple[SortKey, ...] = Field(
        default=(), description="what records are sorted by before they are written"
    )
    if_exists: IfExists = Field(
        default="error", description="what happens when the file is there already"
    )
    unique_suffix_width: Natural = Field(
        default=0, description="how many digits the number of a unique file has at least"
    )
    write_meta: bool = Field(
        default=False, description="whether a .meta.json file is written beside the output"
    )
    compression: Literal["auto", "none", "gzip", "bz2", "zstd"] = Field(
        default="auto", description="how the file is compressed; auto goes by its extension"
    )
    layout: LayoutRef | None = Field(
        default=None, alias="schema", description="the physical layout"
    )
    split: Split | None = Field(default=None, description="when to start a new file")
    correlation_fanout_policy: FanoutPolicy | None = Field(
        default=None, description="when a group is rejected at this output"
    )
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

    @property
    def decimals(self) -> Mapping[str, Digits]:
        """The columns that are written as decimals."""
        options = self.options
        return options.decimals if isinstance(options, ParquetWriting) else {}

    def check(self) -> Iterator[Diagnostic]:
        if self.split is not None and self.format.code_of_split:
            yield self.problem(
                self.format.code_of_split,
                f"an {self.type} interchange is one file and cannot be split",
                "split",
                key=True,
                help="remove 'split'",
            )
        if self.format.compresses_itself:
            yield from self._check_compression()
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

    def _check_compression(self) -> Iterator[Diagnostic]:
        way_out = "what is inside of them is: see 'compression' of their 'options'"
        if self.compression not in ("auto", "none"):
            yield self.problem(
                "E007",
                f"{self.type} files are not compressed as a whole",
                "compression",
                help=f"remove it; {way_out}",
            )
        elif compression_of(PurePath(self.path.text)) != "none":
            yield self.problem(
                "E007",
                f"{self.type} files are not compressed as a whole, as the name says",
                "path",
                help=f"let it end with .{self.type}; {way_out}",
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
