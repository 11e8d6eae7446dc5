"""The variables of a pipeline: what CXL may read as `$vars`, `$pipeline`, `$source`, `$record`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clinker.config import Pipeline
from clinker.config.nodes import TransformNode
from clinker.config.variables import Variable
from clinker.cxl.types import Type

SCOPES = ("pipeline", "source", "record")


@dataclass(frozen=True)
class Registry:
    """Every declared variable by scope; `vars` holds the constants."""

    vars: Mapping[str, Variable] = field(default_factory=dict)
    pipeline: Mapping[str, Variable] = field(default_factory=dict)
    source: Mapping[str, Variable] = field(default_factory=dict)
    record: Mapping[str, Variable] = field(default_factory=dict)

    def scope(self, name: str) -> Mapping[str, Variable]:
        found: Mapping[str, Variable] = getattr(self, name)
        return found

    def types(self, scope: str, visible: frozenset[str] | None = None) -> dict[str, Type]:
        """The types of a scope's variables, as far as they are visible."""
        return {
            name: _read_type(variable)
            for name, variable in self.scope(scope).items()
            if visible is None or name in visible
        }


def _read_type(variable: Variable) -> Type:
    """A variable without a value of its own is null until it is written."""
    return variable.cxl_type if variable.has("default") else variable.cxl_type.nullable()


def declared(pipeline: Pipeline) -> Registry:
    """The variables that a pipeline file declares."""
    variables = pipeline.pipeline.vars
    scopes: dict[str, dict[str, Variable]] = {
        scope: dict(getattr(variables, scope)) for scope in SCOPES
    }
    for node in pipeline.nodes:
        if isinstance(node, TransformNode):
            for declaration in node.config.declares:
                scopes[declaration.scope][declaration.name] = declaration
    return Registry(dict(variables.static), **scopes)
