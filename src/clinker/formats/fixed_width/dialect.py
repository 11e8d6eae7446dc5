"""How fixed-width files are written, those that are read and those that come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.fixed_width import FixedWidthReading, FixedWidthWriting
    from clinker.config.layout import Layout, LayoutField
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig

Separator: TypeAlias = Literal["lf", "crlf", "cr", "none"]
RECORD_TYPE = "record_type"
"""The column that tells the type of a record, unless a field is called so."""
BLANK = " "


@frozen(kw_only=True)
class FixedField:
    """A field, its place in the line, and what may stand there."""

    name: str
    start: int
    end: int
    alias: str | None = None
    type: str | None = None
    """As layouts name types; without one it has that of its column."""
    justify: Literal["left", "right"] | None = None
    pad: str = BLANK
    trim: bool = True
    format: str | None = None
    scale: int = 0
    """How many digits stand behind a point that is not written."""
    precision: int | None = None
    required: bool = False
    default: str | None = None
    enum: tuple[str, ...] = ()
    truncation: Literal["error", "warn", "silent"] | None = None

    @property
    def width(self) -> int:
        return self.end - self.start


@frozen(kw_only=True)
class RecordLayout:
    """The fields of one type of record."""

    id: str = ""
    tag: str = ""
    fields: tuple[FixedField, ...]

    @property
    def first(self) -> int:
        """Where the first field begins."""
        return min(field.start for field in self.fields)

    @property
    def length(self) -> int:
        """Where the last field ends."""
        return max(field.end for field in self.fields)

    def named(self, name: str) -> FixedField | None:
        """The field of this name, or else of this alias."""
        by_name = (field for field in self.fields if field.name == name)
        by_alias = (field for field in self.fields if field.alias == name)
        return next(by_name, None) or next(by_alias, None)


@frozen(kw_only=True)
class Count:
    """How often a type of record occurs in a file."""

    id: str
    least: int = 0
    most: int | None = None


@frozen(kw_only=True)
class FixedWidthDialect:
    """How records are written in a file."""

    records: tuple[RecordLayout, ...]
    discriminator: tuple[int, int] | None = None
    """Where the tag stands that tells the type of a record."""
    counts: tuple[Count, ...] = ()
    separator: Separator = "lf"
    encoding: str = "utf-8"

    @property
    def length(self) -> int:
        """How long records are, where nothing separates them."""
        ends = [record.length for record in self.records]
        return max([*ends, self.discriminator[1] if self.discriminator else 0])

    def names(self, name: str) -> bool:
        """Whether records have such a column."""
        is_type = name == RECORD_TYPE and self.discriminator is not None
        return is_type or any(record.named(name) for record in self.records)


def read_dialect(config: SourceConfig, layout: Layout | None) -> FixedWidthDialect:
    options = cast("FixedWidthReading", config.options)
    return _dialect(layout, options.line_separator, options.encoding)


def write_dialect(config: OutputConfig, layout: Layout | None) -> FixedWidthDialect:
    options = cast("FixedWidthWriting", config.options)
    return _dialect(layout, options.line_separator, options.encoding)


def _dialect(
    layout: Layout | None, separator: Separator, encoding: str | None
) -> FixedWidthDialect:
    assert layout, "a fixed-width file has a layout"
    place = layout.discriminator_place
    return FixedWidthDialect(
        records=tuple(_records(layout)),
        discriminator=place,
        counts=tuple(
            Count(id=each.record, least=each.least, most=each.most) for each in layout.structure
        ),
        separator=separator,
        encoding=encoding or layout.encoding or "utf-8",
    )


def _records(layout: Layout) -> Iterator[RecordLayout]:
    if layout.fields is not None:
        yield RecordLayout(fields=tuple(map(_field, layout.fields)))
    for record in layout.records or ():
        fields = tuple(map(_field, record.fields))
        yield RecordLayout(id=record.id, tag=(record.tag or "").strip(), fields=fields)


def _field(field: LayoutField) -> FixedField:
    """A field as the plan has it: with all that it inherits, and its place in the line."""
    assert field.start is not None and field.width is not None
    return FixedField(
        name=field.name,
        start=field.start,
        end=field.start + field.width,
        alias=field.alias,
        type=field.type if field.coerce is not False else None,
        justify=field.justify,
        pad=field.pad or BLANK,
        trim=field.trim,
        format=field.format,
        scale=field.scale or 0,
        precision=field.precision,
        required=field.required,
        default=_text(field.default),
        enum=tuple(text for value in field.enum or () if (text := _text(value)) is not None),
        truncation=field.truncation,
    )


def _text(value: Any) -> str | None:
    """A value of the layout as a file would show it."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
