"""What was rejected, once all outputs are computed: settled, explained, told, held against limits.

Groups of records that fall together are settled here: only now all failures are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.building import Building
from clinker.engine.rejects.alike import rejected_alike
from clinker.engine.rejects.entries import Rejected, explained
from clinker.engine.rejects.limits import check_counts, check_limits
from clinker.engine.rejects.sites import Unsettled
from clinker.engine.run.logs import announce, tell_errors
from clinker.engine.run.prepare import Prepared
from clinker.engine.session.session import Session
from clinker.engine.settling.fallen import Key, Record
from clinker.engine.settling.rounds import Rounds
from clinker.engine.settling.sizes import Size, find_oversized
from clinker.engine.settling.sizes import measure as sizes


def check_sizes(prepared: Prepared, session: Session, building: Building, rounds: Rounds) -> None:
    """`Unsettled` if there are groups that are too large, without which all is different.

    Whoever read the sources has counted, which is why this comes behind all else.
    """
    if rounds.are_sizes_known:
        return
    most = prepared.plan.pipeline.error_handling.max_group_buffer
    keys = prepared.plan.correlation.sources
    oversized = [
        each
        for source in prepared.inputs
        if source.name in keys
        for each in find_oversized(building, session, source, most)
    ]
    rounds.expect(oversized)
    if oversized:
        raise Unsettled


def settle_rejects(
    prepared: Prepared,
    session: Session,
    building: Building,
    rounds: Rounds,
    rejects: Sequence[pa.Table],
) -> pa.Table:
    """All that fell, once nothing more does; `Unsettled` until then."""

    def measure(source: int, keys: Sequence[Key], without: Iterable[Record]) -> Mapping[Key, Size]:
        return sizes(building, session, prepared.inputs[source], keys, set(without))

    ends_run = prepared.plan.pipeline.error_handling.strategy == "fail_fast" or any(
        prepared.sites[number].is_fatal
        for table in rejects
        for number in pc.unique(table["site"]).to_pylist()
    )
    return rounds.settle(rejects, measure, is_final=ends_run)


def explain_rejects(
    prepared: Prepared, session: Session, building: Building, settled: pa.Table
) -> Rejected:
    """Why each record was rejected; what the pipeline has to say about records is said, too."""
    rejected = explained(settled, prepared.sites, prepared.inputs)
    for messages in building.messages:
        messages.tell(session, prepared.observer)
    tell_errors(building, rejected)
    announce(building, "after_transform")
    return rejected


def check_rejects(prepared: Prepared, rejected: Rejected, written: int) -> None:
    """`RunError` if too many records were rejected, or records are missing."""
    prepared.observer.rejected(rejected_alike(prepared.plan, rejected), rejected.by_source)
    check_limits(prepared.plan, rejected, {s.name: s.records for s in prepared.inputs})
    check_counts(prepared.plan, rejected.records, written, prepared.total)
