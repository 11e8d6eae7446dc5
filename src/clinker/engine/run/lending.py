"""Records of a single node, lent to a session of the caller's; nothing is written."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from contextlib import ExitStack

from pyspark.sql import DataFrame, SparkSession

from clinker.cxl.run.patterns import timed
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import IS_KEPT, REJECT
from clinker.engine.flow.flows import Flows
from clinker.engine.flow.frame import Frame
from clinker.engine.nodes.route import branch_flow
from clinker.engine.reading.frames import ArrowStream, with_frames
from clinker.engine.reading.inputs import open_inputs
from clinker.engine.reading.spooling import run_spool
from clinker.engine.rejects.sites import Demand, Sites
from clinker.engine.report.facts import identify
from clinker.engine.run.system import system_values
from clinker.engine.run.telling import Telling
from clinker.engine.session import adopt
from clinker.formats.files.spool import Spool
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedOutput


@timed()
def node_frame(
    plan: Plan,
    node: str,
    port: str | None,
    spark: SparkSession,
    frames: Mapping[str, ArrowStream],
) -> DataFrame:
    """The records that leave a node or one of its ports, in a session of the caller's.

    Some sources may read frames instead of their files.
    """
    sites = Sites()
    identity = identify(plan.options.batch_id)
    spool = _lasting_spool(plan)
    plan = with_frames(plan, frames, spool)
    telling = Telling()
    inputs = open_inputs(plan, identity, sites, spool, telling, whole=True)
    for warning in (w for source in inputs for w in source.inventory.warnings):
        telling.warned(warning)
    system = system_values(plan, identity, inputs)
    # Nobody will run it again.
    every = frozenset(Demand)
    with adopt(spark, lends_frames=True) as session:
        overrides = session.engine.overrides
        building = Building(plan, system, sites, telling, every, overrides=overrides)
        flows = Flows(building, inputs)
        system.finals.prepare(session, flows)
        return session.data_frame(_lent_frame(plan, node, port, flows))


def _lasting_spool(plan: Plan) -> Spool:
    """A spool for frames that may be read as long as the process lives."""
    entered = ExitStack()
    atexit.register(entered.close)
    return entered.enter_context(run_spool(plan))


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
