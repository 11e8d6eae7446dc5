"""Variables that pipelines declare and channels override."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from clinker.config.errors import found
from clinker.config.model import Model
from clinker.config.names import Scope
from clinker.cxl.types import SCHEMA_TYPES, Type
from clinker.diagnostics import Diagnostic

RESERVED: Mapping[str, frozenset[str]] = {
    "pipeline": frozenset(
        (
            "start_time",
            "name",
            "execution_id",
            "batch_id",
            "total_count",
            "ok_count",
            "dlq_count",
            "filtered_count",
            "distinct_count",
        )
    ),
    "source": frozenset(
        ("file", "name", "row", "path", "count", "batch", "ingestion_timestamp", "event_time")
    ),
    "record": frozenset(),
}
"""Members of each scope that the engine itself provides."""

VARIABLE_TYPES = ("string", "int", "float", "bool", "date", "date_time")

Value: TypeAlias = str | int | float | bool | date | datetime | None


def _one_spelling(value: object) -> object:
    return "date_time" if value == "datetime" else value


VariableType: TypeAlias = Annotated[
    Literal["string", "int", "float", "bool", "date", "date_time"],
    BeforeValidator(_one_spelling),
    WithJsonSchema({"enum": [*VARIABLE_TYPES, "datetime"]}),
]


class Variable(Model):
    """A typed value with a name."""

    type: VariableType = Field(description="one of " + ", ".join(VARIABLE_TYPES))
    default: Any = Field(default=None, description="its value until something else is written")
    description: str | None = Field(default=None, description="what the variable is for")

    @property
    def cxl_type(self) -> Type:
        return SCHEMA_TYPES[self.type]

    @property
    def initial(self) -> Value:
        """The default as a value of the declared type."""
        return read_value(self.default, self.type) if self.has("default") else None

    def check(self) -> Iterator[Diagnostic]:
        if self.has("default") and not fits(self.default, self.type):
            yield self.problem(
                "E020",
                f"a default of type {self.type} must be {_NEEDED[self.type]}, "
                f"found {found(self.default)}",
                "default",
                help="change the default or the type; leave 'default' out to start with null",
            )


_NEEDED = {
    "string": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "date": "a date such as '2026-01-31'",
    "date_time": "a time such as '2026-01-31T06:00:00'",
}


def fits(value: object, kind: str) -> bool:
    """Whether a value in a file can be the value of a variable of this type."""
    if isinstance(value, bool) or value is None:
        return isinstance(value, bool) and kind == "bool"
    if isinstance(value, int):
        return kind in ("int", "float") and -(2**63) <= value < 2**63
    if kind == "float":
        return isinstance(value, float)
    if kind in ("int", "bool") or not isinstance(value, str):
        return False
    return kind == "string" or _moment(value, kind) is not None


def read_value(value: Any, kind: str) -> Value:
    """A value that `fits` as what CXL sees."""
    if kind == "float":
        return float(value)
    if kind in ("date", "date_time"):
        return _moment(value, kind)
    read: Value = value
    return read


def _moment(text: str, kind: str) -> date | datetime | None:
    try:
        return date.fromisoformat(text) if kind == "date" else datetime.fromisoformat(text)
    except ValueError:
        return None


def reserved_names(
    model: Model, field: str, names: Mapping[str, object], scope: Scope, *path: str
) -> Iterator[Diagnostic]:
    """Declarations in a field of `model` that would shadow what the engine provides."""
    for name in names:
        if name in RESERVED[scope]:
            yield model.problem(
                "E110", _shadows(scope, name), field, *path, name, key=True, help=_RENAME
            )


def _shadows(scope: Scope, name: str) -> str:
    return f"${scope}.{name} is provided by the engine and cannot be declared"


_RENAME = "choose another name"


class Variables(Model):
    """What `pipeline.vars` declares: constants (`$vars`) and the three scopes."""

    static: dict[str, Variable] = Field(
        default_factory=dict, description="constants, read as $vars"
    )
    pipeline: dict[str, Variable] = Field(
        default_factory=dict, description="variables of the whole run, read as $pipeline"
    )
    source: dict[str, Variable] = Field(
        default_factory=dict, description="variables of each source file, read as $source"
    )
    record: dict[str, Variable] = Field(
        default_factory=dict, description="variables of each record, read as $record"
    )

    def check(self) -> Iterator[Diagnostic]:
        yield from reserved_names(self, "pipeline", self.pipeline, "pipeline")
        yield from reserved_names(self, "source", self.source, "source")


class Declaration(Variable):
    """A scoped variable that a transform declares."""

    name: str = Field(min_length=1, description="the variable's name")
    scope: Scope = Field(description="how long its value lives: pipeline, source or record")

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if self.name in RESERVED[self.scope]:
            yield self.problem("E110", _shadows(self.scope, self.name), "name", help=_RENAME)
