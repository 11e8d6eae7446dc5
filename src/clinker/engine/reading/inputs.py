"""The inputs of a run: the files of every source, opened and measured before any is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from clinker.config.nodes import SourceNode
from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.cxl.types import SCHEMA_TYPES
from clinker.engine.expressions import representation
from clinker.engine.reading.meter import Meter
from clinker.engine.reading.pages import fetch_pages, name_service
from clinker.engine.reading.scan import scan
from clinker.engine.reading.tally import Tally
from clinker.engine.rejects.sites import Demand, Site, Sites
from clinker.engine.report.facts import Exit, Identity, RunError
from clinker.engine.run.observer import Observer
from clinker.formats.common.read_spec import POSITION, REJECT, WIDENED
from clinker.formats.files.objects.fetching import fetch_all
from clinker.formats.files.spool import Spool
from clinker.formats.files.unpacking import find_codec, unpack
from clinker.formats.reading import (
    ArrayPath,
    Column,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Section,
    check_unchanged,
    count_records,
    input_file,
    limit_records,
    read_split,
    take_inventory,
)
from clinker.formats.registry import FORMATS, load_format
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.files.discovery import SourceFile, discover, input_problems
from clinker.plan.graph.graph import Unit
from clinker.plan.options import GivenFile
from clinker.stores.urls import FilePath, ObjectUrl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from clinker.engine.reading.staging import StagedSources
    from clinker.engine.rejects.origins import Numbers
    from clinker.engine.session.session import Session

SMALL_INPUT = 32 * 2**20
"""What the driver reads by itself, in bytes; starting workers for less costs more than it gains."""
_MEMORY_PER_SMALL_INPUT = 128
"""How many times as large the memory of a run is, at least: what becomes of short records takes
many times the bytes that they have in a file."""
_MOST_PER_SPLIT = 8 * 2**20
"""What is read at once."""
_LEAST_PER_TASK, _MOST_PER_TASK = 8 * 2**20, 64 * 2**20
"""What a task reads: less would not be worth a task, more would not be worth the wait."""
_TASKS_PER_CORE = 2


@frozen(eq=False, kw_only=True)
class SourceInput:
    """A source with its files."""

    number: int
    """Its place among the sources."""
    site: int
    files: tuple[SourceFile, ...]
    surveyed: tuple[InputFile, ...]
    """The same files, as they were when their inventory was taken."""
    spec: ReadSpec
    inventory: Inventory
    sample: int | None
    """How many records to read at most; None for all."""
    memory: int
    """What the run may use, in bytes."""
    tally: Tally | None = None
    """Where workers note how large its correlation groups may be."""
    meter: Meter | None = None
    """Where workers note how much of it they have read."""

    @property
    def name(self) -> str:
        return self.spec.source_name

    @property
    def paths(self) -> tuple[FilePath, ...]:
        """Where its files are; pages of a service and frames are nowhere."""
        is_nowhere = any(file.page_of is not None or file.is_frame for file in self.surveyed)
        return () if is_nowhere else tuple(file.path for file in self.files)

    @property
    def size(self) -> int:
        """How many bytes there are to read, in files or decoded."""
        size = sum(file.size for file in self.surveyed)
        return max(size, self.inventory.decoded_bytes or 0)

    @property
    def is_small(self) -> bool:
        most = min(SMALL_INPUT, self.memory // _MEMORY_PER_SMALL_INPUT)
        return self.sample is not None or self.size <= most

    @cached_property
    def table(self) -> pa.Table:
        """The records, read here and now."""
        return pa.Table.from_batches(self._batches(), self.inventory.delivered)

    @cached_property
    def has_rejects(self) -> bool:
        """Whether it may reject records; of those that are read here that is known."""
        return not self.is_small or self.table.column(REJECT).null_count < len(self.table)

    @property
    def has_undeclared_map(self) -> bool:
        """Whether undeclared fields come as a map, not as a column each."""
        return WIDENED in self.inventory.schema.names

    def open(self, session: Session) -> DataFrame:
        """Its records: those read here if they are few, else read by the engine's workers."""
        if not self.is_small:
            return scan(session, self.spec, self.inventory, self.tally, self.meter)
        table = self.table if self.has_rejects else self.table.drop_columns([REJECT])
        return session.rows(table)

    @cached_property
    def records(self) -> int:
        """How many records it has, rejected ones included."""
        return len(self.table) if self.is_small else sum(self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        """How many records each split has."""
        inventory = self.inventory
        return [count_records(self.spec, inventory, split) for split in inventory.splits]

    def numbered(self, positions: Numbers) -> Numbers:
        """The numbers of the records at some positions, from 1 on and over all files."""
        if self.is_small:
            return np.searchsorted(np.asarray(self.table[POSITION]), positions) + 1
        splits = self.inventory.splits
        starts = np.array([split.file.position(split.first_row) for split in splits])
        before = np.cumsum([0, *self._counts[:-1]])
        at = np.searchsorted(starts, positions, side="right") - 1
        numbers: Numbers = before[at] + positions - starts[at] + 1
        return numbers

    def check_unchanged(self) -> None:
        """FormatError if one of the files is no longer what it was."""
        for file in self.surveyed:
            check_unchanged(file)

    def metered(self, spool: Spool) -> SourceInput:
        """The same; if workers read it, they note how much they have read."""
        return self if self.is_small else replace(self, meter=Meter(spool.folder() / "read"))

    def whole(self) -> SourceInput:
        """The same, but with all arrays whole."""
        spec = replace(self.spec, members={})
        return replace(self, spec=spec, inventory=self.inventory.with_whole_arrays(spec))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        left = self.sample
        for split in self.inventory.splits:
            for batch in read_split(self.spec, self.inventory, split):
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                yield batch
                if left == 0:
                    return


def open_inputs(
    plan: Plan,
    identity: Identity,
    sites: Sites,
    spool: Spool,
    observer: Observer,
    *,
    staged: StagedSources | None = None,
    whole: bool = False,
) -> tuple[SourceInput, ...]:
    """Find, fetch and open the files of all sources; `RunError` if one of them cannot be read.

    What is no plain file is copied to the spool first. Of records only what the outputs need is
    delivered, unless they are asked for as a `whole`.
    """
    sources = list(plan.graph.of(SourceNode))
    found = {unit.name: _discover(plan, identity, unit, node.config) for unit, node in sources}
    paths = (file.path for files in found.values() for file in files)
    copies = staged.copies(paths) if staged else {}
    opening = _Opening(plan, identity, sites, spool, observer, found, copies, whole)
    return tuple(
        opening.open(number, unit, source.config) for number, (unit, source) in enumerate(sources)
    )


def _discover(
    plan: Plan, identity: Identity, unit: Unit, config: SourceConfig
) -> tuple[SourceFile, ...]:
    """The files of a source; `RunError` if they are not what it asks for."""
    if isinstance(config.transport, RestTransport) and unit.name not in plan.options.given:
        return ()
    # Since it was checked, the run may have waited long for another that wrote them.
    discovery = discover(unit.name, config, plan.options, identity.started)
    problems = [p for p in input_problems(unit, config, discovery, plan.options) if p.is_error]
    if problems:
        raise RunError(problems[0].message, Exit.IO, problems)
    return discovery.files


@frozen(eq=False)
class _Opening:
    """Opens the sources of a run."""

    plan: Plan
    identity: Identity
    sites: Sites
    spool: Spool
    observer: Observer
    found: Mapping[str, tuple[SourceFile, ...]]
    """The files of each source."""
    copies: Mapping[FilePath, Path]
    """What is read instead of files that are staged."""
    whole: bool

    def open(self, number: int, unit: Unit, config: SourceConfig) -> SourceInput:
        preview = self.plan.options.preview
        sample = preview.records if preview else None
        site = self.sites.add(Site(unit.name, "", None))
        spec = read_spec(self.plan, unit, config, site, self.whole)
        try:
            files, surveyed = self._find(unit, config, spec, sample)
            task_bytes = self.plan.pipeline.pipeline.concurrency.chunk_size or _task_bytes(surveyed)
            inventory = take_inventory(spec, surveyed, _split_bytes(task_bytes))
            if isinstance(config.transport, RestTransport) and config.transport.max_records:
                inventory = limit_records(spec, inventory, config.transport.max_records)
        except FormatError as problem:
            raise RunError(str(problem), Exit.IO, help=problem.help) from problem
        opened = SourceInput(
            number=number,
            site=site,
            files=files,
            surveyed=surveyed,
            spec=spec,
            inventory=replace(inventory, task_bytes=task_bytes),
            sample=sample,
            memory=self.plan.memory_limit,
        )
        # To take arrays apart pays for those that have many records.
        return opened.whole() if opened.is_small else replace(opened, tally=self._tally(opened))

    def _tally(self, source: SourceInput) -> Tally | None:
        """None if no records fall together, or their key is not of one type."""
        key = self.plan.correlation.sources.get(source.name)
        if key is None:
            return None
        types = {column.name: column.type for column in source.spec.columns}
        if any(representation(types[name]).is_tagged for name in key.fields):
            return None
        return Tally(self.spool.folder(), source.number, key.fields)

    def _find(
        self, unit: Unit, config: SourceConfig, spec: ReadSpec, sample: int | None
    ) -> tuple[tuple[SourceFile, ...], tuple[InputFile, ...]]:
        """The files of a source, as people know them and as they are read."""
        given = self.plan.options.given.get(unit.name)
        if isinstance(config.transport, RestTransport) and given is None:
            pages = fetch_pages(unit, config.transport, spec, self.spool, self.observer, sample)
            return (self._stand_in(unit, pages),), tuple(pages)
        files = self.found[unit.name]
        if given:
            return files, tuple(self._survey_given(given, config) for _ in files)
        fetched = self._fetch(files)
        return files, tuple(
            self._unpacked(fetched.get(i) or self._survey(i, file), str(file.path), config)
            for i, file in enumerate(files)
        )

    def _fetch(self, files: Sequence[SourceFile]) -> Mapping[int, InputFile]:
        """Copies of those that are objects, by their places, unless they are staged."""
        objects = {
            i: file.path
            for i, file in enumerate(files)
            if isinstance(file.path, ObjectUrl) and file.path not in self.copies
        }
        if objects:
            size = sum(files[i].size for i in objects)
            self.observer.step_started("fetching objects", size, "bytes")
        return fetch_all(objects, self.spool, self.observer.advanced)

    def _survey_given(self, given: GivenFile, config: SourceConfig) -> InputFile:
        """The file that stands for all those of a source."""
        found = input_file(0, str(given.path), given.name)
        return self._unpacked(found, given.name, config) if given.is_packed else found

    def _survey(self, index: int, file: SourceFile) -> InputFile:
        """A file as it is read: from its copy if it is staged."""
        path = str(file.path)
        copy = self.copies.get(file.path)
        return input_file(index, str(copy), path) if copy else input_file(index, path)

    def _unpacked(self, found: InputFile, path: str, config: SourceConfig) -> InputFile:
        if config.format.compresses_itself:
            return found
        codec = find_codec(path, config.compression)
        return unpack(found, codec, self.spool) if codec else found

    def _stand_in(self, unit: Unit, pages: Sequence[InputFile]) -> SourceFile:
        """All pages of a service, as the one file that people see."""
        name = name_service(unit.name)
        size, now = sum(page.size for page in pages), self.identity.started
        return SourceFile(Path(name), name, size, now, now)


def _task_bytes(files: Sequence[InputFile]) -> int:
    """So much that all cores have something to read and end at about the same time."""
    tasks = _TASKS_PER_CORE * (os.cpu_count() or 1)
    even = -(-sum(file.size for file in files) // tasks)
    return max(_LEAST_PER_TASK, min(_MOST_PER_TASK, even))


def _split_bytes(task_bytes: int) -> int:
    """As many equal splits as make up a task."""
    splits = -(-task_bytes // _MOST_PER_SPLIT)
    return -(-task_bytes // splits)


def read_spec(plan: Plan, unit: Unit, config: SourceConfig, site: int, whole: bool) -> ReadSpec:
    """What is to be read of a source."""
    given = plan.options.given.get(unit.name)
    module = (given and given.format) or FORMATS[config.type]
    format = load_format(module)
    required = plan.required[unit.name]
    every = tuple(column.name for column in config.schema_columns)
    keeps_undeclared = config.on_unmapped.mode == "auto_widen" and (whole or required.undeclared)
    # To explain why a record was rejected takes all of it, so it would all be read again.
    stays_whole = whole or (required.all_for_dead_letters and _keeps_dead_letters(plan, unit.name))
    # An array in a record is one in the file as well.
    has_plain_records = format.has_arrays and not config.array_paths
    return ReadSpec(
        source=site,
        source_name=unit.name,
        format=module,
        dialect=format.read_dialect(config, plan.layouts.get(unit.name)),
        columns=tuple(Column(c.name, c.type, c.required) for c in config.schema_columns),
        needed=every if whole else required.for_results,
        checked=required.to_reject,
        undeclared=(
            "reject"
            if config.on_unmapped.mode == "reject"
            else "keep"
            if keeps_undeclared
            else "drop"
        ),
        date_formats=plan.pipeline.pipeline.date_patterns,
        array_paths=tuple(ArrayPath(p.path, p.mode, p.separator) for p in config.array_paths),
        sections=tuple(_sections(config)),
        document=plan.documents[unit.name],
        members={} if stays_whole or not has_plain_records else required.members,
        site_of_unlike=Demand.WHOLE_RECORDS,
    )


def _sections(config: SourceConfig) -> Iterator[Section]:
    """The declared parts of documents, if the format has such a thing."""
    rule = config.format.extract_rule
    if config.envelope is None or rule is None:
        return
    for name, section in config.envelope.sections.items():
        fields = (Column(key, SCHEMA_TYPES[type_]) for key, type_ in section.fields.items())
        yield Section(name, getattr(section.extract, rule), tuple(fields))


def _keeps_dead_letters(plan: Plan, source: str) -> bool:
    """Whether rejected records are written, instead of ending the run; late ones always are."""
    may_be_late = any(source in names for names in plan.event_times.time_windows.values())
    return may_be_late or plan.pipeline.error_handling.strategy != "fail_fast"
