"""A run that computes anew: records may demand more care than it was begun with, or make others
fall, without which all is different."""

from __future__ import annotations

from contextlib import nullcontext

from clinker.cxl.run.patterns import timed
from clinker.engine.rejects.sites import Demand, RunAgain, Unsettled
from clinker.engine.run.compute import Computed, compute
from clinker.engine.run.keeping import Keeping
from clinker.engine.run.prepare import Prepared
from clinker.engine.session.session import Session
from clinker.engine.settling.rounds import Rounds


def compute_with_care(prepared: Prepared, session: Session) -> Computed:
    """All outputs written aside, and the rejected records, with as much care as they demand."""
    demands: frozenset[Demand] = frozenset()
    sources = [source.name for source in prepared.inputs]
    rounds = Rounds(prepared.plan, prepared.sites, sources)
    with Keeping(prepared.plan, sources) as keeping:
        while True:
            try:
                with timed() if Demand.LONG_TEXTS in demands else nullcontext():
                    return compute(prepared, session, demands, rounds, keeping)
            except RunAgain as again:
                demands |= {again.demand}
                keeping.forget_careless(again.demand)
            except Unsettled:
                keeping.forget_unlike(rounds.fallen)
