"""The variables of a pipeline: what CXL may read as `$vars`, `$pipeline`, `$source`, `$record`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from clinker.config import Pipeline
from clinker.config.nodes import PipelineNode, StateNode
from clinker.config.variables import Declaration, Value, Variable
from clinker.cxl.types import Type
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.frozen import frozen
from clinker.plan.graph.graph import CallScope, Graph

SCOPES = ("pipeline", "source", "record")


@frozen
class Registry:
    """Every declared variable by scope; `vars` holds the constants."""

    vars: Mapping[str, Variable] = field(default_factory=dict)
    pipeline: Mapping[str, Variable] = field(default_factory=dict)
    source: Mapping[str, Variable] = field(default_factory=dict)
    record: Mapping[str, Variable] = field(default_factory=dict)
    by_source: Mapping[str, Mapping[str, Variable]] = field(default_factory=dict)
    """What a channel sets for the records of one source only, by its name."""
    places: Mapping[tuple[str, str], Location] = field(default_factory=dict, repr=False)
    """Where each variable of a scope is declared."""
    written: frozenset[tuple[str, str]] = frozenset()
    """The variables that state nodes write, by scope and name: each of them may become null."""

    def scope(self, name: str) -> Mapping[str, Variable]:
        variables: Mapping[str, Variable] = getattr(self, name)
        return variables

    def types(self, scope: str) -> dict[str, Type]:
        """The types of a scope's variables."""
        types = {name: _read_type(variable) for name, variable in self._readable(scope).items()}
        return {
            name: type_.nullable() if (scope, name) in self.written else type_
            for name, type_ in types.items()
        }

    def types_of(self, scope: str) -> dict[str, Type]:
        """The types of a scope's variables; of what is no scope, none."""
        return self.types(scope) if scope in SCOPES else {}

    def _readable(self, scope: str) -> dict[str, Variable | Type]:
        declared = dict[str, Variable | Type](self.scope(scope))
        if scope == "source":
            for variables in self.by_source.values():
                for name, variable in variables.items():
                    # Records of the other sources do not have it.
                    declared.setdefault(name, variable.cxl_type.nullable())
        return declared

    def initial(self, scope: str, name: str, source: str | None = None) -> Value:
        """The value of a variable until it is written, for records of `source`."""
        variable = self.scope(scope).get(name)
        if scope == "source" and source is not None:
            variable = self.by_source.get(source, {}).get(name, variable)
        return variable.initial if variable else None


def _read_type(declared: Variable | Type) -> Type:
    """A variable without a value of its own is null until it is written."""
    if isinstance(declared, Type):
        return declared
    return declared.cxl_type if declared.has("default") else declared.cxl_type.nullable()


def collect_declarations(pipeline: Pipeline, graph: Graph) -> tuple[Registry, list[Diagnostic]]:
    """The variables that a pipeline file and the compositions it calls declare."""
    variables = pipeline.pipeline.vars
    scopes: dict[str, dict[str, Variable]] = {
        scope: dict(getattr(variables, scope)) for scope in SCOPES
    }
    places = {
        (scope, name): variables.key_at(scope, name) for scope in SCOPES for name in scopes[scope]
    }
    places |= {("vars", name): variables.key_at("static", name) for name in variables.static}
    problems: list[Diagnostic] = []
    for scope, declaration in _declarations(pipeline, graph):
        key = (declaration.scope, declaration.name)
        here = declaration.at("name")
        if places.setdefault(key, here) == here:
            scopes[declaration.scope][declaration.name] = declaration
        elif scope.prefix:
            problems.append(_declared_twice(scope, declaration, places[key]))
    registry = Registry(
        dict(variables.static),
        scopes["pipeline"],
        scopes["source"],
        scopes["record"],
        places=places,
        written=frozenset(_written(graph)),
    )
    return registry, problems


def _written(graph: Graph) -> Iterator[tuple[str, str]]:
    for _, node in graph.of(StateNode):
        yield from ((node.config.scope, assignment.var) for assignment in node.config.set)


def _declarations(pipeline: Pipeline, graph: Graph) -> list[tuple[CallScope, Declaration]]:
    """All declarations of transforms; those of the pipeline itself come first."""
    root = CallScope()
    nodes: list[tuple[CallScope, PipelineNode]] = [(root, node) for node in pipeline.nodes]
    nodes += [(unit.scope, unit.node) for unit in graph if unit.scope.prefix]
    return [(scope, declaration) for scope, node in nodes for declaration in node.declarations]


def _declared_twice(scope: CallScope, declaration: Declaration, first: Location) -> Diagnostic:
    return scope.problem(
        "E030",
        f"${declaration.scope}.{declaration.name} is declared twice",
        declaration.at("name"),
        also=(Label(first, "first declared here"),),
        help="declare it once and list it under scoped_vars of the composition",
    )
