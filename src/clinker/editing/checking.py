"""Everything there is to say about one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from clinker.config import load_channel, load_columns, load_schema_file, load_workspace
from clinker.config.layout import Layout
from clinker.config.tree import MappingNode
from clinker.cxl.check.lone import check_lone, lone_context
from clinker.cxl.check.modules import ModuleLibrary, read_source
from clinker.diagnostics import Diagnostic, Label, Source
from clinker.editing.kinds import FileKind
from clinker.plan.compile import DEFAULT_RULES_PATH, Compiled, compile_pipeline
from clinker.plan.files.workspace import workspace_root
from clinker.plan.graph.channels import choose_channel
from clinker.plan.lone_composition import compile_composition
from clinker.plan.options import Options


def check_content(path: Path, content: bytes, kind: FileKind, options: Options) -> list[Diagnostic]:
    """The findings about a file and what it refers to, under the names that a user has for them."""
    options = for_file(path, options)
    findings = look_at(path, content, kind, options).diagnostics
    return [*named_by_path(findings, path, options.base_dir)]


def for_file(path: Path, options: Options) -> Options:
    """The options with the directory that the relative paths of a file start at."""
    return options if options.base_dir != NO_DIRECTORY else replace(options, base_dir=path.parent)


NO_DIRECTORY = Path()
"""Stands for the directory of each file."""


def look_at(path: Path, content: bytes, kind: FileKind, options: Options) -> Compiled:
    """What compiling a file gives, or whatever comes nearest to that for its kind."""
    match kind:
        case FileKind.PIPELINE:
            return compile_pipeline(content, str(path), options)
        case FileKind.COMPOSITION:
            calling = replace(options, rules_path=rules_of(path, options))
            return compile_composition(content, path, calling)
        case FileKind.CHANNEL:
            findings = _check_channel(path, content, options)
        case FileKind.SCHEMA:
            findings = list(load_schema(content, str(path)))
        case FileKind.WORKSPACE:
            findings = list(load_workspace(content, str(path)).diagnostics)
        case FileKind.PROGRAM:
            context = lone_context(modules_of(path, options))
            findings = check_lone(read_source(str(path), content), context)
    return Compiled(None, findings)


def modules_of(path: Path, options: Options) -> ModuleLibrary:
    """Where the `use` of a program that stands alone finds modules."""
    return ModuleLibrary(rules_of(path, options), read=options.read)


def rules_of(path: Path, options: Options) -> Path:
    """The directory of modules for a file whose pipeline is unknown: the nearest one above it."""
    if options.rules_path:
        return options.rules_path
    start = path.absolute().parent
    root = workspace_root(start)
    above = (start, *start.parents)
    near = (d for d in above if d.is_relative_to(root) and (d / DEFAULT_RULES_PATH).is_dir())
    return next(near, start) / DEFAULT_RULES_PATH


def load_schema(content: bytes, name: str) -> tuple[Diagnostic, ...]:
    """The findings about a schema file: the layout of lines, or nothing but columns."""
    layout = load_schema_file(content, name)
    keys = set(layout.tree.entries) if isinstance(layout.tree, MappingNode) else set()
    if layout.value or layout.tree is None or keys & set(Layout.model_fields):
        return layout.diagnostics
    return load_columns(content, name).diagnostics


def _check_channel(path: Path, content: bytes, options: Options) -> list[Diagnostic]:
    """A channel, by itself and on the pipeline it is for, if that is found."""
    loaded = load_channel(content, str(path))
    findings = list(loaded.diagnostics)
    target = loaded.value and target_of(path, loaded.value.channel.target, options)
    if not target or target.name.lower().endswith((".comp.yaml", ".comp.yml")):
        return findings
    applied = replace(for_file(target, replace(options, base_dir=NO_DIRECTORY)), channel=path)
    _, known = choose_channel(applied)
    compiled = compile_pipeline(applied.read(target), str(target), applied)
    mine = [d for d in compiled.diagnostics if _is_about(d, path) and d not in known]
    return [*findings, *(d for d in mine if d not in findings)]


def target_of(path: Path, target: str, options: Options) -> Path | None:
    """The file that a channel is for, looked for from its directory up to the workspace's."""
    start = path.absolute().parent
    root = workspace_root(start)
    # Without a workspace, channels often have a directory of their own beside the pipelines.
    highest = root if root != start else start.parent
    for directory in (path.parent, *start.parents):
        if not directory.absolute().is_relative_to(highest):
            return None
        candidate = directory / target
        try:
            options.read(candidate)
        except (OSError, ValueError):
            continue
        return candidate
    return None


def _is_about(diagnostic: Diagnostic, path: Path) -> bool:
    primary = diagnostic.primary
    return primary is not None and Path(primary.location.source.name) == path


# The names of files


def named_by_path(
    findings: Iterable[Diagnostic], path: Path, base_dir: Path
) -> Iterator[Diagnostic]:
    """The findings with every file under a path that leads there from the working directory."""
    sources: dict[Source, Source] = {}

    def rename(label: Label) -> Label:
        source = label.location.source
        if source not in sources:
            name = str(path_of(source.name, path, base_dir))
            sources[source] = source if name == source.name else Source(name, source.text)
        return replace(label, location=replace(label.location, source=sources[source]))

    for finding in findings:
        yield replace(
            finding,
            primary=finding.primary and rename(finding.primary),
            secondary=tuple(map(rename, finding.secondary)),
        )


def whole(path: Path) -> Path:
    """A path from the root on, without `..`; links are left alone."""
    return Path(os.path.normpath(path.absolute()))


def path_of(name: str, path: Path, base_dir: Path) -> Path:
    """The file that a diagnostic calls `name`, when `path` is checked from `base_dir`."""
    if name == str(path):
        return path
    candidate = base_dir / name
    known = candidate if candidate.exists() else Path(name)
    here = Path.cwd()
    if known.is_absolute() and not path.is_absolute() and known.is_relative_to(here):
        return known.relative_to(here)
    return Path(os.path.normpath(known))
