"""Composition files: reusable parts of pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from clinker.config.columns import Column, repeated_columns
from clinker.config.errors import found
from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.nodes import PipelineNode
from clinker.config.reference import NodeRef
from clinker.config.variables import VariableType, fits
from clinker.diagnostics import Diagnostic


class InputPort(Model):
    columns: tuple[Column, ...] | None = Field(
        default=None, alias="schema", description="the columns the composition needs"
    )
    required: bool = Field(default=False, description="whether every call must connect it")
    description: str | None = Field(default=None, description="what it takes")

    def check(self) -> Iterator[Diagnostic]:
        yield from repeated_columns(self.columns or ())


class OutputPort(Model):
    ref: NodeRef | None = Field(
        default=None, description="the body's node that feeds the port; its last one when left out"
    )
    columns: tuple[Column, ...] | None = Field(
        default=None, alias="schema", description="the columns that it gives"
    )
    description: str | None = Field(default=None, description="what it gives")


class Parameter(Model):
    """A value that a call of the composition may set, read as `$config.<name>`."""

    type: Literal["string", "int", "float", "bool", "path"] = Field(
        description="string, int, float, bool or path"
    )
    required: bool = Field(default=False, description="whether every call must give a value")
    default: Any = Field(default=None, description="the value if a call gives none")
    enum: tuple[Any, ...] | None = Field(
        default=None, min_length=1, description="the values allowed"
    )
    range: tuple[float, ...] | None = Field(
        default=None, min_length=2, max_length=2, description="smallest and largest value"
    )
    description: str | None = Field(default=None, description="what it decides")

    def why_not(self, value: object) -> str | None:
        """What keeps `value` from being a value of this parameter."""
        if not fits(value, "string" if self.type == "path" else self.type):
            return f"expected {_ARTICLE[self.type]}, found {found(value)}"
        if self.enum is not None and value not in self.enum:
            return f"{found(value)} is not one of: {', '.join(map(str, self.enum))}"
        if self.range is not None and isinstance(value, int | float):
            low, high = self.range
            if not low <= value <= high:
                return f"must be between {low:g} and {high:g}, found {value}"
        return None

    def check(self) -> Iterator[Diagnostic]:
        if self.range is not None and self.type not in ("int", "float"):
            yield self.problem("E020", f"a {self.type} has no range", "range", key=True)
        elif self.range is not None and self.range[0] > self.range[1]:
            yield self.problem("E020", "the range ends before it starts", "range")
        if self.has("default") and (reason := self.why_not(self.default)):
            yield self.problem("E020", f"the default does not fit: {reason}", "default")
        if self.required and self.has("default"):
            yield self.problem(
                "W102",
                "a required parameter never takes its default",
                "default",
                key=True,
                help="remove 'default' or 'required'",
                warning=True,
            )


_ARTICLE = {
    "string": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "path": "a path",
}


class Resource(Model):
    kind: Literal["file"] = Field(default="file", description="what is asked for")
    required: bool = Field(default=False, description="whether every call must give it")
    description: str | None = Field(default=None, description="what it is for")


class ImportedVariable(Model):
    """A variable of the calling pipeline that the body may read."""

    type: VariableType = Field(description="its type, the same as in the pipeline")


class ImportedVariables(Model):
    pipeline: dict[str, ImportedVariable] = Field(
        default_factory=dict, description="variables of the run"
    )
    source: dict[str, ImportedVariable] = Field(
        default_factory=dict, description="variables of each source file"
    )
    record: dict[str, ImportedVariable] = Field(
        default_factory=dict, description="variables of each record"
    )


class Signature(Model):
    """What a composition takes and gives."""

    name: Name = Field(description="the composition's name")
    description: str | None = Field(default=None, description="what the composition does")
    inputs: dict[str, InputPort] = Field(
        default_factory=dict, description="the ports by which records enter"
    )
    outputs: dict[str, OutputPort] = Field(
        default_factory=dict, description="the ports by which records leave"
    )
    config_schema: dict[str, Parameter] = Field(
        default_factory=dict, description="the parameters, read as $config"
    )
    resources_schema: dict[str, Resource] = Field(
        default_factory=dict, description="the files that calls must name"
    )
    scoped_vars: ImportedVariables = Field(
        default_factory=ImportedVariables.model_construct,
        description="variables of the calling pipeline that the body reads",
    )


class Composition(Model):
    """A whole `.comp.yaml` file."""

    signature: Signature = Field(alias="_compose", description="what it takes and gives")
    nodes: tuple[PipelineNode, ...] = Field(description="the nodes of its body")
    notes: Any = Field(default=None, alias="_notes", description="ignored by the engine")

    def check(self) -> Iterator[Diagnostic]:
        if not self.nodes:
            yield self.problem(
                "E031", "the composition has no nodes", "nodes", help="add the body's nodes"
            )
