"""Compositions: calls expanded into the nodes of their bodies.

A body becomes part of the graph, so columns that its ports do not declare pass through it like
through any other nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clinker.config import Channel, Composition, Pipeline
from clinker.config.composition import Parameter, Signature
from clinker.config.errors import found
from clinker.config.nodes import (
    CompositionNode,
    PipelineNode,
)
from clinker.config.reference import Ref
from clinker.config.variables import read_value
from clinker.cxl.types import SCHEMA_TYPES, STRING, Type
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.files.paths import CODE as UNSAFE
from clinker.plan.graph.channels import CallSite, channel_layers
from clinker.plan.graph.composition_files import Files, UnsafePath
from clinker.plan.graph.graph import CallScope
from clinker.plan.graph.parameters import Layer, Origin, Parameters, Provenance, put_in_order
from clinker.plan.options import Options
from clinker.plan.variables import SCOPES

MAX_DEPTH = 50
MAX_NODES = 5_000


@frozen(eq=False)
class Body:
    """The nodes of a pipeline or of one call of a composition."""

    scope: CallScope
    nodes: tuple[PipelineNode, ...]
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
    bounds = (options.root, path.parent)
    files = Files(options.base_dir, bounds, options.allow_absolute_paths, options.read)
    expander = _Expander(files, channel)
    body = expander.body(pipeline.nodes, CallScope(), _Chain(path.parent))
    return Expansion(body, tuple(expander.sites), expander.parameters, expander.diagnostics)


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

    def body(self, nodes: tuple[PipelineNode, ...], scope: CallScope, chain: _Chain) -> Body:
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
            provenance = put_in_order(
                [*_written(node, name, parameter), *self._overlay(name, site)]
            )
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
    for settings, declared, noun in _SETTINGS:
        known: Mapping[str, object] = getattr(signature, declared)
        for name in getattr(node, settings):
            if name not in known:
                listed = f"it has: {', '.join(known)}" if known else f"it has no {noun}"
                yield outer.problem(
                    "E103",
                    f"'{node.use}' has no {noun} '{name}'",
                    node.key_at(settings, name),
                    help=did_you_mean(name, known) or listed,
                )
