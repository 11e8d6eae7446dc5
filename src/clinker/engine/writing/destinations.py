"""Where outputs go: the files that each of them writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath, PurePosixPath
from typing import assert_never

from clinker.config.nodes.output import OutputConfig
from clinker.cxl.failure import printable
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.report.facts import Exit, Identity, RunError
from clinker.engine.writing.collecting import ONE_FILE, FileKey
from clinker.file_names import compression_of
from clinker.formats.files.assembly import existing_file
from clinker.formats.files.publication import Target
from clinker.plan.compile import Plan
from clinker.plan.files.paths import (
    PathValues,
    forbidden,
    ignores_case,
    known_values,
    locate,
    pipeline_hash,
    render,
    timestamp,
)
from clinker.plan.nodes import PlannedOutput, Shape
from clinker.stores.urls import FilePath, canonical

_PER_FILE = ("source_file", "source_path")
_NO_FILE = "merged"
"""What names the file of records that come from no single file, such as groups."""


class Destinations:
    """The files of all outputs of a run."""

    def __init__(self, plan: Plan, identity: Identity, inputs: Sequence[SourceInput]) -> None:
        self._plan = plan
        self._identity = identity
        self._inputs = inputs

    def keys(self, output: PlannedOutput) -> list[FileKey]:
        """What an output writes files for: each of its input files, or all of them.

        Those for values are not known before the records are.
        """
        if output.node.config.path.fields:
            return []
        if not is_per_input(output.node.config):
            return [ONE_FILE]
        sources = _record_sources(self._plan, output.name)
        return [
            (source.number, file, ())
            for source in self._inputs
            if source.name in sources
            for file in range(len(source.files))
        ]

    def target(self, output: PlannedOutput, key: FileKey = ONE_FILE) -> Target:
        source, number, values = key
        file = None if source == ONE_FILE[0] else (self._inputs[source], number)
        return _target(self._plan, output, self._identity, file, values)

    def check(self, found: Mapping[str, Sequence[FileKey]] | None = None) -> None:
        """Whether none of the files for single input files, and for the values that were found in
        some outputs, is in the way, and none of all files would be written twice."""
        first: dict[str, tuple[PlannedOutput, FileKey]] = {}
        folds = cache(lambda directory: ignores_case(directory / "_"))
        for output in _outputs(self._plan):
            for key in [*self.keys(output), *(found or {}).get(output.name, ())]:
                target = self.target(output, key)
                if key != ONE_FILE:
                    _check_existing(self._plan, output, target)
                place = canonical(target.path)
                if isinstance(target.path, Path) and folds(Path(place).parent):
                    place = place.casefold()
                earlier = first.setdefault(place, (output, key))
                if earlier != (output, key) and target.if_exists != "unique_suffix":
                    raise self._written_twice(target.path, earlier, (output, key))

    def paths(self, found: Mapping[str, Sequence[FileKey]]) -> list[FilePath]:
        """The files for the values that were found in some outputs, as far as names are certain."""
        targets = (
            self.target(output, key)
            for output in _outputs(self._plan)
            for key in found.get(output.name, ())
        )
        return [target.path for target in targets if _is_certain(target)]

    def directories(self) -> Iterator[FilePath]:
        """Where the files for single input files go."""
        return (target.path.parent for target in self._per_file())

    def files(self) -> list[FilePath]:
        """The files for single input files, as far as their names are certain."""
        return [target.path for target in self._per_file() if _is_certain(target)]

    def _per_file(self) -> Iterator[Target]:
        for output in _outputs(self._plan):
            if is_per_input(output.node.config):
                yield from (self.target(output, key) for key in self.keys(output))

    def _written_twice(
        self,
        path: FilePath,
        earlier: tuple[PlannedOutput, FileKey],
        later: tuple[PlannedOutput, FileKey],
    ) -> RunError:
        (other, other_key), (output, key) = earlier, later
        message = f"outputs '{other.name}' and '{output.name}' would both write '{path}'"
        help = "give each of them a path of its own"
        if other is output and key[2]:
            shown = [" and ".join(f"'{value}'" for value in each[2]) for each in (other_key, key)]
            message = f"the records of {shown[0]} and of {shown[1]} would go to one file, '{path}'"
            help = "this disk takes upper and lower case for the same: let values differ in more"
        elif other is output:
            names = [self._inputs[source].files[file].name for source, file, _ in (other_key, key)]
            message = f"the records of '{names[0]}' and '{names[1]}' would go to one file, '{path}'"
            help = "give the input files different names, or write them with outputs of their own"
            if len({PurePosixPath(name).with_suffix("") for name in names}) > 1:
                help = "use {source_path} instead of {source_file}: it has the directories as well"
        place = output.node.config.at("path")
        problem = output.unit.problem("E322", message, place, help=help)
        return RunError(message, Exit.CONFIGURATION, [problem], help)


def check_existing(plan: Plan, identity: Identity) -> None:
    """Whether no file is in the way of outputs that are the same whatever there is to read."""
    for output in _outputs(plan):
        if _is_one_file(output.node.config):
            _check_existing(plan, output, _target(plan, output, identity, None))
    for path in plan.dead_letters.files:
        if _existing(dead_letter_target(plan, path), None) and not plan.options.preview:
            help = "use --force to overwrite it, or set 'if_exists' of the dead-letter queue"
            raise RunError(f"'{path}' exists already", Exit.IO, help=help)


def dead_letter_target(plan: Plan, path: FilePath) -> Target:
    """One of the files of dead letters."""
    if_exists = plan.dead_letters.if_exists[path]
    if if_exists == "error" and plan.options.force:
        if_exists = "overwrite"
    return Target(path=path, if_exists=if_exists, compression=compression_of(PurePath(path.name)))


def known_files(plan: Plan, identity: Identity) -> list[FilePath]:
    """What a run writes, whatever there is to read, as far as the names are certain."""
    targets = [
        *(
            _target(plan, output, identity, None)
            for output in _outputs(plan)
            if _is_one_file(output.node.config)
        ),
        *(dead_letter_target(plan, path) for path in plan.dead_letters.files),
    ]
    return [target.path for target in targets if _is_certain(target)]


def _is_certain(target: Target) -> bool:
    """Whether a file gets just this name; otherwise it gets one that nobody has."""
    return target.if_exists != "unique_suffix"


def known_directories(plan: Plan, identity: Identity) -> Iterator[FilePath]:
    """Where a run writes, whatever there is to read."""
    for output in _outputs(plan):
        if not is_per_input(output.node.config):
            yield _target(plan, output, identity, None).path.parent
    yield from (path.parent for path in plan.dead_letters.files)


def _outputs(plan: Plan) -> Iterator[PlannedOutput]:
    return (planned for planned in plan.nodes.values() if isinstance(planned, PlannedOutput))


def _check_existing(plan: Plan, output: PlannedOutput, target: Target) -> None:
    split = output.node.config.split
    existing = _existing(target, split.naming.text if split and split.has_limit else None)
    if existing and not plan.options.preview:
        help = "use --force to overwrite it, or set 'if_exists' of the output"
        raise RunError(f"'{existing}' exists already", Exit.IO, help=help)


def _existing(target: Target, naming: str | None) -> FilePath | None:
    try:
        return existing_file(target, naming)
    except OSError as problem:
        message = printable(f"cannot write {target.path}: {problem.strerror}")
        raise RunError(message, Exit.IO) from problem


def is_per_input(config: OutputConfig) -> bool:
    """Whether an output writes a file for each input file."""
    return any(token.name in _PER_FILE for token in config.path.tokens)


def _is_one_file(config: OutputConfig) -> bool:
    return not (is_per_input(config) or config.path.fields)


def _record_sources(plan: Plan, node: str) -> set[str]:
    """The sources whose records reach a node as records of their own files."""
    planned = plan.nodes[node]
    match planned.shape:
        case Shape.READS:
            return {node}
        case Shape.GROUPS:
            return set()
        case Shape.PASSES | Shape.MERGES | Shape.JOINS | Shape.WRITES:
            upstream = (_record_sources(plan, edge.upstream) for edge in planned.passed_on)
            return set().union(*upstream)
        case other:
            assert_never(other)


def _target(
    plan: Plan,
    output: PlannedOutput,
    identity: Identity,
    file: tuple[SourceInput, int] | None,
    fields: Sequence[str] = (),
) -> Target:
    """The file that an output writes; with `file`, that for the records of one input file, with
    `fields` for those with some values."""
    config = output.node.config
    values = _path_values(plan, output, identity, file)
    values = replace(values, fields=dict(zip(config.path.fields, fields, strict=False)))
    options = plan.options

    def at(number: str) -> FilePath:
        path = render(config.path, replace(values, n=number))
        if problem := forbidden(path, options):
            raise RunError(problem.message, Exit.CONFIGURATION, help=problem.help)
        return locate(path, options.base_dir)

    width = config.unique_suffix_width
    has_place = any(token.name == "n" for token in config.path.tokens)
    # Its directory is made before it is known which number is free.
    is_numbered = has_place and at("1").parent == at("").parent
    if_exists = config.if_exists
    if if_exists == "error" and options.force:
        if_exists = "overwrite"
    path = at("")
    compression = "none" if config.format.compresses_itself else config.compression
    return Target(
        path=path,
        if_exists=if_exists,
        unique_suffix_width=width,
        compression=compression_of(PurePath(path.name)) if compression == "auto" else compression,
        numbered=(lambda number: at(f"{number:0{width}}").name) if is_numbered else None,
        meta=_meta(plan, output, identity) if config.write_meta else None,
    )


def _path_values(
    plan: Plan, output: PlannedOutput, identity: Identity, file: tuple[SourceInput, int] | None
) -> PathValues:
    values = replace(
        known_values(plan.graph, output.unit, plan.options, plan.channel),
        pipeline_hash=pipeline_hash(plan.text),
        timestamp=timestamp(identity.started),
        execution_id=identity.execution_id,
        batch_id=identity.batch_id,
    )
    if file is None:
        return replace(values, source_file=_NO_FILE, source_path=_NO_FILE)
    source, number = file
    name = PurePosixPath(source.files[number].name)
    inside = PurePosixPath(*(part for part in name.parts if part != ".."))
    return replace(values, source_file=name.stem, source_path=str(inside.with_suffix("")))


def _meta(plan: Plan, output: PlannedOutput, identity: Identity) -> Mapping[str, object]:
    return {
        "pipeline": plan.pipeline.pipeline.name,
        "output": output.name,
        "execution_id": identity.execution_id,
        "batch_id": identity.batch_id,
        "started_at": identity.started.isoformat(),
        "pipeline_hash": pipeline_hash(plan.text),
    }
