"""Sources: where records come from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field

from clinker.config.columns import Column, is_kept_for_engine, repeated_columns
from clinker.config.formats import FORMATS, format_named
from clinker.config.formats.base import FormatOptions
from clinker.config.formats.by_format import ByFormat, format_model
from clinker.config.layout import LayoutField, LayoutRef, positions
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, Name, Positive, SortKey
from clinker.config.nodes.base import NodeBase
from clinker.config.quantities import Duration, FileSize, Moment, PositiveDuration
from clinker.config.transport import FileTransport, RestTransport, Transport
from clinker.config.variables import VariableType
from clinker.cxl.types import Type
from clinker.diagnostics import Diagnostic, Label

MATCHERS = ("path", "glob", "regex", "paths")


class Files(Model):
    """Which of the matching files are read, and in which order."""

    sort_by: Literal["name", "created", "modified"] = Field(
        default="name", description="what the files are sorted by"
    )
    sort_order: Literal["asc", "desc"] = Field(default="asc", description="in which direction")
    take_first: Positive | None = Field(
        default=None, description="read only so many files, from the start of the order"
    )
    take_last: Positive | None = Field(
        default=None, description="read only so many files, from the end of the order"
    )
    recursive: bool = Field(
        default=True, description="whether a regex looks into directories below"
    )
    on_no_match: Literal["error", "warn", "skip"] = Field(
        default="error", description="what happens when no file matches"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.take_first is not None and self.take_last is not None:
            yield self.problem(
                "E218",
                "'take_first' and 'take_last' exclude each other",
                "take_last",
                key=True,
                also=(Label(self.key_at("take_first"), "also given here"),),
                help="keep one of them",
            )


class OnUnmapped(Model):
    """What happens to input columns that the schema does not name."""

    mode: Literal["auto_widen", "drop", "reject"] = Field(
        default="auto_widen", description="keep them for outputs, drop them, or refuse the file"
    )


class Watermark(Model):
    """The column that says when an event happened."""

    column: Name = Field(description="the event-time column")
    delay: Duration | None = Field(default=None, description="how far events may be out of order")
    idle_timeout: PositiveDuration | None = Field(
        default=None, description="no effect: files are never silent, they end"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.idle_timeout is not None:
            yield self.problem(
                "W013",
                "'idle_timeout' has no effect: files end, so no source holds windows back for ever",
                "idle_timeout",
                key=True,
                help="remove it; 'delay' says how far events may be out of order",
                warning=True,
            )


class ArrayPath(Model):
    """How an array inside a record is unfolded."""

    path: Name = Field(description="the array: $.line_items or line_items")
    mode: Literal["explode", "join"] = Field(
        default="explode", description="a record per element, or one text of all of them"
    )
    separator: str = Field(default=",", description="what joined elements stand apart by")

    def check(self) -> Iterator[Diagnostic]:
        if self.has("separator") and self.mode == "explode":
            yield self.problem(
                "W013",
                "'separator' has no effect with 'mode: explode'",
                "separator",
                key=True,
                help="remove it, or use 'mode: join'",
                warning=True,
            )


class Extract(Model):
    """Where in the document a section is found."""

    xml_path: Name | None = Field(
        default=None, description="for XML: the path of the section element, such as /doc/Head"
    )
    json_pointer: str | None = Field(
        default=None, description="for JSON: a pointer to the section object, such as /Head"
    )
    segment: Name | None = Field(
        default=None, description="for EDI: the tag of the header segment, UNB or ISA"
    )

    @property
    def rules(self) -> list[str]:
        return [rule for rule in _EXTRACTS if getattr(self, rule) is not None]

    def check(self) -> Iterator[Diagnostic]:
        if len(self.rules) != 1:
            yield self.problem(
                "E022",
                "a section is extracted by exactly one rule",
                help=f"give one of: {', '.join(_EXTRACTS)}",
            )
        if self.json_pointer is not None and not _POINTER.fullmatch(self.json_pointer):
            yield self.problem(
                "E022",
                f"'{self.json_pointer}' is no JSON pointer",
                "json_pointer",
                help="write '/' before every key, '~1' for a '/' and '~0' for a '~' in one",
            )


_EXTRACTS = ("xml_path", "json_pointer", "segment")
_POINTER = re.compile(r"(/([^/~]|~[01])*)*")
"""As RFC 6901 writes it; an empty one is the whole document."""


class Section(Model):
    """A part of the document that surrounds the records."""

    extract: Extract = Field(description="where the section is found")
    fields: dict[str, VariableType] = Field(description="its fields and their types")


class Envelope(Model):
    """The sections read as `$doc.<section>.<field>`."""

    sections: dict[str, Section] = Field(description="the sections by name")


class SourceConfig(Model):
    """What all sources have, whatever their format."""

    type: str
    name: Name | None = Field(default=None, description="a label; the node's name counts")
    columns: tuple[Column, ...] | None = Field(
        default=None, alias="schema", min_length=1, description="the columns and their types"
    )
    path: Name | None = Field(default=None, description="the file to read")
    glob: Name | None = Field(
        default=None, description="a pattern of files to read, such as data/*.csv"
    )
    regex: Name | None = Field(
        default=None, description="a regular expression over paths of files to read"
    )
    paths: tuple[Name, ...] | None = Field(
        default=None, min_length=1, description="the files to read, in this order"
    )
    exclude: tuple[Name, ...] = Field(default=(), description="patterns of files to leave out")
    modified_after: Moment | None = Field(
        default=None, description="leave out files that are older: a moment, or 7d for days ago"
    )
    modified_before: Moment | None = Field(
        default=None, description="leave out files that are newer: a moment, or 1h for hours ago"
    )
    min_size: FileSize | None = Field(default=None, description="leave out smaller files")
    max_size: FileSize | None = Field(default=None, description="leave out larger files")
    compression: Literal["auto", "none", "gzip", "bz2", "zstd"] = Field(
        default="auto",
        description="how files are compressed; 'auto' goes by their names: .gz, .bz2 and .zst",
    )
    files: Files = Field(
        default_factory=Files.model_construct,
        description="which of the matching files are read, and in which order",
    )
    transport: Transport = Field(
        default_factory=FileTransport.model_construct,
        description="where the bytes come from: files, or a web service",
    )
    on_unmapped: OnUnmapped = Field(
        default_factory=OnUnmapped.model_construct,
        description="what happens to fields that the schema does not name",
    )
    correlation_key: tuple[Name, ...] = Field(
        default=(), description="the fields by which records stand or fall together"
    )
    correlation_fanout_policy: FanoutPolicy | None = Field(
        default=None, description="when a failing record of the source takes its group along"
    )
    watermark: Watermark | None = Field(
        default=None, description="when the events of its records happened"
    )
    sort_order: tuple[SortKey, ...] = Field(
        default=(), description="how the files are sorted already"
    )
    array_paths: tuple[ArrayPath, ...] = Field(
        default=(), description="arrays inside records that are unfolded or joined"
    )
    envelope: Envelope | None = Field(
        default=None, description="sections of the document around the records, read as $doc"
    )
    format_schema: LayoutRef | None = Field(default=None, description="the physical layout")
    schema_overrides: tuple[LayoutField, ...] = Field(
        default=(), description="changes to the fields of a schema file"
    )
    options: Model

    @property
    def format(self) -> FormatOptions:
        """The options and traits of its format."""
        return format_named(self.type)

    @property
    def schema_columns(self) -> tuple[Column, ...]:
        return self.columns or ()

    def with_columns(self, types: Mapping[str, Type]) -> Self:
        """The same with a schema, which a file tells; without names that are kept for the engine,
        whose columns are undeclared."""
        columns = tuple(
            Column.standing_for(self, name, type_)
            for name, type_ in types.items()
            if name and not is_kept_for_engine(name)
        )
        return self.model_copy(update={"columns": columns})

    def check(self) -> Iterator[Diagnostic]:
        yield from repeated_columns(self.schema_columns)
        yield from self._check_matchers()
        yield from self._check_sizes()
        yield from self._check_layout()
        yield from self._check_envelope()
        if self.format.compresses_itself and self.compression not in ("auto", "none"):
            yield self.problem(
                "E007",
                f"{self.type} files are not compressed as a whole",
                "compression",
                help="remove it: what is compressed in them, they say themselves",
            )
        if self.has("array_paths") and not self.format.unfolds_arrays:
            yield self._without_effect(
                "array_paths", _find_formats(lambda format: format.unfolds_arrays)
            )

    def _check_matchers(self) -> Iterator[Diagnostic]:
        given = [m for m in MATCHERS if getattr(self, m) is not None]
        if isinstance(self.transport, RestTransport):
            yield from self._check_rest(self.transport, given)
        elif not given:
            yield self.problem(
                "E211",
                "the source names no file to read",
                help=f"add one of: {', '.join(MATCHERS)}",
            )
        elif len(given) > 1:
            first, *others = given
            for other in others:
                yield self.problem(
                    "E210",
                    f"'{first}' and '{other}' both say which files to read",
                    other,
                    key=True,
                    also=(Label(self.key_at(first), "also given here"),),
                    help="keep one of them",
                )

    def _check_rest(self, transport: RestTransport, matchers: list[str]) -> Iterator[Diagnostic]:
        for matcher in matchers:
            yield self.problem(
                "E219",
                f"a REST source reads no files, so '{matcher}' is not allowed",
                matcher,
                key=True,
                help=f"remove '{matcher}', or remove 'transport' to read files",
            )
        if not self.format.comes_over_rest:
            usable = _find_formats(lambda format: format.comes_over_rest)
            yield self.problem(
                "E220",
                f"a REST source cannot read {self.type}",
                "type",
                help=f"use {_list_names(usable, 'or')}",
            )
        elif transport.pagination.strategy == "cursor_token" and self.type != "json":
            yield transport.pagination.problem(
                "E065",
                f"a token cannot be found in {self.type} pages",
                "strategy",
                help="use 'link_header' or 'offset'",
            )
        if self.has("compression"):
            yield self.problem(
                "W013",
                "'compression' has no effect on a REST source",
                "compression",
                key=True,
                help="answers say themselves how they are compressed; remove it",
                warning=True,
            )

    def _check_sizes(self) -> Iterator[Diagnostic]:
        if (self.min_size or 0) > (self.max_size if self.max_size is not None else math.inf):
            yield self.problem(
                "E215",
                "'min_size' is larger than 'max_size', so no file can match",
                "min_size",
                help="swap the two",
            )

    def _check_layout(self) -> Iterator[Diagnostic]:
        layout = self.format_schema
        if not self.format.needs_layout:
            for key in ("format_schema", "schema_overrides"):
                if self.has(key):
                    needing = _find_formats(lambda format: format.needs_layout)
                    yield self._without_effect(key, needing)
            return
        if layout is None:
            yield self.problem(
                "E023",
                f"a {self.type.replace('_', '-')} source needs the layout of its lines",
                help="add 'format_schema' with a .schema.yaml path or the fields themselves",
            )
        elif layout.inline is not None:
            if self.schema_overrides:
                yield self.problem(
                    "E024",
                    "'schema_overrides' changes a schema file, but the layout is written inline",
                    "schema_overrides",
                    key=True,
                    help="edit the inline layout instead",
                )
            for field in layout.inline.all_fields:
                yield from positions(layout.inline.resolved(field))

    def _check_envelope(self) -> Iterator[Diagnostic]:
        if self.envelope is None:
            return
        allowed = self.format.extract_rule
        if allowed is None:
            with_rule = _find_formats(lambda format: format.extract_rule is not None)
            with_rule.sort(key=lambda name: _EXTRACTS.index(format_named(name).extract_rule or ""))
            yield self._without_effect("envelope", with_rule)
            return
        for section in self.envelope.sections.values():
            extract = section.extract
            for rule in extract.rules:
                if rule != allowed:
                    yield extract.problem(
                        "E022",
                        f"'{rule}' does not apply to {self.type} sources",
                        rule,
                        key=True,
                        help=f"use '{allowed}'",
                    )
            segment = self.format.header_segment
            if allowed == "segment" and extract.segment not in (None, segment):
                yield extract.problem(
                    "E022",
                    f"only the {segment} segment can be a section of {self.type} documents",
                    "segment",
                    help=f"write '{segment}'",
                )

    def _without_effect(self, key: str, formats: list[str]) -> Diagnostic:
        return self.problem(
            "W013",
            f"'{key}' has no effect on a {self.type} source",
            key,
            key=True,
            help=f"it is for {_list_names(formats, 'and')} sources; remove it",
            warning=True,
        )


def _find_formats(has_trait: Callable[[FormatOptions], bool]) -> list[str]:
    """The names of all formats that have a trait."""
    return [name for name in FORMATS if has_trait(format_named(name))]


def _list_names(names: list[str], last: str) -> str:
    *others, final = names
    return f"{', '.join(others)} {last} {final}" if others else final


@cache
def source_model(format: FormatOptions) -> type[SourceConfig]:
    """The model of sources of a format."""
    return format_model(SourceConfig, f"{format.title}Source", format.name, format.reading)


AnySource: TypeAlias = Annotated[SourceConfig, ByFormat(source_model)]


class SourceNode(NodeBase):
    """Reads records."""

    type: Literal["source"]
    config: AnySource = Field(description="what to read")

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if self.config.columns is not None or self.config.format.tells_schema:
            return
        help = "add 'schema' with the name and type of every column"
        # A sketch without a `config` block may do without; its fields are of unknown type.
        if self.config.node.place == self.node.place:
            message = f"'{self.name}' declares no schema, so its fields are not checked"
            yield self.problem("W014", message, "name", help=help, warning=True)
        else:
            yield self.config.problem("E201", "the source declares no schema", help=help)
