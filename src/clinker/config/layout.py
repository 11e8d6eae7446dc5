"""Physical layouts: `.schema.yaml` files, and the same thing written inline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from clinker.config.errors import invalid
from clinker.config.formats import format_named
from clinker.config.formats.by_format import FormatName
from clinker.config.formats.encoding import Encoding
from clinker.config.model import Model
from clinker.config.names import Name, Natural, Positive
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.suggest import did_you_mean


def _as_text(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


NumberOrText: TypeAlias = Annotated[
    str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number"]})
]


_COUNT = re.compile(r"\*|(?P<least>[0-9]+)(?P<more>\+|-(?P<most>[0-9]+))?")


def _count(text: str) -> str:
    if not _COUNT.fullmatch(text):
        raise invalid("E007", f"'{text}' is not a count", "for example 1, 1+, 0-1 or *")
    return text


class LayoutField(Model):
    """One field of a physical record."""

    name: Name = Field(description="the field's name")
    type: (
        Literal[
            "string",
            "integer",
            "float",
            "decimal",
            "boolean",
            "date",
            "datetime",
            "object",
            "array",
        ]
        | None
    ) = Field(default=None, description="the type of the value; text when left out")
    start: Natural | None = Field(default=None, description="first byte, counted from 0")
    width: Positive | None = Field(default=None, description="number of bytes")
    end: Positive | None = Field(default=None, description="first byte after the field")
    justify: Literal["left", "right"] | None = Field(
        default=None, description="the side on which the value stands"
    )
    pad: str | None = Field(
        default=None, min_length=1, max_length=1, description="what fills the other side"
    )
    trim: bool = Field(default=True, description="remove pads and blanks around the value")
    truncation: Literal["error", "warn", "silent"] | None = Field(
        default=None, description="what is done with a value that is too long to be written"
    )
    format: Name | None = Field(default=None, description="how dates are written, such as %Y%m%d")
    required: bool = Field(default=False, description="the value must be there")
    coerce: bool | None = Field(
        default=None, description="false: the type is a remark, the text stays as it is"
    )
    default: Any = Field(default=None, description="the value if there is none")
    enum: tuple[Any, ...] | None = Field(default=None, description="the values allowed")
    alias: Name | None = Field(default=None, description="another name of its column")
    inherits: Name | None = Field(
        default=None, description="a definition under 'defs' to start from"
    )
    precision: Positive | None = Field(default=None, description="how many digits at most")
    scale: Natural | None = Field(
        default=None, description="how many digits stand behind a point that is not written"
    )
    path: Name | None = Field(
        default=None, description="where the value is found in a structured record"
    )
    drop: bool = Field(default=False, description="in an override: leave this field out")
    record: Name | None = Field(default=None, description="in an override: the record type meant")

    def check(self) -> Iterator[Diagnostic]:
        if self.width is not None and self.end is not None:
            yield self.problem(
                "E021",
                f"field '{self.name}' has both 'width' and 'end'",
                "end",
                key=True,
                help="keep one of them",
            )
        elif self.end is not None and self.start is not None and self.end <= self.start:
            yield self.problem(
                "E021", f"field '{self.name}' ends before it starts", "end", help="raise 'end'"
            )


class Definition(LayoutField):
    """Settings that several fields share."""

    name: str = Field(default="", description="needs none: the key is its name")


class Discriminator(Model):
    """What tells one record type from another."""

    start: Natural | None = Field(default=None, description="first byte of the tag, counted from 0")
    width: Positive | None = Field(default=None, description="number of bytes of the tag")
    field: Name | None = Field(default=None, description="the field that holds the tag")

    def check(self) -> Iterator[Diagnostic]:
        by_place = self.start is not None and self.width is not None
        if by_place == (self.field is not None):
            yield self.problem(
                "E021",
                "a discriminator is a place in the line or a field",
                help="give 'start' and 'width', or 'field'",
            )


class RecordType(Model):
    """One of several kinds of record in a file."""

    id: Name = Field(description="the record type's name")
    tag: Name | None = Field(default=None, description="the discriminator's value for this type")
    description: str | None = Field(default=None, description="what such a record is")
    parent: Name | None = Field(default=None, description="the record type it belongs to")
    join_key: Name | None = Field(
        default=None, description="the field that it shares with its parent"
    )
    fields: tuple[LayoutField, ...] = Field(min_length=1, description="the record's fields")


class Structure(Model):
    """How often a record type occurs."""

    record: Name = Field(description="the record type")
    count: Annotated[NumberOrText, AfterValidator(_count)] = Field(
        default="*", description="how often in a file, such as 1, 1+, 0-1 or *"
    )

    @property
    def least(self) -> int:
        """How often it occurs at least."""
        found = _COUNT.fullmatch(self.count)
        return int(found["least"] or 0) if found else 0

    @property
    def most(self) -> int | None:
        """How often it occurs at most; None for any number."""
        found = _COUNT.fullmatch(self.count)
        if not found or not found["least"] or found["more"] == "+":
            return None
        return int(found["most"] or found["least"])


class Layout(Model):
    """The fields of a physical file."""

    version: NumberOrText | None = Field(
        default=None, description="the version of the layout; ignored by the engine"
    )
    format: FormatName | None = Field(default=None, description="the format of the files")
    encoding: Encoding | None = Field(default=None, description="the encoding of the files")
    defs: dict[str, Definition] = Field(
        default_factory=dict, description="settings that several fields share, by name"
    )
    fields: tuple[LayoutField, ...] | None = Field(
        default=None, description="the fields of every record"
    )
    records: tuple[RecordType, ...] | None = Field(
        default=None, description="the fields by record type"
    )
    discriminator: Discriminator | None = Field(
        default=None, description="what tells one record type from another"
    )
    structure: tuple[Structure, ...] = Field(
        default=(), description="how often each record type occurs"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.fields is None and self.records is None:
            yield self.problem("E021", "the layout has no fields", help="add 'fields'")
        if self.fields is not None and self.records is not None:
            yield self.problem(
                "E021",
                "the layout has both 'fields' and 'records'",
                "records",
                key=True,
                help="keep 'fields' for one kind of record, 'records' for several",
            )
        for field in self.all_fields:
            yield from self._check_field(field)

    @property
    def all_fields(self) -> Iterator[LayoutField]:
        yield from self.fields or ()
        for record in self.records or ():
            yield from record.fields

    @property
    def discriminator_place(self) -> tuple[int, int] | None:
        """The first byte of the tag that tells record types apart, and the first one behind it."""
        given = self.discriminator
        if given is None:
            return None
        if given.start is not None and given.width is not None:
            return given.start, given.start + given.width
        for field in self.all_fields:
            if field.name == given.field and field.start is not None and field.width:
                return field.start, field.start + field.width
        return None

    def resolved(self, field: LayoutField) -> LayoutField:
        """The field with what it inherits filled in."""
        met: list[str] = []
        base: LayoutField | None = field
        while base and base.inherits and base.inherits not in met:
            met.append(base.inherits)
            base = self.defs.get(base.inherits)
            if base:
                field = field.model_copy(update=settings_of(base, field.model_fields_set))
        return field

    def _check_field(self, field: LayoutField) -> Iterator[Diagnostic]:
        if field.inherits is not None and field.inherits not in self.defs:
            yield field.problem(
                "E021",
                f"'{field.inherits}' is not defined under 'defs'",
                "inherits",
                help=did_you_mean(field.inherits, self.defs),
            )
        for name in ("drop", "record"):
            if field.has(name):
                yield field.problem(
                    "E021",
                    f"'{name}' is for schema overrides, not for the layout itself",
                    name,
                    key=True,
                    help=f"remove '{name}'",
                )
        resolved = self.resolved(field)
        if self.format is not None and format_named(self.format).needs_layout:
            yield from positions(resolved)


def settings_of(field: LayoutField, known: set[str]) -> dict[str, Any]:
    """What a field says that is not known yet; a width and an end exclude each other."""
    names = field.model_fields_set - known - {"name", "inherits", "drop", "record"}
    if known & {"width", "end"}:
        names -= {"width", "end"}
    return {name: getattr(field, name) for name in names}


def positions(field: LayoutField) -> Iterator[Diagnostic]:
    """What a field lacks to be found in a fixed-width line."""
    if field.width is None and field.end is None:
        yield field.problem(
            "E021", f"field '{field.name}' has no width", help="add 'width' or 'end'"
        )


class LayoutRef(Model):
    """A layout: the path of a schema file, or the layout itself."""

    path: Name | None = Field(default=None, description="the path of a .schema.yaml file")
    inline: Layout | None = Field(default=None, description="the layout itself")
