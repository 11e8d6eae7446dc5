"""How many records came into each node and left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clinker.engine.flow.flows import Flows
from clinker.engine.flow.frame import Frame, quoted
from clinker.engine.nodes.route import branch_flow
from clinker.engine.rejects.entries import Rejected
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.keeping import CollectedOutput
from clinker.engine.run.prepare import Prepared
from clinker.engine.session.session import Session
from clinker.plan.analyses.passing import Contradiction, Known, NodePassing, Passing, Way
from clinker.plan.analyses.reach import keeps_every_record

_WAY, _COUNT = "$way", "$count"


def count_nodes(
    prepared: Prepared,
    session: Session,
    flows: Flows,
    rejected: Rejected,
    written: Mapping[str, int],
) -> tuple[NodePassing, ...]:
    """What came into each node and left it, as far as it is known, or is worth a count.

    `RunError` if the numbers do not add up.
    """
    plan = prepared.plan
    nodes = [plan.nodes[unit.name] for unit in plan.graph if unit.name in plan.live]
    known = Known(
        read={source.name: source.records for source in prepared.inputs},
        written=written,
        rejected=rejected.by_node,
    )
    # Records that fell with others had passed some nodes before they were taken back.
    adds_up = not (plan.correlation.sources and len(rejected.entries))
    try:
        passing = Passing(nodes, known, adds_up=adds_up)
        if adds_up and plan.options.count_nodes and (unknown := passing.unknown()):
            prepared.observer.step_started("counting")
            counted = _counted(session, flows, unknown)
            passing = Passing(nodes, replace(known, counted=counted))
        return passing.every()
    except Contradiction as problem:
        raise _does_not_add_up(str(problem)) from problem


def check_outputs(
    prepared: Prepared, session: Session, collected: Sequence[CollectedOutput]
) -> None:
    """Count once more what has left an engine that may lose rows without a word.

    `RunError` if it was not as much. Where every record that is read is written or rejected, that
    alone tells.
    """
    plan = prepared.plan
    if not session.engine.may_lose_rows or plan.options.preview:
        return
    if keeps_every_record(plan.graph, plan.nodes):
        return
    for output, found in collected:
        if found.is_whole and not found.unwritable:
            rejected = sum(map(len, found.rejects))
            if session.count(output.frame) != found.records + rejected:
                raise _does_not_add_up(output.planned.name)


def _counted(session: Session, flows: Flows, ways: Sequence[Way]) -> dict[Way, int]:
    """The records of some ways, which the engine has to compute once more."""
    first, *more = _counts(flows, ways)
    rows = session.table(first.union(more)).to_pylist()
    return {ways[row[_WAY]]: row[_COUNT] for row in rows}


def _counts(flows: Flows, ways: Sequence[Way]) -> Iterator[Frame]:
    """A row for each way: its number, and how many records leave by it."""
    for number, (name, port) in enumerate(ways):
        flow = flows.of(name)
        if port is not None:
            flow = branch_flow(flow, port, carries_rejects=False)
        records = flow.without_rejects().selected({_WAY: f"{number:d}"})
        counted = records.group([], [(_COUNT, "count(1)")])
        yield counted.select([(_WAY, f"{number:d}"), (_COUNT, quoted(_COUNT))])


def _does_not_add_up(node: str) -> RunError:
    return RunError(
        f"the numbers do not add up: more or fewer records have passed '{node}' than there can be",
        Exit.INTERNAL,
        help="nothing was published; if no input changed while it was read, this is a defect of "
        "clinker: please report it",
    )
