"""Discovery: which files a source reads, and in which order.

Contents of data files are never looked at. The same discovery serves the checks before a run, the
estimates of an explained plan and the run itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from clinker.config.nodes import SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.cxl.run.pattern_parser import PatternError
from clinker.cxl.run.patterns import TooSlow, compile_pattern, search
from clinker.diagnostics import Diagnostic, EmbeddedSource, Location, Severity, Span
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.files.globs import (
    GlobError,
    compile_glob,
    expand_glob,
    list_entries,
    matches_any,
    matching_objects,
)
from clinker.plan.files.paths import (
    CODE,
    display_name,
    leaves,
    link_violation,
    locate,
    resolve,
)
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.options import Options
from clinker.stores.access import ObjectFacts, find
from clinker.stores.urls import FilePath, ObjectUrl, parse_url

IS_DIRECTORY = "is a directory"
_IS_MISSING = "does not exist"
_OBJECT_HELP = "the environment says which store is asked, and with which credentials"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


@frozen
class SourceFile:
    """A file that a source reads."""

    path: FilePath
    name: str
    """The path as seen from the base directory."""
    size: int
    modified: datetime
    created: datetime


@frozen
class Missing:
    """A file that was asked for by name and cannot be read, or a pattern that takes too long."""

    path: str
    position: int | None
    """Its place in `paths`; None for `path`."""
    reason: str
    is_refused: bool = False
    """Whether a store does not tell what there is, so there may be something."""


@frozen
class Discovery:
    """What a source's matcher found."""

    files: tuple[SourceFile, ...] = ()
    """The files to read, in order."""
    missing: tuple[Missing, ...] = ()
    outside: tuple[SourceFile, ...] = ()
    """Files that lie outside the base directory and may not be read."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many files each filter left out."""


def discover(source: str, config: SourceConfig, options: Options, now: datetime) -> Discovery:
    """The files of a source; its patterns are valid."""
    if given := options.given.get(source):
        files = _stat_all([given.path], options)
        return Discovery(tuple(replace(file, name=given.name) for file in files))
    files, missing = _enumerate(config, options)
    outside: list[SourceFile] = []
    if not options.allow_absolute_paths:
        inside: list[SourceFile] = []
        for file in files:
            is_outside = isinstance(file.path, Path) and leaves(file.path, options.root)
            (outside if is_outside else inside).append(file)
        files = inside
    kept, dropped = _filter(config, files, options.base_dir, now)
    kept = _take(config, _sort(config, kept))
    return Discovery(tuple(kept), tuple(missing), tuple(outside), dropped)


def _enumerate(config: SourceConfig, options: Options) -> tuple[list[SourceFile], list[Missing]]:
    base_dir = options.base_dir
    if config.glob is not None and (url := parse_url(config.glob)):
        try:
            return [_object_file(facts) for facts in matching_objects(url)], []
        except OSError as problem:
            reason = f"cannot be listed: {problem.strerror}"
            return [], [Missing(config.glob, None, reason, is_refused=True)]
    if config.glob is not None:
        return _stat_all(expand_glob(config.glob, base_dir), options), []
    if config.regex is not None:
        try:
            matching = _search(config.regex, base_dir, config.files.recursive)
            return _stat_all(matching, options), []
        except TooSlow as problem:
            return [], [Missing(config.regex, None, str(problem))]
    if config.path is not None:
        return _literal([(None, config.path)], options)
    return _literal(list(enumerate(config.paths or ())), options)


def _literal(
    paths: Sequence[tuple[int | None, str]], options: Options
) -> tuple[list[SourceFile], list[Missing]]:
    files: list[SourceFile] = []
    missing: list[Missing] = []
    for position, text in paths:
        path = locate(text, options.base_dir)
        if isinstance(path, ObjectUrl):
            try:
                files.append(_object_file(find(path)))
            except OSError as problem:
                missing.append(_missing_object(text, position, problem))
            continue
        reason = _why_unreadable(path)
        if reason:
            missing.append(Missing(text, position, reason))
        else:
            files += _stat_all([path], options)
    return files, missing


def _object_file(facts: ObjectFacts) -> SourceFile:
    """Stores do not tell when an object was first written."""
    return SourceFile(facts.url, str(facts.url), facts.size, facts.modified, facts.modified)


def _missing_object(text: str, position: int | None, problem: OSError) -> Missing:
    match problem:
        case FileNotFoundError():
            return Missing(text, position, _IS_MISSING)
        case IsADirectoryError():
            return Missing(text, position, IS_DIRECTORY)
        case _:
            return Missing(text, position, _unreadable(problem), is_refused=True)


def _unreadable(problem: OSError) -> str:
    return f"cannot be read: {problem.strerror}"


def _why_unreadable(path: Path) -> str | None:
    try:
        path.stat()
    except OSError as problem:
        if isinstance(problem, FileNotFoundError | NotADirectoryError):
            return _IS_MISSING
        return _unreadable(problem)
    if path.is_dir():
        return IS_DIRECTORY
    if not path.is_file():
        return "is a pipe or a device, not a file"
    return None if os.access(path, os.R_OK) else "cannot be read: permission denied"


def _search(pattern: str, base_dir: Path, recursive: bool) -> Iterator[Path]:
    """The files whose path below the base directory has a part that matches; links are skipped."""
    compiled = compile_pattern(pattern)
    todo = [base_dir]
    while todo:
        directory = todo.pop()
        for entry in list_entries(directory):
            path = directory / entry.name
            if entry.is_dir(follow_symlinks=False) and recursive:
                todo.append(path)
            elif entry.is_file(follow_symlinks=False) and search(
                compiled, display_name(path, base_dir)
            ):
                yield path


def _stat_all(paths: Iterator[Path] | Sequence[Path], options: Options) -> list[SourceFile]:
    """The files that are still there by the time they are looked at."""
    files: list[SourceFile] = []
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        created = getattr(facts, "st_birthtime", facts.st_mtime)
        files.append(
            SourceFile(
                path,
                display_name(path, options.base_dir, options.root),
                facts.st_size,
                _moment_of(facts.st_mtime),
                _moment_of(created),
            )
        )
    return files


def _moment_of(seconds: float) -> datetime:
    """A time of the file system, which knows years that Python does not."""
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return _EARLIEST if seconds < 0 else _LATEST


def _filter(
    config: SourceConfig, files: Sequence[SourceFile], base_dir: Path, now: datetime
) -> tuple[list[SourceFile], dict[str, int]]:
    after, before = _moment(config.modified_after, now), _moment(config.modified_before, now)
    kept: list[SourceFile] = []
    dropped: dict[str, int] = {}
    for file in files:
        if matches_any(config.exclude, file.path, base_dir):
            reason = "exclude"
        elif config.min_size is not None and file.size < config.min_size:
            reason = "min_size"
        elif config.max_size is not None and file.size > config.max_size:
            reason = "max_size"
        elif after and file.modified < after:
            reason = "modified_after"
        elif before and file.modified > before:
            reason = "modified_before"
        else:
            kept.append(file)
            continue
        dropped[reason] = dropped.get(reason, 0) + 1
    return kept, dropped


def _moment(moment: timedelta | datetime | None, now: datetime) -> datetime | None:
    if not isinstance(moment, timedelta):
        return moment
    try:
        return now - moment
    except OverflowError:
        return _EARLIEST


def _sort(config: SourceConfig, files: list[SourceFile]) -> list[SourceFile]:
    """By name unless told otherwise; a list of paths keeps its own order unless told otherwise."""
    order = config.files
    if config.paths is not None and not (order.has("sort_by") or order.has("sort_order")):
        return files
    ordered = sorted(files, key=lambda file: [os.fsencode(p) for p in file.path.parts])
    if order.sort_by != "name":
        ordered.sort(key=lambda file: getattr(file, order.sort_by))
    return ordered[::-1] if order.sort_order == "desc" else ordered


def _take(config: SourceConfig, files: list[SourceFile]) -> list[SourceFile]:
    if config.files.take_first is not None:
        return files[: config.files.take_first]
    if config.files.take_last is not None:
        return files[-config.files.take_last :]
    return files


def discover_all(graph: Graph, options: Options, now: datetime) -> dict[str, Discovery]:
    """The files of every source that reads files."""
    return {
        unit.name: discover(unit.name, node.config, options, now)
        for unit, node in graph.of(SourceNode)
        if unit.name in options.given or not isinstance(node.config.transport, RestTransport)
    }


def input_size(found: Mapping[str, Discovery]) -> int:
    """How many bytes there are to read."""
    return sum(file.size for discovery in found.values() for file in discovery.files)


# Findings about inputs


def check_patterns(graph: Graph) -> list[Diagnostic]:
    """E212 and E213: globs and regular expressions that cannot be understood."""
    problems: list[Diagnostic] = []
    for unit, node in graph.of(SourceNode):
        config = node.config
        if config.glob is not None:
            problems += _glob_problems(unit, config.text("glob"))
        for position in range(len(config.exclude)):
            problems += _glob_problems(unit, config.text("exclude", position))
        if config.regex is not None:
            problems += _regex_problems(unit, config.text("regex"))
    return problems


def _glob_problems(unit: Unit, written: EmbeddedSource) -> Iterator[Diagnostic]:
    try:
        compile_glob(written.text)
    except GlobError as wrong:
        message = f"'{written.text}' is not a glob: {wrong}"
        yield unit.problem("E212", message, written.at(wrong.span), help=wrong.help)


def _regex_problems(unit: Unit, written: EmbeddedSource) -> Iterator[Diagnostic]:
    try:
        compile_pattern(written.text)
    except PatternError as wrong:
        message = f"'{written.text}' is not a regular expression: {wrong}"
        place = written.at(Span(wrong.offset, min(wrong.offset + 1, len(written.text))))
        help = "it is searched for in the path of each file; write \\. for a dot"
        yield unit.problem("E213", message, place, help=help)


def check_inputs(
    graph: Graph, options: Options, found: Mapping[str, Discovery]
) -> list[Diagnostic]:
    """What keeps the sources of a compiled pipeline from finding their files."""
    return [
        problem
        for unit, node in graph.of(SourceNode)
        if unit.name in found
        for problem in input_problems(unit, node.config, found[unit.name], options)
    ]


def input_problems(
    unit: Unit, config: SourceConfig, discovery: Discovery, options: Options
) -> Iterator[Diagnostic]:
    """What there is to say about one source's files, as its `on_no_match` asks for.

    That a store refuses is no proof that nothing matches.
    """
    for file in discovery.outside:
        wrong = link_violation(file.name)
        yield unit.problem(CODE, wrong.message, _matcher(config), help=wrong.help)
    if config.regex is not None:
        for slow in discovery.missing:
            help = "write it without repetitions inside of repetitions, or use a glob"
            yield unit.problem("E216", f"'{slow.path}' {slow.reason}", _matcher(config), help=help)
        if discovery.missing:
            return
    for missing in discovery.missing:
        place = _matcher(config)
        if missing.position is not None:
            place = config.at("paths", missing.position)
        message = f"'{missing.path}' {missing.reason}"
        help = _way_out(missing, config, options.base_dir)
        if missing.is_refused:
            yield unit.problem("E216", message, place, help=help)
        elif config.files.on_no_match != "skip":
            yield _no_match(unit, config, message, place, help)
    if config.files.on_no_match == "skip":
        return
    if not (discovery.files or discovery.missing or discovery.outside):
        yield _no_match(unit, config, *_nothing_left(config, discovery, options.base_dir))


def _matcher(config: SourceConfig) -> Location:
    return config.at(next(m for m in ("path", "glob", "regex", "paths") if getattr(config, m)))


def _nothing_left(
    config: SourceConfig, discovery: Discovery, base_dir: Path
) -> tuple[str, Location, str]:
    place = _matcher(config)
    total = sum(discovery.dropped.values())
    if not total:
        pattern = config.glob if config.glob is not None else config.regex
        is_object = pattern is not None and parse_url(pattern)
        help = _OBJECT_HELP if is_object else name_base_dir(base_dir)
        return f"no file matches '{pattern}'", place, help
    filters = ", ".join(f"'{name}' leaves out {n}" for name, n in discovery.dropped.items())
    noun = "file matches" if total == 1 else "files match"
    return f"{total} {noun}, but none is left to read", place, filters


def _no_match(
    unit: Unit, config: SourceConfig, message: str, place: Location, help: str
) -> Diagnostic:
    if config.files.on_no_match == "warn":
        message += "; the run goes on without"
        return unit.scope.problem("W070", message, place, help=help, severity=Severity.WARNING)
    return unit.problem("E216", message, place, help=help)


def _way_out(missing: Missing, config: SourceConfig, base_dir: Path) -> str:
    if missing.reason == IS_DIRECTORY:
        # Engines that write directories leave other files in them, too.
        end = f".{config.type}" if config.format.tells_schema else ""
        return f"to read the files in it, write glob: {missing.path.rstrip('/')}/*{end}"
    if parse_url(missing.path):
        return _OBJECT_HELP
    return suggest_neighbour(missing.path, base_dir) or name_base_dir(base_dir)


def name_base_dir(base_dir: Path) -> str:
    return f"paths are relative to {base_dir.absolute()}"


def suggest_neighbour(path: str, base_dir: Path) -> str | None:
    """A neighbour with a similar name, as it would be written; objects are not looked through."""
    if parse_url(path):
        return None
    wanted = PurePosixPath(path)
    if not wanted.name:
        return None
    neighbours = [entry.name for entry in list_entries(resolve(path, base_dir).parent)]
    return did_you_mean(path, [str(wanted.with_name(name)) for name in neighbours])
