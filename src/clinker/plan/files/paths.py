"""Paths: what a pipeline may read and write, and what its output paths stand for.

Every path is relative to the base directory and stays below it, or below the workspace it is part
of: `..` may lead as high as that. Absolute paths, and symbolic links that lead out, need the
caller's permission; URLs of objects need the workspace's, or the caller's.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import unquote

from clinker import file_names
from clinker.config import Model, Pipeline
from clinker.config.error_handling import Queue
from clinker.config.nodes import CompositionNode, OutputNode, SourceNode
from clinker.config.template import Template, Token
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.options import Options
from clinker.stores.urls import (
    FilePath,
    ObjectUrl,
    canonical,
    has_secret,
    masked,
    meant_url,
    parse_url,
)

CODE = "E-SEC-001"
NOT_PLAIN = "has a part that is empty, '.' or '..', or a control character"
"""What is wrong with the key of an object that some client would take for another one."""
_SEPARATORS = re.compile(r"[/\\]")
_UNSAFE_IN_NAMES = re.compile(r"[/\\\0]|\A\.\.?\Z")
_WILDCARD = re.compile(r"[*?\[]")
_STAY_BELOW = (
    "paths stay below the base directory, or below the directory of clinker.toml; "
    "choose a higher base directory with --base-dir"
)
_MOST_DECODINGS = 5
_HASH_LENGTH = 8
_DEFAULT_EXTENSION = "dat"


# Security


@frozen
class Violation:
    """Why a path is not acceptable, and what to do instead."""

    message: str
    help: str
    is_secret: bool = False
    """Whether the line that it is about must not be shown."""

    def at(self, place: Location, trail: tuple[Label, ...]) -> Diagnostic:
        """The same as a finding about a place in a file."""
        if self.is_secret:
            where = f"line {place.start.line} of {place.source.name}"
            return Diagnostic(CODE, f"{where}: {self.message}", help=self.help)
        return Diagnostic(CODE, self.message, Label(place), trail, self.help)


def resolve(path: str, base_dir: Path) -> Path:
    """The file a path of a pipeline means."""
    return Path(os.path.normpath(base_dir / path))


def locate(path: str, base_dir: Path) -> FilePath:
    """The file or the object that a path of a pipeline means."""
    return parse_url(path) or resolve(path, base_dir)


def display_name(path: FilePath, base_dir: Path, root: Path | None = None) -> str:
    """A path as users know it: relative to the base directory if it lies below it or the root.

    Bytes of a file's name that are no text are shown as such: `caf\\xe9.csv`.
    """
    if isinstance(path, ObjectUrl):
        return str(path)
    if path.is_relative_to(base_dir):
        path = path.relative_to(base_dir)
    elif root and path.is_relative_to(root):
        path = Path(os.path.relpath(path, base_dir))
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def forbidden(path: str, options: Options) -> Violation | None:
    """What forbids the use of the path of a file or an object, if anything does."""
    if url := parse_url(path):
        return url_fault(url) or _not_allowed(url, options)
    return violation(path, options.base_dir, options.allow_absolute_paths, options.root)


def url_fault(url: ObjectUrl) -> Violation | None:
    """What is wrong with the URL of an object, whoever may use it."""
    if has_secret(url):
        help = "credentials are taken from the environment, as docs/running/object-stores.md says"
        message = f"'{printable(masked(url))}' carries credentials or parameters"
        return Violation(message, help, is_secret=True)
    shown = printable(str(url))
    if not url.authority and url.scheme != "hdfs":
        return Violation(f"'{shown}' names no bucket", f"write {url.scheme}://bucket/{url.key}")
    if not url.is_plain:
        return Violation(
            f"'{shown}' {NOT_PLAIN}", "not all stores keep such names apart: choose another one"
        )
    return None


def _not_allowed(url: ObjectUrl, options: Options) -> Violation | None:
    if options.allow_absolute_paths or any(url.is_below(each) for each in options.objects):
        return None
    return Violation(
        f"'{printable(str(url))}' is in an object store, and clinker.toml does not allow it",
        f'write allow = ["{url.store}/"] under [storage.objects] in clinker.toml, or allow all '
        "objects with --allow-absolute-paths",
    )


def violation(path: str, base_dir: Path, allow_absolute: bool, *roots: Path) -> Violation | None:
    """What forbids the use of the path of a file or a directory, if anything does.

    It starts at the base directory and has to stay below one of the roots; without any, below the
    base directory.
    """
    roots = roots or (base_dir,)
    if url := parse_url(path):
        return Violation(
            f"'{printable(masked(url))}' is in an object store, where only data, dead letters and "
            "schema files can be",
            "use a path on this machine",
            has_secret(url),
        )
    if url := meant_url(path):
        return Violation(
            f"'{path.partition(':')[0]}' is no kind of store",
            f"write {printable(masked(url))}",
            has_secret(url),
        )
    if "\0" in path:
        return Violation("the path contains a NUL character", "remove it")
    if ".." in _SEPARATORS.split(path) and _climbs_out(path, base_dir, roots):
        return Violation(f"'{printable(path)}' climbs out of its directory with '..'", _STAY_BELOW)
    decoded = _decoded(path)
    if decoded != path and ("\0" in decoded or ".." in _SEPARATORS.split(decoded)):
        return Violation(
            f"'{printable(path)}' hides a '..' or a NUL character behind percent signs",
            "write the path without %-codes",
        )
    if allow_absolute:
        return None
    if is_absolute(path):
        return Violation(
            f"'{printable(path)}' is an absolute path",
            "write it relative to the base directory, or allow it with --allow-absolute-paths",
        )
    if leaves(resolve(path, base_dir), *roots):
        return link_violation(path)
    return None


def link_violation(path: str) -> Violation:
    """A path whose symbolic links lead to where it may not."""
    return Violation(
        f"'{printable(path)}' leads out of the base directory through a symbolic link",
        "copy the data below the base directory, or allow it with --allow-absolute-paths",
    )


def _climbs_out(path: str, base_dir: Path, roots: Sequence[Path]) -> bool:
    """Whether `..` leads above all the roots, or is written as only other systems understand it."""
    if _SEPARATORS.split(path).count("..") > path.split("/").count(".."):
        return True
    full = Path(os.path.abspath(resolve(path, base_dir)))  # noqa: PTH100, Path.absolute keeps `..`
    return not any(full.is_relative_to(root.absolute()) for root in roots)


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on any system."""
    windows = PureWindowsPath(path)
    return PurePosixPath(path).is_absolute() or bool(windows.drive or windows.root)


def leaves(path: Path, *roots: Path) -> bool:
    """Whether a path, all symbolic links followed, is below none of these directories."""
    real = Path(os.path.realpath(path))
    return not any(real.is_relative_to(os.path.realpath(root)) for root in roots)


def _decoded(path: str) -> str:
    for _ in range(_MOST_DECODINGS):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    return path


def is_file(path: Path) -> bool:
    """Whether there is a file; there is none whose name is too long to be one."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_directory(path: Path) -> bool:
    """Whether there is a directory."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_pattern(path: str) -> bool:
    """Whether a path has wildcards."""
    return _WILDCARD.search(path) is not None


def fixed_part(pattern: str) -> str:
    """The directories of a glob before its first wildcard."""
    if url := parse_url(pattern):
        return url.store + "/" + fixed_key(url.key)
    parts = PurePosixPath(pattern).parts
    until = next((i for i, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
    return str(PurePosixPath(*parts[:until])) if until else "."


def fixed_key(pattern: str) -> str:
    """The same of a pattern of keys, with a slash at its end."""
    return pattern[: pattern.rfind("/", 0, _first_wildcard(pattern)) + 1]


def _first_wildcard(pattern: str) -> int:
    found = _WILDCARD.search(pattern)
    return found.start() if found else len(pattern)


def check_paths(
    pipeline: Pipeline, graph: Graph, options: Options, channel: str = ""
) -> list[Diagnostic]:
    """E-SEC-001 for every path of the pipeline and of the bodies of its compositions."""
    problems = [
        wrong.at(place, ())
        for path, place in _pipeline_paths(pipeline)
        if (wrong := violation(path, options.base_dir, options.allow_absolute_paths, options.root))
    ]
    for queue in _queues(pipeline).values():
        if queue.path is not None:
            path = queue_path(queue.path, channel)
            problems += _check_path(path, queue.at("path"), (), options)
    problems += check_source_paths(graph, options)
    for unit, output in graph.of(OutputNode):
        values = known_values(graph, unit, options, channel)
        for path, place in _output_paths(output, values):
            problems += _check_path(path, place, unit.scope.trail, options)
    return problems


def check_source_paths(graph: Graph, options: Options) -> list[Diagnostic]:
    """E-SEC-001 for what sources read."""
    return [
        problem
        for unit, source in graph.of(SourceNode)
        for path, place in _source_paths(source)
        for problem in _check_path(path, place, unit.scope.trail, options)
    ]


def _check_path(
    path: str, place: Location, trail: tuple[Label, ...], options: Options
) -> Iterator[Diagnostic]:
    wrong = forbidden(path, options)
    if wrong:
        yield wrong.at(place, trail)


def _pipeline_paths(pipeline: Pipeline) -> Iterator[tuple[str, Location]]:
    settings = pipeline.pipeline
    yield from _given(settings, "rules_path")
    yield from _given(settings, "log_rules")
    yield from _given(settings.metrics, "spool_dir")
    for node in pipeline.nodes:
        if isinstance(node, CompositionNode):
            for name, value in node.resources.items():
                if isinstance(value, str) and "://" not in value:
                    yield value, node.at("resources", name)


def _source_paths(node: SourceNode) -> Iterator[tuple[str, Location]]:
    config = node.config
    yield from _given(config, "path")
    for position, path in enumerate(config.paths or ()):
        yield path, config.at("paths", position)
    if config.glob is not None:
        yield from _glob_paths(config.glob, config.at("glob"))
    if config.format_schema:
        yield from _given(config.format_schema, "path")


def _output_paths(node: OutputNode, values: PathValues) -> Iterator[tuple[str, Location]]:
    config = node.config
    if config.layout:
        yield from _given(config.layout, "path")
    rendered = render(config.path, values)
    yield rendered, config.at("path")
    if config.split:
        name = split_name(config.split.naming, rendered, 1)
        url = parse_url(rendered)
        directory = PurePosixPath(rendered).parent
        yield str(url.parent / name if url else directory / name), config.split.at("naming")


def _glob_paths(pattern: str, place: Location) -> Iterator[tuple[str, Location]]:
    """What can be judged before the pattern is expanded: each file is judged once it is found.

    Of objects it is the directory before the first wildcard that decides.
    """
    if url := parse_url(pattern):
        yield pattern if has_secret(url) else fixed_part(pattern), place
        return
    if meant_url(pattern):
        yield pattern, place
        return
    is_plain = not is_absolute(pattern) and _decoded(pattern) == pattern and "\0" not in pattern
    yield fixed_part(pattern) if is_plain else pattern, place


def _given(model: Model, field_: str) -> Iterator[tuple[str, Location]]:
    path = getattr(model, field_)
    if path is not None:
        yield path, model.at(field_)


# Templates


@frozen
class PathValues:
    """What the tokens of an output's path stand for."""

    source_name: str = ""
    source_names: Mapping[str, str] = field(default_factory=dict)
    """What `{source_name:node}` gives, by node."""
    channel: str = ""
    pipeline_hash: str = ""
    """As many digits as `{pipeline_hash:full}` shows."""
    timestamp: str = ""
    execution_id: str = ""
    batch_id: str = ""
    n: str = ""
    """The number that makes a name unique; empty for the first."""
    source_file: str = ""
    """The name, without its extension, of the file a record was read from."""
    source_path: str = ""
    """The same with its directories."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What `{field:name}` gives, by the fields: parts of names already."""


def render(template: Template, values: PathValues) -> str:
    """The path a template stands for."""
    return "".join(
        part if isinstance(part, str) else _render_token(part, values) for part in template.parts
    )


def queue_path(path: Template, channel: str) -> str:
    """The file of dead letters, whose name only the channel changes."""
    return render(path, PathValues(channel=channel))


def _render_token(token: Token, values: PathValues) -> str:
    value = _value(token, values)
    if token.name != "source_path":
        value = _UNSAFE_IN_NAMES.sub("_", value)
    return f"{token.prefix}{value}{token.suffix}" if value else ""


def _value(token: Token, values: PathValues) -> str:
    if token.name == "source_name" and token.argument:
        return values.source_names.get(token.argument, token.argument)
    if token.name == "field":
        name = token.argument or ""
        return values.fields.get(name, f"{{value of {name}}}")
    value: str = getattr(values, token.name)
    if token.name == "pipeline_hash" and token.argument != "full":
        return value[: int(token.argument or _HASH_LENGTH)]
    return value


def split_name(naming: Template, path: str, sequence: int) -> str:
    """The name of one of the files that an output is split into, counted from 1."""
    stem, extension = file_names.split_name(PurePosixPath(path))
    values = {"stem": stem, "ext": extension[1:] or _DEFAULT_EXTENSION}
    parts: list[str] = []
    for part in naming.parts:
        if isinstance(part, str):
            parts.append(part)
        elif part.name == "seq":
            parts.append(str(sequence).zfill(int(part.argument or 0)))
        else:
            parts.append(values[part.name])
    return "".join(parts)


def pipeline_hash(text: str) -> str:
    """64 hexadecimal digits that change with the pipeline's text."""
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def timestamp(started: datetime) -> str:
    """The start of a run as a path may contain it."""
    return started.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")


def source_names(graph: Graph, unit: Unit) -> dict[str, str]:
    """What `{source_name:node}` gives at an output, by the name that is written there."""
    prefix = unit.scope.prefix
    names = {source.name: _source_name(node) for source, node in graph.of(SourceNode)}
    local = {n.removeprefix(prefix): value for n, value in names.items() if n.startswith(prefix)}
    return {**names, **local}


def _source_name(node: SourceNode) -> str:
    """The stem of the one file a source reads; for any other source its own name."""
    path = node.config.path
    return (parse_url(path) or PurePosixPath(path)).stem if path else node.name


def known_values(graph: Graph, unit: Unit, options: Options, channel: str) -> PathValues:
    """The values of an output as far as they are known before a run.

    Every other token stands for itself, so that equal paths are recognized as such.
    """
    sources = _sources_of(graph, unit)
    names = source_names(graph, unit)
    return PathValues(
        source_name=names[sources[0]] if len(sources) == 1 else "{source_name}",
        source_names=names,
        channel=channel,
        pipeline_hash="#" * 64,
        timestamp="{timestamp}",
        execution_id="{execution_id}",
        batch_id=options.batch_id or "{batch_id}",
        source_file=f"{{file of {', '.join(sources)}}}",
        source_path=f"{{path of {', '.join(sources)}}}",
    )


def _sources_of(graph: Graph, unit: Unit) -> list[str]:
    """The sources whose records reach an output."""
    reaching: set[str] = set()
    todo = [unit.name]
    while todo:
        reached = graph.units.get(todo.pop())
        for edge in reached.inputs if reached else ():
            if edge.upstream not in reaching:
                reaching.add(edge.upstream)
                todo.append(edge.upstream)
    return [source.name for source, _ in graph.of(SourceNode) if source.name in reaching]


def check_templates(graph: Graph) -> list[Diagnostic]:
    """Tokens of output paths that name no source, or more than one."""
    return [
        problem
        for unit, node in graph.of(OutputNode)
        for problem in _template_problems(graph, unit, node)
    ]


def _template_problems(graph: Graph, unit: Unit, node: OutputNode) -> Iterator[Diagnostic]:
    place = node.config.at("path")
    names = source_names(graph, unit)
    sources = _sources_of(graph, unit)
    for token in node.config.path.tokens:
        if token.name != "source_name":
            continue
        if token.argument is None and len(sources) > 1:
            yield unit.problem(
                "E072",
                f"{{source_name}} could be any of: {', '.join(sources)}",
                place,
                help=f"say which one: {{source_name:{sources[0]}}}",
                also=[Label(graph.units[s].node.at("name"), "one of the sources") for s in sources],
            )
        elif token.argument is not None and token.argument not in names:
            yield unit.problem(
                "E073",
                f"{{source_name:{token.argument}}} names no source",
                place,
                help=did_you_mean(token.argument, names) or f"one of: {', '.join(names)}",
            )


# Destinations


@frozen
class Destination:
    """A file that a run writes."""

    what: str
    """As messages name it."""
    place: Location
    identity: str
    """Equal for two destinations that are the same file."""
    unit: Unit | None
    """The output; None for a dead-letter queue."""
    is_directory: bool = False
    """Whether there is, or by its path must be, a directory in its place."""
    is_new: bool = False
    """Whether every run writes another one: its name has the id of the run, or a free number."""


def ignores_case(path: Path) -> bool:
    """Whether the disk that will hold `path` takes upper and lower case for the same."""
    for directory in path.parents:
        swapped = directory.name.swapcase()
        if swapped != directory.name and _is_same(directory, directory):
            return _is_same(directory, directory.with_name(swapped))
    return False


def _is_same(a: Path, b: Path) -> bool:
    """Whether two paths are the same existing directory or file."""
    try:
        return a.samefile(b)
    except OSError:
        return False


def list_destinations(
    pipeline: Pipeline,
    graph: Graph,
    options: Options,
    channel: str = "",
    ignores_case: Callable[[Path], bool] = ignores_case,
) -> list[Destination]:
    """Every file the pipeline writes: the outputs in planning order, then the dead letters."""

    def destination(what: str, path: FilePath, place: Location, unit: Unit | None) -> Destination:
        if isinstance(path, ObjectUrl):
            is_directory_there = not path.name
            return Destination(what, place, str(path), unit, is_directory_there)
        identity = os.path.realpath(str(path).replace("\0", ""))
        folded = identity.casefold() if ignores_case(Path(identity)) else identity
        return Destination(what, place, folded, unit, is_directory(Path(identity)))

    places: list[Destination] = []
    for unit, node in graph.of(OutputNode):
        config = node.config
        rendered = render(config.path, known_values(graph, unit, options, channel))
        path = locate(rendered, options.base_dir)
        if config.split:
            path = path.parent / split_name(config.split.naming, rendered, 1)
        written = destination(f"output '{unit.name}'", path, config.at("path"), unit)
        ends_open = rendered.endswith("/") and not config.split
        is_new = config.if_exists == "unique_suffix" or any(
            token.name == "execution_id" for token in config.path.tokens
        )
        is_directory_there = ends_open or written.is_directory
        places.append(replace(written, is_directory=is_directory_there, is_new=is_new))
    common = pipeline.error_handling.dlq.if_exists
    for name, queue in _queues(pipeline).items():
        if queue.path is not None:
            path = locate(queue_path(queue.path, channel), options.base_dir)
            what = f"the dead-letter queue of '{name}'" if name else "the dead-letter queue"
            written = destination(what, path, queue.at("path"), None)
            is_new = (queue.if_exists or common) == "unique_suffix"
            places.append(replace(written, is_new=is_new))
    return places


def written_places(
    pipeline: Pipeline, graph: Graph, options: Options
) -> Iterator[tuple[FilePath, bool]]:
    """The directories that a pipeline writes to, as far as its text tells, each with whether the
    names of more directories below it are known only when it runs."""
    paths = [node.config.path for _, node in graph.of(OutputNode)]
    paths += [queue.path for queue in _queues(pipeline).values() if queue.path is not None]
    for path in paths:
        fixed, rest = _fixed_start(path)
        # With something in place of the name, what stands before it is the directory.
        directory = locate(f"{fixed}_", options.base_dir).parent
        yield directory, any(map(_may_name_directories, rest))


def with_parents(directory: FilePath, base_dir: Path) -> Iterator[FilePath]:
    """A directory and those above it, up to the base directory if it lies below it."""
    if isinstance(directory, ObjectUrl):
        yield directory
        return
    top = resolve("", base_dir)
    yield directory
    while directory != top and directory.is_relative_to(top):
        directory = directory.parent
        yield directory


def _may_name_directories(part: str | Token) -> bool:
    return part.name == "source_path" if isinstance(part, Token) else "/" in part


def _fixed_start(path: Template) -> tuple[str, Sequence[str | Token]]:
    """The text of a path before its first token, and what follows."""
    first = path.parts[0]
    return (first, path.parts[1:]) if isinstance(first, str) else ("", path.parts)


def _queues(pipeline: Pipeline) -> dict[str, Queue]:
    """The dead-letter queues by source, the common one under the empty name."""
    dlq = pipeline.error_handling.dlq
    return {"": dlq, **dlq.per_source}


def check_overwritten_inputs(
    graph: Graph, options: Options, destinations: Sequence[Destination]
) -> list[Diagnostic]:
    """E076 for a file that is read and written by the same pipeline."""
    read: dict[str, tuple[Unit, Location]] = {}
    for unit, node in graph.of(SourceNode):
        config = node.config
        paths = [(config.path, config.at("path"))] if config.path else []
        paths += [(path, config.at("paths", i)) for i, path in enumerate(config.paths or ())]
        for path, place in paths:
            found = locate(path.replace("\0", ""), options.base_dir)
            read.setdefault(canonical(found), (unit, place))
    problems: list[Diagnostic] = []
    for written in destinations:
        if written.identity in read:
            reader, place = read[written.identity]
            message = f"{written.what} would overwrite the input of '{reader.name}'"
            note = Label(place, "read here")
            help = "write to another file"
            problems.append(Diagnostic("E076", message, Label(written.place), (note,), help))
    return problems


def check_destinations(destinations: Sequence[Destination]) -> list[Diagnostic]:
    """E322 for an output that shares its file with another one, E075 where no file can be."""
    problems = [
        Diagnostic(
            "E075",
            f"the path of {destination.what} is a directory",
            Label(destination.place),
            destination.unit.scope.trail if destination.unit else (),
            "add the name of a file",
        )
        for destination in destinations
        if destination.is_directory
    ]
    first: dict[str, Destination] = {}
    for destination in destinations:
        earlier = first.setdefault(destination.identity, destination)
        if earlier is not destination and earlier.unit:
            reporter = destination.unit or earlier.unit
            problems.append(
                reporter.problem(
                    "E322",
                    f"{destination.what} writes to the same file as {earlier.what}",
                    destination.place,
                    also=(Label(earlier.place, f"the path of {earlier.what}"),),
                    help="give each of them a path of its own",
                )
            )
    return problems
