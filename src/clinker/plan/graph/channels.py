"""Channels: what a client or an environment changes about a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Literal

from clinker.config import Channel, load_channel
from clinker.config.nodes import SourceNode
from clinker.config.variables import Variable
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.files.paths import is_file
from clinker.plan.graph.graph import Graph
from clinker.plan.graph.parameters import Layer, Origin
from clinker.plan.options import Options
from clinker.plan.variables import Registry

Block = Literal["config", "resources"]
_END = ".channel.yaml"
_LAYERS = {"default": Origin.CHANNEL_DEFAULT, "fixed": Origin.CHANNEL_FIXED}


def choose_channel(options: Options) -> tuple[Channel | None, list[Diagnostic]]:
    """The channel of a run, if there is one and it can be read."""
    if options.channel is None:
        return None, []
    path = _channel_file(options.channel, options)
    try:
        content = options.read(path)
    except OSError as error:
        message = f"cannot read the channel '{options.channel}': {error.strerror}"
        return None, [Diagnostic("E057", message, help=_channel_help(options.channel, options))]
    loaded = load_channel(content, str(path))
    return loaded.value, list(loaded.diagnostics)


def _channel_file(channel: Path, options: Options) -> Path:
    """A file where the user is, or below the base directory, or of the workspace's channels."""
    if is_file(channel):
        return channel
    beside = options.base_dir / channel
    if options.channels and _is_name(channel) and not is_file(beside):
        return options.channels / f"{channel}{_END}"
    return beside if is_file(beside) else channel


def _is_name(channel: Path) -> bool:
    return len(channel.parts) == 1 and channel.suffix not in (".yaml", ".yml")


def _channel_help(channel: Path, options: Options) -> str:
    if not _is_name(channel):
        return "check the path given with --channel"
    if options.channels is None:
        return "give the path of its file, or say in clinker.toml where channels are: channels.dir"
    files = sorted(options.channels.glob(f"*{_END}"))
    known = [file.name.removesuffix(_END) for file in files]
    listed = f"'{options.channels}' has: {', '.join(known)}" if known else None
    return did_you_mean(str(channel), known) or listed or f"'{options.channels}' has no channels"


# Parameters of compositions


@frozen
class CallSite:
    """A composition call as channels address it."""

    name: str
    """Its name, after the names of the calls around it: `outer/inner`."""
    aliases: frozenset[str]
    """What a channel may call it."""
    files: tuple[Path, ...]
    """The composition it calls, then those it stands in, the innermost first."""
    config: frozenset[str]
    resources: frozenset[str]

    def takes(self, block: Block, name: str) -> bool:
        return name in (self.config if block == "config" else self.resources)


def channel_layers(
    channel: Channel | None, block: Block, name: str, site: CallSite
) -> Iterator[Layer]:
    """The values a channel gives to one parameter or resource of a call."""
    if channel is None:
        return
    overlay = channel.config if block == "config" else channel.resources
    for layer, origin in _LAYERS.items():
        values: Mapping[str, object] = getattr(overlay, layer)
        # What is said of one call comes before what is said of all.
        for key, value in sorted(values.items(), key=lambda item: "." not in item[0]):
            if _addresses(channel, key, block, site) and key.rpartition(".")[2] == name:
                yield Layer(origin, value, overlay.at(layer, key))


def _addresses(channel: Channel, key: str, block: Block, site: CallSite) -> bool:
    alias, _, name = key.rpartition(".")
    if not site.takes(block, name) or (alias and alias not in site.aliases):
        return False
    if not channel.channel.targets_composition:
        return True
    within = site.files if alias else site.files[:1]
    return any(_ends_with(path, channel.channel.target) for path in within)


def check_channel(channel: Channel, pipeline: Path, sites: Sequence[CallSite]) -> list[Diagnostic]:
    """W103 and W104: what a channel says that does not fit the pipeline it is applied to."""
    return [*_other_target(channel, pipeline, sites), *_unknown_keys(channel, sites)]


def _other_target(
    channel: Channel, pipeline: Path, sites: Sequence[CallSite]
) -> Iterator[Diagnostic]:
    target = channel.channel.target
    if channel.channel.targets_composition:
        is_target = any(_ends_with(site.files[0], target) for site in sites)
        said = f"'{channel.channel.name}' is for '{target}', which this pipeline does not use"
    else:
        is_target = _ends_with(pipeline.absolute(), target)
        said = f"'{channel.channel.name}' is for '{target}', not for '{pipeline}'"
    if not is_target:
        yield channel.channel.problem(
            "W104",
            f"the channel {said}",
            "target",
            help="it is applied all the same; correct 'target' if it belongs here",
            warning=True,
        )


def _ends_with(path: PurePath, target: str) -> bool:
    """Whether a file may be meant by `target`, wherever that path starts."""
    parts = [part for part in PurePath(target).parts if part != ".."]
    return list(path.parts[-len(parts) :]) == parts if parts else False


def _unknown_keys(channel: Channel, sites: Sequence[CallSite]) -> Iterator[Diagnostic]:
    blocks: tuple[Block, ...] = ("config", "resources")
    for block in blocks:
        overlay = channel.config if block == "config" else channel.resources
        known = [
            f"{site.name}.{name}"
            for site in sites
            for name in sorted(site.config if block == "config" else site.resources)
        ]
        for layer in _LAYERS:
            for key in getattr(overlay, layer):
                if any(_addresses(channel, key, block, site) for site in sites):
                    continue
                yield overlay.problem(
                    "W103",
                    f"no composition call takes '{key}'",
                    layer,
                    key,
                    key=True,
                    help=_near(key, known),
                    warning=True,
                )


def _near(key: str, known: list[str]) -> str:
    if not known:
        return "remove it; no composition call takes settings of this kind"
    names = known if "." in key else [name.rpartition(".")[2] for name in known]
    return did_you_mean(key, names) or f"known here: {', '.join(known)}"


# Variables


def lay_over(
    registry: Registry, channel: Channel, graph: Graph
) -> tuple[Registry, list[Diagnostic]]:
    """The variables as a channel changes and adds to them."""
    overrides: dict[str, Mapping[str, Variable]] = {
        "vars": channel.vars.static,
        "pipeline": channel.vars.pipeline,
        "record": channel.vars.record,
    }
    problems: list[Diagnostic] = []
    for scope, variables in (
        *overrides.items(),
        *(("source", v) for v in channel.vars.source.values()),
    ):
        problems += _type_conflicts(registry, scope, variables)
    problems += _source_conflicts(registry, channel.vars.source)
    problems += _unknown_sources(channel, graph)

    def changed(scope: str) -> dict[str, Variable]:
        return {**registry.scope(scope), **_effective(registry, scope, overrides[scope])}

    by_source = {
        source: _effective(registry, "source", variables)
        for source, variables in channel.vars.source.items()
    }
    overlay = replace(
        registry,
        vars=changed("vars"),
        pipeline=changed("pipeline"),
        record=changed("record"),
        by_source=by_source,
    )
    return overlay, problems


def _effective(
    registry: Registry, scope: str, overrides: Mapping[str, Variable]
) -> dict[str, Variable]:
    """What changes a variable or adds one.

    To repeat a declaration without a value does neither, nor does one with another type.
    """
    known = registry.scope(scope)
    return {
        name: variable
        for name, variable in overrides.items()
        if name not in known or (variable.has("default") and variable.type == known[name].type)
    }


def _type_conflicts(
    registry: Registry, scope: str, overrides: Mapping[str, Variable]
) -> Iterator[Diagnostic]:
    known = registry.scope(scope)
    for name, variable in overrides.items():
        if name in known and known[name].type != variable.type:
            declared = registry.places.get((scope, name))
            yield _other_type(scope, name, known[name], variable, declared)


def _other_type(
    scope: str, name: str, earlier: Variable, variable: Variable, declared: Location | None
) -> Diagnostic:
    return variable.problem(
        "E107",
        f"${scope}.{name} is declared as {earlier.type}, the channel makes it {variable.type}",
        "type",
        also=(Label(declared, f"declared as {earlier.type}"),) if declared else (),
        help=f"write type: {earlier.type}, or use another name",
    )


def _source_conflicts(
    registry: Registry, by_source: Mapping[str, Mapping[str, Variable]]
) -> Iterator[Diagnostic]:
    """A variable that a channel adds has one type, whichever sources get it."""
    first: dict[str, Variable] = {}
    for variables in by_source.values():
        for name, variable in variables.items():
            earlier = first.setdefault(name, variable)
            if name not in registry.source and earlier.type != variable.type:
                yield _other_type("source", name, earlier, variable, earlier.at("type"))


def _unknown_sources(channel: Channel, graph: Graph) -> Iterator[Diagnostic]:
    sources = [unit.name for unit, _ in graph.of(SourceNode)]
    for source in channel.vars.source:
        if source not in sources:
            yield channel.vars.problem(
                "E111",
                f"the pipeline has no source '{source}'",
                "source",
                source,
                key=True,
                help=did_you_mean(source, sources) or f"its sources are: {', '.join(sources)}",
            )
