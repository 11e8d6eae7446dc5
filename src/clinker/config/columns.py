"""Columns and their types, as schemas declare them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from clinker.config.errors import found, invalid, one_of
from clinker.config.model import Model
from clinker.cxl.failure import shown
from clinker.cxl.types import SCHEMA_TYPES, Type, parse_type
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import closest

_TYPE_WORDS = [name for name in SCHEMA_TYPES if name != "datetime"]
_MAX_LENGTH = 100
_ENGINES_OWN = re.compile(r"\$[a-z0-9]")
"""What the names begin with of columns that the engine puts beside the user's."""


def parse_column_type(value: object) -> Type:
    """`int`, `nullable(int)`, or `{nullable: int}`."""
    if isinstance(value, Type):
        return value
    if isinstance(value, dict) and list(value) == ["nullable"]:
        return parse_column_type(value["nullable"]).nullable()
    if not isinstance(value, str):
        raise _unknown_type(f"expected a column type, found {found(value)}", None)
    parsed = parse_type(value) if len(value) <= _MAX_LENGTH else None
    if parsed is None:
        raise _unknown_type(f"unknown column type '{value[:_MAX_LENGTH]}'", value)
    return parsed


def _unknown_type(message: str, word: str | None) -> PydanticCustomError:
    meant = closest(word, _TYPE_WORDS) if word else None
    choices = one_of([*_TYPE_WORDS, "nullable(<type>)"])
    help = f"did you mean '{meant}'?" if meant else choices
    return invalid("E014", message, help)


_NAMES = "|".join(SCHEMA_TYPES)
_TYPE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"enum": list(SCHEMA_TYPES)},
        {"type": "string", "pattern": rf"^nullable\(\s*({_NAMES})\s*\)$"},
        {
            "type": "object",
            "properties": {
                "nullable": {
                    "enum": list(SCHEMA_TYPES),
                    "description": "the type of values that may be null",
                }
            },
            "required": ["nullable"],
            "additionalProperties": False,
        },
    ],
    "description": "A column type, or nullable(<type>).",
}

ColumnType: TypeAlias = Annotated[
    Type, BeforeValidator(parse_column_type), WithJsonSchema(_TYPE_SCHEMA)
]


class Column(Model):
    """One column of a schema."""

    name: str = Field(min_length=1, description="the column's name")
    type: ColumnType = Field(description="the column's type")
    required: bool = Field(
        default=False, description="reject records in which the value is null or absent"
    )
    long_unique: bool = Field(default=False, description="values are long and hardly ever repeat")

    def check(self) -> Iterator[Diagnostic]:
        if is_kept_for_engine(self.name):
            yield self.problem(
                "E017",
                f"column '{shown(self.name)}' has a name that is kept for the engine",
                "name",
                help="leave it out of the schema: it stays in its record as an undeclared column, "
                "and 'mapping' of an output writes it under another name",
            )
        if self.long_unique and self.type.without_null() != SCHEMA_TYPES["string"]:
            yield self.problem(
                "E007",
                f"'long_unique' is for string columns, '{self.name}' is {self.type}",
                "long_unique",
                key=True,
                help="remove 'long_unique'",
            )

    @classmethod
    def standing_for(cls, model: Model, name: str, type_: Type) -> Self:
        """A column that nobody has written, in the place of a model that makes it known."""
        column = cls.model_construct(name=name, type=type_)
        column._stand_at(model.node)
        return column


def is_kept_for_engine(name: str) -> bool:
    """Whether the engine may have a column of its own that is called so."""
    return _ENGINES_OWN.match(name) is not None


class ColumnFile(Model):
    """A file that declares the columns of a record."""

    columns: tuple[Column, ...] = Field(
        alias="schema", min_length=1, description="the columns and their types"
    )

    def check(self) -> Iterator[Diagnostic]:
        yield from repeated_columns(self.columns)


def repeated_columns(columns: Sequence[Column]) -> Iterator[Diagnostic]:
    """Columns whose name was taken by an earlier one."""
    first: dict[str, Column] = {}
    for column in columns:
        earlier = first.setdefault(column.name, column)
        if earlier is not column:
            yield column.problem(
                "E015",
                f"column '{column.name}' is declared twice",
                "name",
                also=(Label(earlier.at("name"), "first declared here"),),
                help="rename or remove one of them",
            )
