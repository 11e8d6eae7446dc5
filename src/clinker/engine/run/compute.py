"""Outputs computed, and their files put together aside; nobody sees them yet."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from functools import partial
from operator import itemgetter

import pyarrow as pa

from clinker.cxl.failure import printable
from clinker.cxl.sql.dialect import writing_in
from clinker.engine.flow.building import Building
from clinker.engine.flow.flows import Flows
from clinker.engine.nodes.output import Written
from clinker.engine.rejects.entries import Rejected
from clinker.engine.rejects.sites import Demand
from clinker.engine.report.facts import Exit, Retracted, RunError
from clinker.engine.run.counting import check_outputs, count_nodes
from clinker.engine.run.following import Following
from clinker.engine.run.keeping import CollectedOutput, Keeping
from clinker.engine.run.logs import announce
from clinker.engine.run.observer import Observer
from clinker.engine.run.prepare import Prepared, admit
from clinker.engine.run.settle import (
    check_rejects,
    check_sizes,
    explain_rejects,
    settle_rejects,
)
from clinker.engine.run.system import system_values
from clinker.engine.session.session import Session
from clinker.engine.settling.rounds import Rounds
from clinker.engine.writing.collecting import (
    Collected,
    FileKey,
    collect_here,
    collect_in_parts,
    collect_table,
)
from clinker.engine.writing.record_keys import with_record_keys
from clinker.formats.common.writing import Piece, WriteError
from clinker.formats.files.assembly import assemble, write_document
from clinker.formats.renderer import renderer
from clinker.frozen import frozen
from clinker.plan.analyses.growth import may_outgrow_sources, may_outnumber_sources
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.nodes import PlannedOutput

_TINY_INPUT = 256 * 2**10
"""As many bytes may become any number of records."""


@frozen(eq=False, kw_only=True)
class ComputedOutput:
    """What an output has come to."""

    name: str
    records: int
    files: slice
    """Its files among all that are published."""
    preview: bytes | None = None
    table: pa.Table | None = None


@frozen(eq=False, kw_only=True)
class Computed:
    """What a run has come to, to be published or not at all."""

    outputs: tuple[ComputedOutput, ...]
    rejected: Rejected
    retracted: Retracted | None = None
    nodes: tuple[NodePassing, ...] = ()

    @property
    def written(self) -> int:
        """How many records the outputs hold."""
        return sum(output.records for output in self.outputs)


def record_bytes(prepared: Prepared) -> int | None:
    """How large records are at most, if that is known; of many, the average counts."""
    if all(source.is_small for source in prepared.inputs):
        return None  # to find out what fits would take longer than it gains
    sizes = [source.inventory.record_bytes for source in prepared.inputs]
    if None in sizes or may_outgrow_sources(prepared.plan.nodes.values()):
        return None
    return sum(filter(None, sizes))


def compute(
    prepared: Prepared,
    session: Session,
    demands: Set[Demand],
    rounds: Rounds,
    keeping: Keeping,
) -> Computed:
    """All outputs written aside, and the rejected records.

    `RunAgain` if they demand more care, `Unsettled` if others fall with them.
    """
    with writing_in(session.engine.dialect):
        return _compute(prepared, session, demands, rounds, keeping)


def _compute(
    prepared: Prepared,
    session: Session,
    demands: Set[Demand],
    rounds: Rounds,
    keeping: Keeping,
) -> Computed:
    inputs = prepared.inputs
    system = system_values(prepared.plan, prepared.identity, inputs)
    building = Building(
        prepared.plan,
        system,
        prepared.sites,
        prepared.observer,
        demands,
        overrides=session.engine.overrides,
        keeps_order=session.engine.keeps_order,
        fallen=rounds.fallen,
    )
    if Demand.WHOLE_RECORDS in demands:
        inputs = tuple(source.whole() for source in inputs)
    if not demands and not rounds.are_sizes_known:
        announce(building, "before_transform")
    with ExitStack() as cleaning:
        cleaning.callback(session.forget_frames)
        flows = Flows(building, inputs)
        collected: list[CollectedOutput] = []
        if not all(source.is_small for source in inputs):
            session.label_frames(flows.nodes)
        rejects = system.finals.prepare(session, flows)
        with Following(prepared, session) as following:
            for output in flows.outputs():
                collect = partial(_collect, prepared, session, output, rounds, following)
                output, found = keeping.of(output.planned.name, rounds.fallen, collect)
                collected.append((output, found))
                rejects += found.rejects
        check_sizes(prepared, session, building, rounds)
        settled = settle_rejects(prepared, session, building, rounds, rejects)
        _check_written(collected)
        check_outputs(prepared, session, collected)
        rejected = explain_rejects(prepared, session, building, settled)
        _admit_files(prepared, collected)
        # Only what is settled is worth the copying.
        outputs = tuple(_put_together(prepared, *each) for each in collected)
        written = {output.name: output.records for output in outputs}
        check_rejects(prepared, rejected, sum(written.values()))
        nodes = count_nodes(prepared, session, flows, rejected, written)
    return Computed(outputs=outputs, rejected=rejected, retracted=rounds.retracted, nodes=nodes)


def _collect(
    prepared: Prepared,
    session: Session,
    output: Written,
    rounds: Rounds,
    following: Following,
    cleaning: ExitStack,
) -> CollectedOutput:
    """What an output comes to, computed while others watch."""
    following.step_started(output.planned.name)
    output, found = _pieces(prepared, session, output, rounds, cleaning)
    rounds.computed_again += found.records if rounds.rounds else 0
    return output, found


def _pieces(
    prepared: Prepared, session: Session, output: Written, rounds: Rounds, cleaning: ExitStack
) -> CollectedOutput:
    """The records of an output as pieces of its files, and the output that knows their columns."""
    preview = prepared.plan.options.preview
    if preview and preview.as_tables:
        return output, collect_table(session.table(output.frame), output.spec)
    table = session.table(output.frame) if _fits_here(prepared, output) else None
    output = with_record_keys(session, output, table)
    if table is not None:
        return output, collect_here(table, output.spec, output.filing)
    # The workers write beside the output, on the volume it goes to.
    target = prepared.destinations.target(output.planned)
    directory = prepared.publication.parts_directory(target)
    cleaning.callback(shutil.rmtree, directory, ignore_errors=True)
    return output, collect_in_parts(
        session,
        output.frame,
        output.spec,
        output.filing,
        directory,
        decisive=rounds.decisive,
    )


def _check_written(collected: Sequence[CollectedOutput]) -> None:
    """End the run if there are records that cannot be written, now that they are to stay."""
    for output, found in collected:
        if found.unwritable:
            with _unwritable(output.planned):
                # Raised itself, it would be part of a circle that holds on to the rejects' files.
                raise found.unwritable.after(0)


def _admit_files(prepared: Prepared, collected: Sequence[CollectedOutput]) -> None:
    """Make sure that files can be written that only the records tell of."""
    found = {
        output.planned.name: sorted(each.pieces) for output, each in collected if output.filing.by
    }
    if found and not prepared.plan.options.preview:
        admit(prepared, found)


def _fits_here(prepared: Prepared, output: Written) -> bool:
    """Whether the records of an output can be held by this process."""
    if not output.is_small:
        return False
    size = sum(source.size for source in prepared.inputs)
    return size <= _TINY_INPUT or not may_outnumber_sources(prepared.plan.nodes.values())


@contextmanager
def _unwritable(output: PlannedOutput) -> Iterator[None]:
    """What the format of an output has no place for is told with the output's own place."""
    try:
        yield
    except WriteError as problem:
        help = problem.help
        if problem.code is None and problem.record is None:
            raise
        if problem.code is None:
            message = f"output '{output.name}': {printable(str(problem))}"
            raise RunError(message, Exit.IO, help=help) from problem
        message = str(problem)
        place = output.node.config.at("type")
        diagnostic = output.unit.problem(problem.code, message, place, help=help)
        raise RunError(message, Exit.IO, [diagnostic], help) from problem


def _telling(observer: Observer, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces; an observer is told of each that has been written."""
    for piece in pieces:
        yield piece
        observer.advanced(piece.size)


def _put_together(prepared: Prepared, output: Written, collected: Collected) -> ComputedOutput:
    """The files of an output, aside; of a preview, what they would hold."""
    name, records = output.planned.name, collected.records
    for note, count in collected.notes.items():
        in_records = "1 record" if count == 1 else f"{count} records"
        prepared.observer.warned(f"output '{name}': {note} (in {in_records})")
    if collected.table is not None:
        return ComputedOutput(name=name, records=records, files=slice(0), table=collected.table)
    if prepared.plan.options.preview:
        every = [piece for pieces in collected.pieces.values() for piece in pieces]
        content = io.BytesIO()
        write_document(content, renderer(output.spec), every)
        return ComputedOutput(
            name=name, records=records, files=slice(0), preview=content.getvalue()
        )
    destinations, publication = prepared.destinations, prepared.publication
    pieces_of = dict[FileKey, Sequence[Piece]](collected.pieces)
    for key in destinations.keys(output.planned):
        pieces_of.setdefault(key, [])
    before = len(publication)
    size = sum(piece.size for pieces in pieces_of.values() for piece in pieces)
    prepared.observer.step_started(f"writing {name}", size or None, "bytes")
    for key, pieces in sorted(pieces_of.items(), key=itemgetter(0)):
        target = destinations.target(output.planned, key)
        told = _telling(prepared.observer, pieces)
        with _unwritable(output.planned):
            assemble(publication, target, output.spec, told, prepared.observer.warned)
    return ComputedOutput(name=name, records=records, files=slice(before, len(publication)))
