"""Files: which ones a source reads, in which order, and the layouts that schema files describe.

Contents of data files are never looked at. The same discovery serves the checks before a run, the
estimates of an explained plan and the run itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath

from clinker.config import Layout, Loaded, load_schema_file
from clinker.config.layout import LayoutRef, positions
from clinker.config.nodes import OutputNode, SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.cxl.run.pattern_parser import PatternError
from clinker.cxl.run.patterns import TooSlow, compile_pattern, search
from clinker.diagnostics import Diagnostic, EmbeddedSource, Label, Location, Severity, Span
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.files.paths import (
    CODE,
    fixed_part,
    is_file,
    is_pattern,
    leaves,
    link_violation,
    resolve,
    violation,
)
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.options import Options

IS_DIRECTORY = "is a directory"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)

# Globs


class GlobError(ValueError):
    """A glob that cannot be understood; `span` is the part of it that is wrong."""

    def __init__(self, message: str, help: str, span: Span) -> None:
        super().__init__(message)
        self.help = help
        self.span = span


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A glob over whole paths: `*` and `?` stay inside a component, `**` crosses components."""
    start = 0
    text = ""
    parts = pattern.split("/")
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if part == ".." and is_pattern("/".join(parts[:position])):
            raise GlobError(
                "'..' follows a wildcard",
                "write it before the first wildcard, as in ../data/*.csv",
                Span(start, start + 2),
            )
        if part == "**":
            text += ".*" if is_last else "(?:[^/]+/)*"
        else:
            text += _component(part, start) + ("" if is_last else "/")
        start += len(part) + 1
    return re.compile(text, re.S)


def _component(part: str, start: int) -> str:
    if "**" in part:
        at = start + part.index("**")
        raise GlobError(
            "'**' stands for whole directories",
            "write it between slashes, as in data/**/*.csv",
            Span(at, at + 2),
        )
    text = ""
    rest = part
    while rest:
        character, rest = rest[0], rest[1:]
        if character == "*":
            text += "[^/]*"
        elif character == "?":
            text += "[^/]"
        elif character == "[":
            at = start + len(part) - len(rest) - 1
            members, rest = _class(rest, at)
            text += members
        else:
            text += re.escape(character)
    return text


def _class(rest: str, at: int) -> tuple[str, str]:
    """`[abc]`, `[a-z]` or `[!abc]` as a regular expression, and what follows it."""
    negated = rest[:1] == "!"
    body = rest[1:] if negated else rest
    # A bracket that comes first is a member.
    end = body.find("]", 1)
    if end < 0:
        raise GlobError("'[' is never closed", "write [[] for a literal bracket", Span(at, at + 1))
    members = ""
    for low, high, single in re.findall(r"(.)-(.)|(.)", body[:end], re.S):
        if low > high:
            span = Span(at, at + len(rest) - len(body) + end + 2)
            raise GlobError(f"the range {low}-{high} is empty", f"write {high}-{low}", span)
        members += re.escape(single) or f"{re.escape(low)}-{re.escape(high)}"
    return f"[{'^/' if negated else ''}{members}]", body[end + 1 :]


def matches_any(patterns: Sequence[str], path: Path, base_dir: Path) -> bool:
    """Whether a glob matches the path, as seen from the base directory or in full, or its name."""
    shown = {display_name(path, base_dir), path.absolute().as_posix(), path.name}
    compiled = [compile_glob(pattern.removeprefix("./")) for pattern in patterns]
    return any(glob.fullmatch(text) for glob in compiled for text in shown)


def expand_glob(pattern: str, base_dir: Path) -> Iterator[Path]:
    """Every file a glob matches, in no particular order."""
    fixed = fixed_part(pattern)
    start = resolve(fixed, base_dir)
    rest = PurePosixPath(pattern).relative_to(fixed).parts
    if rest:
        yield from _expand(start, rest)
    elif is_file(start):
        yield start


def _expand(directory: Path, parts: Sequence[str]) -> Iterator[Path]:
    part, rest = parts[0], parts[1:]
    if part == "**":
        if rest:
            yield from _expand(directory, rest)
        for entry in _entries(directory):
            # Links inside a tree may lead back into it.
            if entry.is_dir(follow_symlinks=False):
                yield from _expand(directory / entry.name, parts)
            elif not rest and (directory / entry.name).is_file():
                yield directory / entry.name
        return
    glob = compile_glob(part)
    for entry in _entries(directory):
        if glob.fullmatch(entry.name):
            path = directory / entry.name
            if rest:
                yield from _expand(path, rest)
            elif path.is_file():
                yield path


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    """What a directory holds; one that cannot be listed holds nothing to match."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


# Discovery


@frozen
class SourceFile:
    """A file that a source reads."""

    path: Path
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


def discover(config: SourceConfig, options: Options, now: datetime) -> Discovery:
    """The files of a source; its patterns are valid."""
    found, missing = _enumerate(config, options)
    outside: list[SourceFile] = []
    if not options.allow_absolute_paths:
        inside: list[SourceFile] = []
        for file in found:
            (outside if leaves(file.path, options.root) else inside).append(file)
        found = inside
    kept, dropped = _filter(config, found, options.base_dir, now)
    kept = _take(config, _sort(config, kept))
    return Discovery(tuple(kept), tuple(missing), tuple(outside), dropped)


def display_name(path: Path, base_dir: Path, root: Path | None = None) -> str:
    """A path as users know it: relative to the base directory if it lies below it or the root.

    Bytes of a file's name that are no text are shown as such: `caf\\xe9.csv`.
    """
    if path.is_relative_to(base_dir):
        path = path.relative_to(base_dir)
    elif root and path.is_relative_to(root):
        path = Path(os.path.relpath(path, base_dir))
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _enumerate(config: SourceConfig, options: Options) -> tuple[list[SourceFile], list[Missing]]:
    base_dir = options.base_dir
    if config.glob is not None:
        return _stat_all(expand_glob(config.glob, base_dir), options), []
    if config.regex is not None:
        try:
            found = _search(config.regex, base_dir, config.files.recursive)
            return _stat_all(found, options), []
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
        path = resolve(text, options.base_dir)
        reason = _why_unreadable(path)
        if reason:
            missing.append(Missing(text, position, reason))
        else:
            files += _stat_all([path], options)
    return files, missing


def _why_unreadable(path: Path) -> str | None:
    try:
        path.stat()
    except OSError as problem:
        if isinstance(problem, FileNotFoundError | NotADirectoryError):
            return "does not exist"
        return f"cannot be read: {problem.strerror}"
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
        for entry in _entries(directory):
            path = directory / entry.name
            if entry.is_dir(follow_symlinks=False) and recursive:
                todo.append(path)
            elif entry.is_file(follow_symlinks=False) and search(
                compiled, display_name(path, base_dir)
            ):
                yield path


def _stat_all(paths: Iterator[Path] | Sequence[Path], options: Options) -> list[SourceFile]:
    """The files that are still there by the time they are looked at."""
    found: list[SourceFile] = []
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        created = getattr(facts, "st_birthtime", facts.st_mtime)
        found.append(
            SourceFile(
                path,
                display_name(path, options.base_dir, options.root),
                facts.st_size,
                _moment_of(facts.st_mtime),
                _moment_of(created),
            )
        )
    return found


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
    ordered = sorted(files, key=lambda file: [os.fsencode(part) for part in file.path.parts])
    if order.sort_by != "name":
        ordered.sort(key=lambda file: getattr(file, order.sort_by))
    return ordered[::-1] if order.sort_order == "desc" else ordered


def _take(config: SourceConfig, files: list[SourceFile]) -> list[SourceFile]:
    if config.files.take_first is not None:
        return files[: config.files.take_first]
    if config.files.take_last is not None:
        return files[-config.files.take_last :]
    return files


# Findings about inputs


def check_patterns(graph: Graph) -> list[Diagnostic]:
    """E212 and E213: globs and regular expressions that cannot be understood."""
    found: list[Diagnostic] = []
    for unit in graph:
        if not isinstance(unit.node, SourceNode):
            continue
        config = unit.node.config
        if config.glob is not None:
            found += _glob_problems(unit, config.text("glob"))
        for position in range(len(config.exclude)):
            found += _glob_problems(unit, config.text("exclude", position))
        if config.regex is not None:
            found += _regex_problems(unit, config.text("regex"))
    return found


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


def check_inputs(graph: Graph, options: Options, now: datetime) -> list[Diagnostic]:
    """What keeps the sources of a compiled pipeline from finding their files."""
    return [
        problem
        for unit in graph
        if isinstance(unit.node, SourceNode)
        and not isinstance(unit.node.config.transport, RestTransport)
        for problem in input_problems(
            unit, unit.node.config, discover(unit.node.config, options, now), options
        )
    ]


def input_problems(
    unit: Unit, config: SourceConfig, found: Discovery, options: Options
) -> Iterator[Diagnostic]:
    """What there is to say about one source's files, as its `on_no_match` asks for."""
    for file in found.outside:
        wrong = link_violation(file.name)
        yield unit.problem(CODE, wrong.message, _matcher(config), help=wrong.help)
    if config.regex is not None:
        for slow in found.missing:
            help = "write it without repetitions inside of repetitions, or use a glob"
            yield unit.problem("E216", f"'{slow.path}' {slow.reason}", _matcher(config), help=help)
        if found.missing:
            return
    if config.files.on_no_match == "skip":
        return
    for missing in found.missing:
        place = config.at("path")
        if missing.position is not None:
            place = config.at("paths", missing.position)
        message = f"'{missing.path}' {missing.reason}"
        yield _no_match(unit, config, message, place, _way_out(missing, options.base_dir))
    if not (found.files or found.missing or found.outside):
        yield _no_match(unit, config, *_nothing_left(config, found, options.base_dir))


def _matcher(config: SourceConfig) -> Location:
    return config.at(next(m for m in ("path", "glob", "regex", "paths") if getattr(config, m)))


def _nothing_left(
    config: SourceConfig, found: Discovery, base_dir: Path
) -> tuple[str, Location, str]:
    place = _matcher(config)
    total = sum(found.dropped.values())
    if not total:
        pattern = config.glob if config.glob is not None else config.regex
        return f"no file matches '{pattern}'", place, _looked_in(base_dir)
    filters = ", ".join(f"'{name}' leaves out {n}" for name, n in found.dropped.items())
    noun = "file matches" if total == 1 else "files match"
    return f"{total} {noun}, but none is left to read", place, filters


def _no_match(
    unit: Unit, config: SourceConfig, message: str, place: Location, help: str
) -> Diagnostic:
    if config.files.on_no_match == "warn":
        message += "; the run goes on without"
        return unit.scope.problem("W070", message, place, help=help, severity=Severity.WARNING)
    return unit.problem("E216", message, place, help=help)


def _way_out(missing: Missing, base_dir: Path) -> str:
    if missing.reason == IS_DIRECTORY:
        return f"to read the files in it, write glob: {missing.path.rstrip('/')}/*"
    return _near(missing.path, base_dir) or _looked_in(base_dir)


def _looked_in(base_dir: Path) -> str:
    return f"paths are relative to {base_dir.absolute()}"


def _near(path: str, base_dir: Path) -> str | None:
    """A neighbour with a similar name, as it would be written."""
    wanted = PurePosixPath(path)
    if not wanted.name:
        return None
    neighbours = [entry.name for entry in _entries(resolve(path, base_dir).parent)]
    return did_you_mean(path, [str(wanted.with_name(name)) for name in neighbours])


# Layouts


@frozen
class Layouts:
    """The layouts of fixed-width and other files by the node that uses them."""

    by_node: Mapping[str, Layout]
    diagnostics: list[Diagnostic] = field(default_factory=list)


def load_layouts(graph: Graph, options: Options) -> Layouts:
    """Every layout of the pipeline, inline or from its schema file."""
    by_node: dict[str, Layout] = {}
    diagnostics: list[Diagnostic] = []
    loaded: dict[Path, Loaded[Layout]] = {}
    for unit in graph:
        ref = _layout_ref(unit)
        if ref is None:
            continue
        if ref.inline is not None:
            by_node[unit.name] = ref.inline
            continue
        path = resolve(ref.path or "", options.base_dir)
        allow_absolute = options.allow_absolute_paths
        if violation(ref.path or "", options.base_dir, allow_absolute, options.root):
            continue
        if path not in loaded:
            try:
                content = path.read_bytes()
            except OSError as problem:
                diagnostics.append(_unreadable(unit, ref, problem, options.base_dir))
                continue
            name = display_name(path, options.base_dir, options.root)
            loaded[path] = load_schema_file(content, name)
            diagnostics += loaded[path].diagnostics
        layout = loaded[path].value
        if layout:
            by_node[unit.name] = layout
            diagnostics += _layout_problems(unit, ref, layout)
    return Layouts(by_node, diagnostics)


def _layout_ref(unit: Unit) -> LayoutRef | None:
    if isinstance(unit.node, SourceNode):
        return unit.node.config.format_schema
    return unit.node.config.layout if isinstance(unit.node, OutputNode) else None


def _unreadable(unit: Unit, ref: LayoutRef, problem: OSError, base_dir: Path) -> Diagnostic:
    missing = isinstance(problem, FileNotFoundError)
    reason = "does not exist" if missing else f"cannot be read: {problem.strerror}"
    return unit.problem(
        "E071",
        f"the schema file '{ref.path}' {reason}",
        ref.at("path"),
        help=_near(ref.path or "", base_dir) or _looked_in(base_dir),
    )


def _layout_problems(unit: Unit, ref: LayoutRef, layout: Layout) -> Iterator[Diagnostic]:
    assert isinstance(unit.node, SourceNode | OutputNode)
    wanted = unit.node.config.type
    used_here = Label(ref.at("path"), f"used by '{unit.name}'")
    if layout.format is not None and layout.format != wanted:
        yield unit.problem(
            "E021",
            f"the layout is for {layout.format}, but '{unit.name}' is {wanted}",
            layout.at("format"),
            help=f"write 'format: {wanted}', or use another schema file",
            also=(used_here,),
        )
    elif wanted == "fixed_width" and layout.format is None:
        for each in layout.all_fields:
            for problem in positions(layout.resolved(each)):
                trail = (*problem.secondary, used_here, *unit.scope.trail)
                yield replace(problem, secondary=trail)
