"""What was rejected, once all outputs are computed: explained, told, held against the limits.

Groups of records that fail together are to be settled here: only now all failures are known.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clinker.engine.flow.building import Building
from clinker.engine.rejects.entries import Rejected, explained
from clinker.engine.rejects.limits import check_counts, check_limits
from clinker.engine.run.logs import announce, tell_errors
from clinker.engine.run.prepare import Prepared
from clinker.engine.session.session import Session


def explain_rejects(
    prepared: Prepared, session: Session, building: Building, rejects: Sequence[pa.Table]
) -> Rejected:
    """Why each record was rejected; what the pipeline has to say about records is said, too."""
    rejected = explained(rejects, prepared.sites, prepared.inputs)
    for messages in building.messages:
        messages.tell(session, prepared.observer)
    tell_errors(building, rejected)
    announce(building, "after_transform")
    return rejected


def check_rejects(prepared: Prepared, rejected: Rejected, written: int) -> None:
    """`RunError` if too many records were rejected, or records are missing."""
    check_limits(prepared.plan, rejected, {s.name: s.records for s in prepared.inputs})
    check_counts(prepared.plan, rejected.records, written, prepared.total)
