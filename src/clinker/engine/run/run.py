"""A run: everything between a compiled plan and its published files."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from clinker.config.nodes import OutputNode
from clinker.cxl.failure import printable
from clinker.cxl.run.patterns import timed
from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import IS_KEPT, REJECT
from clinker.engine.flow.flows import Flows
from clinker.engine.flow.frame import Frame
from clinker.engine.nodes.output import Written
from clinker.engine.nodes.route import branch_flow
from clinker.engine.reading.inputs import SourceInput, open_inputs
from clinker.engine.rejects.entries import Rejected, explained
from clinker.engine.rejects.file import log_unfiled, prepare_files
from clinker.engine.rejects.limits import check_counts, check_limits
from clinker.engine.rejects.sites import Demand, RunAgain, Sites
from clinker.engine.report.facts import (
    Counts,
    DeadLetterFile,
    Exit,
    Identity,
    OutputReport,
    RunError,
    RunReport,
    SourceReport,
    identify,
)
from clinker.engine.run.failures import engine_errors
from clinker.engine.run.logs import announce, tell_errors
from clinker.engine.run.observer import Observer, Quiet
from clinker.engine.run.supported import check_supported
from clinker.engine.run.system import SystemValues
from clinker.engine.session import (
    Jvm,
    MemorySampler,
    SessionSettings,
    adopt,
    open_session,
    start_jvm,
)
from clinker.engine.session.session import Session
from clinker.engine.writing.collecting import (
    Collected,
    FileKey,
    collect_here,
    collect_in_parts,
)
from clinker.engine.writing.destinations import Destinations, check_existing, known_directories
from clinker.engine.writing.record_keys import with_record_keys
from clinker.formats.common.writing import Piece, WriteError
from clinker.formats.files.assembly import assemble, write_document
from clinker.formats.files.marks import nearest_directory
from clinker.formats.files.publication import Publication, Published
from clinker.formats.files.recovery import recover
from clinker.formats.reading import FormatError
from clinker.formats.renderer import renderer
from clinker.frozen import frozen
from clinker.plan.analyses.growth import may_outgrow_sources, may_outnumber_sources
from clinker.plan.analyses.reach import reached
from clinker.plan.compile import Plan
from clinker.plan.files.paths import with_parents
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import PlannedOutput

_TINY_INPUT = 256 * 2**10
"""As many bytes may become any number of records."""


def run(
    plan: Plan, settings: SessionSettings, observer: Observer, jvm: Jvm | None = None
) -> RunReport:
    """Run a plan in a session of its own; `RunError` if it cannot be completed.

    The session uses `jvm` if it is given: it may have been started before this was imported.
    """
    with MemorySampler() as memory:
        jvm = jvm or start_jvm(settings)
        try:
            prepared = _Run(plan, observer)
        except BaseException:
            if jvm:
                jvm.kill()
            raise
        with (
            engine_errors(settings),
            open_session(settings, jvm) as session,
            # Those of Spark can be read only as long as it is there.
            engine_errors(settings, jvm),
        ):
            return prepared.run(session, memory)


def run_in(plan: Plan, session: Session, observer: Observer) -> RunReport:
    """Run a plan in a session that is there already."""
    with MemorySampler() as memory, engine_errors(SessionSettings()):
        return _Run(plan, observer).run(session, memory)


@frozen(eq=False)
class _Prepared:
    """What an output has come to."""

    output: Written
    records: int
    files: slice
    """Its files among all that are published."""
    preview: bytes | None = None


class _Run:
    """One run, up to its report."""

    def __init__(self, plan: Plan, observer: Observer) -> None:
        self.plan = plan
        self.observer = observer
        self.identity = identify(plan.options.batch_id)
        observer.began(self.identity)
        check_supported(plan)
        self._recover(known_directories(plan, self.identity))
        check_existing(plan, self.identity)
        self.sites = Sites()
        self.inputs = open_inputs(plan, self.identity, self.sites)
        for warning in (w for source in self.inputs for w in source.inventory.warnings):
            observer.warned(warning)
        self.destinations = Destinations(plan, self.identity, self.inputs)
        self._recover(self.destinations.directories())
        self.destinations.check()
        self.publication = Publication(self.identity.execution_id)

    def _recover(self, directories: Iterable[Path]) -> None:
        """Undo or remove what killed runs have left where this one is going to write.

        Before a directory is made, its files lie aside in one above it.
        """
        if self.plan.options.preview:
            return
        base_dir = self.plan.options.base_dir
        places = (place for found in directories for place in with_parents(found, base_dir))
        for recovered in recover(map(nearest_directory, places)):
            if recovered.undone or recovered.problem:
                self.observer.warned(str(recovered))
            else:
                self.observer.logged(TraceLevel.INFO, str(recovered))

    def run(self, session: Session, memory: MemorySampler) -> RunReport:
        try:
            session.batches.expect(self._record_bytes())
            with self.publication:
                prepared, rejected = self._computed_with_care(session)
                return self._published(session, memory, prepared, rejected)
        except FormatError as problem:
            raise RunError(str(problem), Exit.IO, help=problem.help) from problem
        except WriteError as problem:
            raise RunError(printable(str(problem)), Exit.IO) from problem

    # Computing

    def _record_bytes(self) -> int | None:
        """How large records are at most, if that is known; of many, the average counts."""
        if all(source.is_small for source in self.inputs):
            return None  # to find out what fits would take longer than it gains
        sizes = [source.inventory.record_bytes for source in self.inputs]
        if None in sizes or may_outgrow_sources(self.plan.nodes.values()):
            return None
        return sum(filter(None, sizes))

    def _computed_with_care(self, session: Session) -> tuple[list[_Prepared], Rejected]:
        """All outputs written aside, and the rejected records, with as much care as they demand."""
        demands: frozenset[Demand] = frozenset()
        while True:
            try:
                with timed() if Demand.LONG_TEXTS in demands else nullcontext():
                    return self._computed(session, demands)
            except RunAgain as again:
                self.publication.discard()
                demands |= {again.demand}

    def _computed(
        self, session: Session, demands: frozenset[Demand]
    ) -> tuple[list[_Prepared], Rejected]:
        system = _system_values(self.plan, self.identity, self.inputs)
        building = Building(
            self.plan,
            system,
            self.sites,
            self.observer,
            demands,
            overrides=session.engine.overrides,
        )
        inputs = self.inputs
        if Demand.WHOLE_RECORDS in demands:
            inputs = tuple(source.whole() for source in inputs)
        flows = Flows(building, inputs)
        if not demands:
            announce(building, "before_transform")
        with ExitStack() as cleaning:
            cleaning.callback(session.forget_frames)
            prepared: list[_Prepared] = []
            rejects: list[pa.Table] = []
            for output in flows.outputs():
                self.observer.step_started(output.unit.name, self._total)
                table = session.table(output.frame) if self._fits_here(output) else None
                output = with_record_keys(session, output, table)
                with _unwritable(output.unit):
                    collected = self._collected(session, output, table, cleaning)
                rejects += collected.rejects
                prepared.append(self._prepared(output, collected))
                self.observer.advanced(collected.records)
            rejected = explained(rejects, self.sites, self.inputs)
            for messages in building.messages:
                messages.tell(session, self.observer)
            tell_errors(building, rejected)
            announce(building, "after_transform")
        check_limits(self.plan, rejected, {s.name: s.records for s in self.inputs})
        written = sum(s.records for s in prepared)
        check_counts(self.plan, rejected.records, written, self._total)
        return prepared, rejected

    @property
    def _total(self) -> int:
        return sum(source.records for source in self.inputs)

    def _fits_here(self, output: Written) -> bool:
        """Whether the records of an output can be held by this process."""
        if not output.is_small:
            return False
        size = sum(source.size for source in self.inputs)
        return size <= _TINY_INPUT or not may_outnumber_sources(self.plan.nodes.values())

    def _collected(
        self, session: Session, output: Written, table: pa.Table | None, cleaning: ExitStack
    ) -> Collected:
        if table is not None:
            return collect_here(table, output.spec, per_file=output.per_file)
        # The workers write beside the output, on the volume it goes to.
        target = self.destinations.target(output.unit)
        directory = self.publication.parts_directory(target)
        cleaning.callback(shutil.rmtree, directory, ignore_errors=True)
        return collect_in_parts(
            session, output.frame, output.spec, directory, per_file=output.per_file
        )

    def _prepared(self, output: Written, collected: Collected) -> _Prepared:
        if self.plan.options.preview:
            every = [piece for pieces in collected.pieces.values() for piece in pieces]
            content = io.BytesIO()
            write_document(content, renderer(output.spec), every)
            return _Prepared(output, collected.records, slice(0), content.getvalue())
        pieces_of = dict[FileKey, Sequence[Piece]](collected.pieces)
        for key in self.destinations.keys(output.unit):
            pieces_of.setdefault(key, [])
        before = len(self.publication)
        for key, pieces in sorted(pieces_of.items(), key=itemgetter(0)):
            target = self.destinations.target(output.unit, key)
            assemble(self.publication, target, output.spec, pieces, self.observer.warned)
        return _Prepared(output, collected.records, slice(before, len(self.publication)))

    # Publishing

    def _published(
        self,
        session: Session,
        memory: MemorySampler,
        prepared: Sequence[_Prepared],
        rejected: Rejected,
    ) -> RunReport:
        log_unfiled(self.plan, rejected, self.observer)
        outputs_end = len(self.publication)
        if not self.plan.options.preview:
            prepare_files(self.plan, rejected, self.inputs, self.publication)
        for source in self.inputs:
            source.check_unchanged()
        session.check()
        self.observer.publishing()
        published = self.publication.commit()
        exit_code = Exit.DEAD_LETTERS if rejected.entries else Exit.OK
        if not self.plan.options.preview:
            self.observer.published(exit_code)
        total = self._total
        outputs = tuple(self._output_report(s, published) for s in prepared)
        return RunReport(
            execution_id=self.identity.execution_id,
            batch_id=self.identity.batch_id,
            started=self.identity.started,
            pipeline=self.plan.pipeline.pipeline.name,
            finished=datetime.now(UTC),
            exit_code=exit_code,
            counts=Counts(
                total=total,
                ok=self._reached(prepared, rejected),
                written=sum(s.records for s in prepared),
                dlq=len(rejected.entries),
            ),
            sources=tuple(self._source_report(source, rejected) for source in self.inputs),
            outputs=outputs,
            dead_letter_files=tuple(
                DeadLetterFile(path=file.path, entries=file.records)
                for file in published[outputs_end:]
            ),
            rejections=rejected.categories,
            peak_rss_bytes=memory.peak_bytes,
            engine=vars(session.facts),
        )

    def _reached(self, prepared: Sequence[_Prepared], rejected: Rejected) -> int:
        """How many source records reached an output, or were not rejected if nobody can tell."""
        found = reached(self.plan.nodes, {each.output.unit.name: each.records for each in prepared})
        return self._total - rejected.records if found is None else found

    def _source_report(self, source: SourceInput, rejected: Rejected) -> SourceReport:
        return SourceReport(
            name=source.name,
            files=tuple(file.path for file in source.files),
            records=source.records,
            rejected=rejected.by_source.get(source.name, 0),
        )

    def _output_report(self, prepared: _Prepared, published: Sequence[Published]) -> OutputReport:
        own = published[prepared.files]
        return OutputReport(
            name=prepared.output.unit.name,
            paths=tuple(file.path for file in own),
            records=prepared.records,
            bytes=sum(file.size for file in own),
            preview=prepared.preview,
        )


@contextmanager
def _unwritable(unit: Unit) -> Iterator[None]:
    """Values that the format of an output has no place for are told with the output's own place."""
    try:
        yield
    except WriteError as problem:
        if problem.code is None:
            raise
        assert isinstance(unit.node, OutputNode)
        message = str(problem)
        help = "exclude it, emit the parts of it that are needed, or write JSON"
        found = unit.problem(problem.code, message, unit.node.config.at("type"), help=help)
        raise RunError(message, Exit.IO, [found], help) from problem


def _system_values(plan: Plan, identity: Identity, inputs: Sequence[SourceInput]) -> SystemValues:
    sources = {source.name: source for source in inputs}
    files = {name: [file.name for file in source.files] for name, source in sources.items()}
    return SystemValues(plan, identity, files, lambda name: sources[name].records)


@timed()
def node_frame(plan: Plan, node: str, port: str | None, spark: SparkSession) -> DataFrame:
    """The records that leave a node or one of its ports, in a session of the caller's."""
    check_supported(plan)
    sites = Sites()
    identity = identify(plan.options.batch_id)
    inputs = open_inputs(plan, identity, sites, whole=True)
    system = _system_values(plan, identity, inputs)
    # Nobody will run it again.
    every = frozenset(Demand)
    with adopt(spark, lends_frames=True) as session:
        overrides = session.engine.overrides
        building = Building(plan, system, sites, Quiet(), every, overrides=overrides)
        return session.data_frame(_lent_frame(plan, node, port, Flows(building, inputs)))


def _lent_frame(plan: Plan, node: str, port: str | None, flows: Flows) -> Frame:
    planned = plan.nodes[node]
    if isinstance(planned, PlannedOutput):
        frame = flows.output(planned).frame
        kept = frame.where(IS_KEPT) if REJECT in frame.names else frame
        return kept.keep(column.name for column in plan.projections[node])
    flow = flows.of(node)
    if port is not None:
        flow = branch_flow(flow, port, carries_rejects=False)
    return flow.without_rejects().built().frame.keep(flow.columns)
