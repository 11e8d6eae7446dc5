"""Compositions: files found and loaded, calls expanded into the nodes of their bodies.

A body becomes part of the graph, so columns that its ports do not declare pass through it like
through any other nodes. What the body may name is checked once all columns are known.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clinker.config import Channel, Composition, Loaded, Pipeline, load_composition
from clinker.config.columns import Column
from clinker.config.composition import Parameter, Signature
from clinker.config.errors import found
from clinker.config.nodes import (
    AggregateNode,
    CompositionNode,
    NodeBase,
    OutputNode,
    TransformNode,
)
from clinker.config.reference import Ref
from clinker.config.variables import read_value
from clinker.cxl import typed
from clinker.cxl.resolve import Row
from clinker.cxl.types import SCHEMA_TYPES, STRING, Type
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.channels import CallSite, channel_layers
from clinker.plan.graph import Call, CallScope, Edge, Graph, Unit
from clinker.plan.options import Options
from clinker.plan.paths import CODE as UNSAFE
from clinker.plan.paths import Violation, resolve, violation
from clinker.plan.planned import Planned, PlannedCombine, PlannedTransform
from clinker.plan.provenance import Layer, Origin, Parameters, Provenance, layered
from clinker.plan.variable_flow import incoming_expressions, outgoing_expressions
from clinker.plan.variables import SCOPES

MAX_DEPTH = 50
MAX_NODES = 5_000
_SEARCH_DEPTH = 16


@frozen(eq=False)
class Body:
    """The nodes of a pipeline or of one call of a composition."""

    scope: CallScope
    nodes: tuple[NodeBase, ...]
    calls: Mapping[str, Called]
    """The composition calls among the nodes that could be expanded, by node name."""


@frozen(eq=False)
class Called:
    """A composition call and a copy of the body for it alone."""

    node: CompositionNode
    signature: Signature
    feeds: Mapping[str, tuple[Ref, Location]]
    """What the connected input ports read from, in the scope of the call."""
    body: Body


@frozen
class Expansion:
    """A pipeline with the bodies of all its compositions."""

    body: Body
    sites: tuple[CallSite, ...]
    parameters: Parameters
    diagnostics: list[Diagnostic]


def expand(pipeline: Pipeline, path: Path, options: Options, channel: Channel | None) -> Expansion:
    """Replace composition calls by what they call, all the way down."""
    expander = _Expander(Files(options.base_dir, options.allow_absolute_paths), channel)
    body = expander.body(pipeline.nodes, CallScope(), _Chain(path.parent))
    return Expansion(body, tuple(expander.sites), expander.parameters, expander.diagnostics)


# Files


class UnsafePath(Exception):
    """A path that must not be followed."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.message)
        self.violation = violation


@dataclass
class Files:
    """The composition files of a workspace, each read once."""

    root: Path
    allow_absolute: bool = False
    _loaded: dict[Path, Loaded[Composition] | OSError] = field(default_factory=dict)

    def find(self, use: str, directory: Path) -> list[Path]:
        """The files that `use` may mean in a file of `directory`; raises UnsafePath."""
        wrong = violation(use, directory, self.allow_absolute)
        if wrong:
            raise UnsafePath(wrong)
        for start in (directory, self.root):
            if (start / use).is_file():
                return [resolve(use, start)]
        if Path(use).name != use:
            return []
        return [path for path in self._every_file() if path.name == use]

    def _every_file(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            visible = (name for name in folders if not name.startswith("."))
            folders[:] = sorted(visible) if depth < _SEARCH_DEPTH else []
            yield from (Path(folder, name) for name in sorted(names))

    def near(self, use: str, directory: Path) -> str | None:
        """A file beside the one that is missing, with a similar name."""
        for start in (directory, self.root):
            folder = (start / use).parent
            if folder.is_dir():
                names = (p.name for p in sorted(folder.glob("*.comp.yaml")))
                close = did_you_mean(Path(use).name, names)
                if close:
                    return close
        return None

    def is_new(self, path: Path) -> bool:
        return path not in self._loaded

    def load(self, path: Path) -> Loaded[Composition] | OSError:
        if path not in self._loaded:
            try:
                self._loaded[path] = load_composition(path.read_bytes(), str(path))
            except OSError as error:
                self._loaded[path] = error
        return self._loaded[path]


# Expansion


@frozen
class _Chain:
    """The file at hand and the compositions whose calls led to it, the innermost first."""

    directory: Path
    files: tuple[Path, ...] = ()
    real: tuple[Path, ...] = ()
    """The same files, whatever path led to them."""

    def into(self, path: Path) -> _Chain:
        return _Chain(path.parent, (path, *self.files), (path.resolve(), *self.real))


@dataclass
class _Expander:
    files: Files
    channel: Channel | None
    sites: list[CallSite] = field(default_factory=list)
    parameters: dict[str, dict[str, Provenance]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    prefixes: dict[str, Location] = field(default_factory=dict)
    count: int = 0

    def body(self, nodes: tuple[NodeBase, ...], scope: CallScope, chain: _Chain) -> Body:
        self.count += len(nodes)
        first = {node.name: node for node in reversed(nodes)}
        calls = {
            node.name: self.call(node, scope, chain)
            for node in nodes
            if isinstance(node, CompositionNode) and node is first[node.name]
        }
        return Body(scope, nodes, {name: call for name, call in calls.items() if call})

    def call(self, node: CompositionNode, outer: CallScope, chain: _Chain) -> Called | None:
        path = self._file(node, outer, chain)
        if path is None or not self._within_limits(node, outer, chain, path):
            return None
        prefix = f"{outer.prefix}{node.alias or node.name}/"
        if not self._claim(prefix, node, outer):
            return None
        trail = Label(node.at("name"), f"in composition '{prefix[:-1]}', called here")
        scope = CallScope(prefix, (trail, *outer.trail))
        composition = self._load(path, node, outer, scope)
        if composition is None:
            return None
        signature = composition.signature
        site = CallSite(
            prefix[:-1],
            frozenset((node.name, node.alias or node.name)),
            (path, *chain.files),
            frozenset(signature.config_schema),
            frozenset(signature.resources_schema),
        )
        self.sites.append(site)
        self.diagnostics += _unknown_settings(node, signature, outer)
        self._check_resources(node, signature, outer, site)
        config = self._config(node, signature, outer, site)
        scope = replace(
            scope,
            config=config,
            config_types=_parameter_types(signature, config),
            opted_in={name: frozenset(getattr(signature.scoped_vars, name)) for name in SCOPES},
        )
        feeds = self._feeds(node, signature, outer)
        body = self.body(composition.nodes, scope, chain.into(path))
        return Called(node, signature, feeds, body)

    # The file

    def _file(self, node: CompositionNode, outer: CallScope, chain: _Chain) -> Path | None:
        at = node.at("use")
        try:
            paths = self.files.find(node.use, chain.directory)
        except UnsafePath as unsafe:
            # The paths of the pipeline file itself are checked all together.
            if outer.prefix:
                wrong = unsafe.violation
                self._report(outer, UNSAFE, wrong.message, at, wrong.help)
            return None
        if len(paths) == 1:
            return paths[0]
        if paths:
            help = f"write the path of one of: {', '.join(map(str, paths))}"
            message = f"several files are named '{node.use}'"
        else:
            message = f"composition file '{node.use}' does not exist"
            help = self.files.near(node.use, chain.directory) or (
                f"the path starts at '{chain.directory}' or at '{self.files.root}'"
            )
        self._report(outer, "E103", message, at, help)
        return None

    def _within_limits(
        self, node: CompositionNode, outer: CallScope, chain: _Chain, path: Path
    ) -> bool:
        at = node.at("use")
        real = path.resolve()
        if real in chain.real:
            circle = [*chain.real[chain.real.index(real) :: -1], path]
            names = " → ".join(p.name for p in circle)
            help = "a composition cannot use itself; remove this call"
            self._report(
                outer, "E050", f"these compositions use each other in a circle: {names}", at, help
            )
        elif len(chain.files) >= MAX_DEPTH:
            message = f"compositions are nested more than {MAX_DEPTH} deep"
            self._report(outer, "E051", message, at, "call it from a node further out")
        elif self.count > MAX_NODES:
            message = f"the compositions add up to more than {MAX_NODES:,} nodes"
            self._report(outer, "E051", message, at, "call fewer compositions")
        else:
            return True
        return False

    def _claim(self, prefix: str, node: CompositionNode, outer: CallScope) -> bool:
        """Take the prefix of the call's nodes, unless another call has it."""
        at = node.at("alias") if node.alias else node.at("name")
        first = self.prefixes.setdefault(prefix, at)
        if first != at:
            self._report(
                outer,
                "E053",
                f"two composition calls name their nodes '{prefix}…'",
                at,
                "give each call an alias of its own",
                (Label(first, "taken here"),),
            )
        return first == at

    def _load(
        self, path: Path, node: CompositionNode, outer: CallScope, scope: CallScope
    ) -> Composition | None:
        is_new = self.files.is_new(path)
        loaded = self.files.load(path)
        if isinstance(loaded, OSError):
            message = f"cannot read composition file '{path}': {loaded.strerror}"
            self._report(outer, "E101", message, node.at("use"), "check that it can be read")
            return None
        if is_new:
            self.diagnostics += (
                replace(d, secondary=(*d.secondary, *scope.trail)) for d in loaded.diagnostics
            )
        if loaded.value is None:
            message = f"'{node.use}' is not a valid composition file"
            help = f"correct what is reported about '{path}'"
            self._report(outer, "E101", message, node.at("use"), help)
        return loaded.value

    # Values

    def _config(
        self, node: CompositionNode, signature: Signature, outer: CallScope, site: CallSite
    ) -> dict[str, object]:
        values: dict[str, object] = {}
        for name, parameter in signature.config_schema.items():
            provenance = layered([*_written(node, name, parameter), *self._overlay(name, site)])
            self.parameters.setdefault(site.name, {})[name] = provenance
            label = Label(signature.key_at("config_schema", name), "the parameter")
            misfits = [
                (layer, reason)
                for layer in provenance.layers
                if (reason := parameter.why_not(layer.value))
                and layer.origin is not Origin.COMPOSITION_DEFAULT
            ]
            for layer, reason in misfits:
                message = f"'{name}' of '{site.name}': {reason}"
                self._report(outer, "E052", message, layer.location, _FIT, (label,))
            if parameter.required and not provenance.layers:
                message = f"parameter '{name}' of '{node.use}' has no value"
                help = f"add 'config: {{ {name}: … }}'"
                self._report(outer, "E104", message, node.at("use"), help, (label,))
            values[name] = (
                None
                if misfits or provenance.winner is None
                else read_value(provenance.value, parameter.type)
            )
        return values

    def _overlay(self, name: str, site: CallSite) -> Iterator[Layer]:
        return channel_layers(self.channel, "config", name, site)

    def _check_resources(
        self, node: CompositionNode, signature: Signature, outer: CallScope, site: CallSite
    ) -> None:
        for name, resource in signature.resources_schema.items():
            label = Label(signature.key_at("resources_schema", name), "the resource")
            layers = list(channel_layers(self.channel, "resources", name, site))
            if name in node.resources:
                at = node.at("resources", name)
                layers.append(Layer(Origin.CALL_SITE, node.resources[name], at))
            for layer in layers:
                if not isinstance(layer.value, str) or not layer.value:
                    message = f"'{name}' of '{site.name}': expected a path, "
                    message += f"found {found(layer.value)}"
                    self._report(outer, "E052", message, layer.location, _FIT, (label,))
            if resource.required and not layers:
                message = f"resource '{name}' of '{node.use}' is not given"
                help = f"add 'resources: {{ {name}: … }}'"
                self._report(outer, "E104", message, node.at("use"), help, (label,))

    # Input ports

    def _feeds(
        self, node: CompositionNode, signature: Signature, outer: CallScope
    ) -> dict[str, tuple[Ref, Location]]:
        ports = signature.inputs
        feeds = {
            port: (ref, node.at("inputs", port))
            for port, ref in node.inputs.items()
            if port in ports
        }
        self._feed_first(node, signature, outer, feeds)
        for port, declared in ports.items():
            if declared.required and port not in feeds:
                self._report(
                    outer,
                    "E104",
                    f"input port '{port}' of '{node.use}' is not connected",
                    node.at("use"),
                    f"add 'inputs: {{ {port}: <node> }}'",
                    (Label(signature.key_at("inputs", port), "the port"),),
                )
        return feeds

    def _feed_first(
        self,
        node: CompositionNode,
        signature: Signature,
        outer: CallScope,
        feeds: dict[str, tuple[Ref, Location]],
    ) -> None:
        """`input` is the first port; beside `inputs` it may merely repeat one of them."""
        if node.input is None or any(node.input == ref for ref, _ in feeds.values()):
            return
        first = next(iter(signature.inputs), None)
        at = node.at("input")
        if first is None:
            label = Label(signature.at("name"), "this composition")
            message = f"'{node.use}' has no input port"
            self._report(outer, "E103", message, at, "declare the port there", (label,))
        elif first in feeds:
            self._report(
                outer,
                "E055",
                f"port '{first}' is connected twice, to '{node.input}' and '{feeds[first][0]}'",
                at,
                "remove 'input'; 'inputs' says it all",
                (Label(feeds[first][1], "connected here"),),
            )
        else:
            feeds[first] = (node.input, at)

    def _report(
        self,
        scope: CallScope,
        code: str,
        message: str,
        location: Location,
        help: str | None,
        also: tuple[Label, ...] = (),
    ) -> None:
        self.diagnostics.append(scope.problem(code, message, location, help=help, also=also))


def _written(node: CompositionNode, name: str, parameter: Parameter) -> Iterator[Layer]:
    """The values that the composition and the call itself give to a parameter."""
    if parameter.has("default") and not parameter.required:
        yield Layer(Origin.COMPOSITION_DEFAULT, parameter.default, parameter.at("default"))
    if name in node.config:
        yield Layer(Origin.CALL_SITE, node.config[name], node.at("config", name))


_FIT = "change the value, or what the composition accepts"
_SETTINGS = (
    ("inputs", "inputs", "input port"),
    ("outputs", "outputs", "output port"),
    ("config", "config_schema", "parameter"),
    ("resources", "resources_schema", "resource"),
)


def _parameter_types(signature: Signature, config: Mapping[str, object]) -> dict[str, Type]:
    """The declared types of `$config`; a parameter without a value is null."""
    types = {
        name: STRING if parameter.type == "path" else SCHEMA_TYPES[parameter.type]
        for name, parameter in signature.config_schema.items()
    }
    return {n: t if config.get(n) is not None else t.nullable() for n, t in types.items()}


def _unknown_settings(
    node: CompositionNode, signature: Signature, outer: CallScope
) -> Iterator[Diagnostic]:
    """E103: what a call sets although the composition does not declare it."""
    for given, declared, noun in _SETTINGS:
        known: Mapping[str, object] = getattr(signature, declared)
        for name in getattr(node, given):
            if name not in known:
                listed = f"it has: {', '.join(known)}" if known else f"it has no {noun}"
                yield outer.problem(
                    "E103",
                    f"'{node.use}' has no {noun} '{name}'",
                    node.key_at(given, name),
                    help=did_you_mean(name, known) or listed,
                )


# Ports

Names = frozenset[str] | None
"""Columns that may be named; None for all."""


def check_ports(graph: Graph, nodes: Mapping[str, Planned]) -> list[Diagnostic]:
    """Whether ports get and give the columns they declare, and bodies name only those."""
    sights = {"": _Sight(graph, nodes, "", [])}
    sights |= {p: _Sight(graph, nodes, p, within) for p, within in _by_call(graph).items()}
    problems: list[Diagnostic] = []
    for prefix, call in graph.calls.items():
        problems += _input_problems(call, sights[call.outer.prefix])
        problems += _output_problems(call, nodes)
        for unit in sights[prefix].units:
            if unit.scope.prefix == prefix:
                problems += _hidden_reads(call, unit, sights[prefix])
                problems += _replaced_columns(unit, sights[prefix])
    return problems


def _by_call(graph: Graph) -> dict[str, list[Unit]]:
    """The units in the body of each call, those of calls inside it included."""
    within: dict[str, list[Unit]] = {prefix: [] for prefix in graph.calls}
    for unit in graph:
        call = graph.calls.get(unit.scope.prefix)
        while call:
            within[call.scope.prefix].append(unit)
            call = graph.calls.get(call.outer.prefix)
    return within


def _input_problems(call: Call, sight: _Sight) -> Iterator[Diagnostic]:
    for port, edge in call.inputs.items():
        upstream = sight.nodes.get(edge.upstream)
        if upstream is None:
            continue
        row, names = upstream.row, sight.arriving(edge)
        known = Row({n: t for n, t in row.columns.items() if _sees(names, n)}, row.is_open)
        for column in call.signature.inputs[port].columns or ():
            misfit = _misfit(column, known.get(column.name))
            if misfit:
                yield call.outer.problem(
                    "E102",
                    f"port '{port}' of '{call.name}' needs column '{column.name}': "
                    f"'{edge.upstream}' {misfit}",
                    edge.location,
                    help=_way_out(column, known),
                    also=(Label(column.at("name"), "declared here"),),
                )


def _output_problems(call: Call, nodes: Mapping[str, Planned]) -> Iterator[Diagnostic]:
    for port, edge in call.outputs.items():
        behind = nodes.get(edge.upstream)
        for column in call.signature.outputs[port].columns or ():
            misfit = behind and _misfit(column, behind.row.get(column.name))
            if misfit:
                yield call.scope.problem(
                    "E056",
                    f"port '{port}' promises column '{column.name}', but '{edge.upstream}' "
                    f"{misfit}",
                    column.at("name"),
                    help="emit it in the body, or correct what the port declares",
                    also=(Label(edge.location, "the node behind the port"),),
                )


def _misfit(column: Column, actual: Type | None) -> str | None:
    """What keeps a column from being the declared one."""
    if actual is None:
        return "has none of that name"
    if actual.is_any or not actual.kinds & ~column.type.nullable().kinds:
        return None
    return f"has it as {actual.noun}, not as {column.type.noun}"


def _way_out(column: Column, known: Row) -> str:
    if column.name in known.columns:
        return "convert it in a transform before the call"
    close = did_you_mean(column.name, known.columns)
    return close or f"emit it before the call; known here: {', '.join(known.columns)}"


@dataclass
class _Sight:
    """Which columns the nodes in a scope, and in the calls inside it, may name."""

    graph: Graph
    nodes: Mapping[str, Planned]
    prefix: str
    units: list[Unit]
    """Those whose view is limited: none in the pipeline itself."""
    leaving: dict[str, Names] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for unit in self.units:
            self.leaving[unit.name] = self._leaving(unit)

    def arriving(self, edge: Edge) -> Names:
        """What is visible of the records on an edge."""
        for crossing in edge.through:
            if crossing.call == self.prefix:
                port = self.graph.calls[self.prefix].signature.inputs[crossing.port]
                declared = port.columns
                return None if declared is None else frozenset(c.name for c in declared)
        return self.leaving.get(edge.upstream)

    def hides(self, name: str, edge: Edge) -> bool:
        """Whether the records on an edge have a column that must not be named."""
        upstream = self.nodes.get(edge.upstream)
        has = upstream is not None and name in upstream.row.columns
        return has and not _sees(self.arriving(edge), name)

    def _leaving(self, unit: Unit) -> Names:
        planned = self.nodes[unit.name]
        arriving = [self.arriving(edge) for edge in unit.inputs]
        if unit.kind == "source" or unit.kind == "aggregate":
            return None
        if unit.kind == "combine":
            return self._joined(unit, planned, arriving)
        seen = _union(arriving)
        if unit.kind != "transform" or seen is None:
            return seen
        written = planned.program.fields_written if isinstance(planned, PlannedTransform) else ()
        return seen | frozenset(written)

    def _joined(self, unit: Unit, planned: Planned, arriving: list[Names]) -> Names:
        """A join shows what it emits; one that collects, the driver's record and the others."""
        if not isinstance(planned, PlannedCombine) or planned.program is not None:
            return None
        labels = [edge.label for edge in unit.inputs]
        driver = arriving[labels.index(planned.driver)]
        return None if driver is None else driver | frozenset(labels)


def _sees(names: Names, name: str) -> bool:
    return names is None or name in names


def _union(several: list[Names]) -> Names:
    found: frozenset[str] = frozenset()
    for names in several:
        if names is None:
            return None
        found |= names
    return found


def _hidden_reads(call: Call, unit: Unit, sight: _Sight) -> Iterator[Diagnostic]:
    """E058: columns that reach the body although no port declares them."""
    reported: set[tuple[str, int]] = set()
    for name, location in _hidden_names(unit, sight):
        key = (name, location.span.start)
        if key in reported:
            continue
        reported.add(key)
        ports = [port for port, declared in call.signature.inputs.items() if declared.columns]
        listed = " or ".join(f"'{port}'" for port in ports)
        yield unit.problem(
            "E058",
            f"'{name}' is a column of the caller that no input port declares",
            location,
            help=f"add it to the schema of port {listed}",
            also=tuple(Label(call.signature.key_at("inputs", port), "the port") for port in ports),
        )


def _hidden_names(unit: Unit, sight: _Sight) -> Iterator[tuple[str, Location]]:
    planned = sight.nodes[unit.name]
    for part in _fields(incoming_expressions(planned), _looks_elsewhere(unit)):
        edge = _edge_of(unit, part.qualifier)
        if edge and sight.hides(part.name, edge):
            yield part.name, part.location
    leaving = sight.leaving[unit.name]
    for part in _fields(outgoing_expressions(planned)):
        if not _sees(leaving, part.name) and part.name in planned.row.columns:
            yield part.name, part.location
    for name, location in _named_on_arrival(unit.node):
        if sight.hides(name, unit.inputs[0]):
            yield name, location
    for name, location in _named_on_leaving(unit.node):
        if sight.hides(name, unit.inputs[0]) and not _sees(leaving, name):
            yield name, location


def _fields(expressions: Iterable[typed.Expr], skip_windows: bool = False) -> Iterator[typed.Field]:
    todo = list(expressions)
    while todo:
        expr = todo.pop()
        if isinstance(expr, typed.Field):
            yield expr
        if not (skip_windows and isinstance(expr, typed.Window)):
            todo.extend(expr.children())


def _looks_elsewhere(unit: Unit) -> bool:
    """Whether the unit's window functions read the records of another node."""
    window = unit.node.config.analytic_window if isinstance(unit.node, TransformNode) else None
    return window is not None and window.source is not None


def _edge_of(unit: Unit, qualifier: str | None) -> Edge | None:
    edges = (edge for edge in unit.inputs if qualifier is None or edge.label == qualifier)
    return next(edges, None)


def _named_on_arrival(node: NodeBase) -> Iterator[tuple[str, Location]]:
    """The fields of its input that a node names outside CXL."""
    match node:
        case AggregateNode():
            config = node.config
            yield from ((f, config.at("group_by", i)) for i, f in enumerate(config.group_by))
        case OutputNode():
            yield from ((f, node.config.at("mapping", o)) for o, f in node.config.mapping.items())
            for i, key in enumerate(node.config.sort_order):
                yield key.field, node.config.at("sort_order", i)
        case TransformNode():
            window = node.config.analytic_window
            if window and window.source is None:
                yield from ((f, window.at("group_by", i)) for i, f in enumerate(window.group_by))
                for i, key in enumerate(window.sort_by):
                    yield key.field, window.at("sort_by", i)


def _named_on_leaving(node: NodeBase) -> Iterator[tuple[str, Location]]:
    """The fields of its outgoing record that a node names outside CXL."""
    if not isinstance(node, TransformNode):
        return
    for validation in node.config.validations:
        if validation.field is not None:
            yield validation.field, validation.at("field")
    for log in node.config.log:
        yield from ((f, log.at("fields", i)) for i, f in enumerate(log.fields))


def _replaced_columns(unit: Unit, sight: _Sight) -> Iterator[Diagnostic]:
    """W101: what a body emits over a column of the caller that it does not know of."""
    planned = sight.nodes[unit.name]
    if not isinstance(planned, PlannedTransform):
        return
    for statement in planned.program.every_statement():
        if isinstance(statement, typed.Emit) and sight.hides(statement.name, unit.inputs[0]):
            yield unit.scope.problem(
                "W101",
                f"this replaces column '{statement.name}' of the caller, "
                "which no input port declares",
                statement.location,
                help="emit another name, or declare the column in the schema of the port",
                severity=Severity.WARNING,
            )
