"""Flows for tests of single nodes: given records in, records and rejects out."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from clinker.cxl.run.evaluate import Record
from clinker.cxl.types import INT
from clinker.cxl.values import Value
from clinker.diagnostics.render import render_text
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import POSITION, REJECT, SOURCE, Flow
from clinker.engine.flow.frame import quoted
from clinker.engine.flow.hidden import Hidden
from clinker.engine.rejects.sites import Demand, Reason, Sites
from clinker.engine.report.facts import identify
from clinker.engine.run.observer import Quiet
from clinker.engine.run.system import SystemValues
from clinker.engine.session.recognizing import engine_of
from clinker.engine.session.session import Session
from clinker.frozen import frozen
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from tests.engine.expressions.running import spark_type
from tests.engine.frames import frame_of, session_of


def planned(text: str) -> Plan:
    """The plan of a pipeline that has no errors."""
    with tempfile.TemporaryDirectory() as folder:
        found = compile_pipeline(dedent(text).encode(), "pipeline.yaml", Options(Path(folder)))
    assert found.plan, render_text(found.diagnostics)
    return found.plan


@frozen(eq=False)
class SparkBuilding(Building):
    """One that knows where its flows are computed."""

    spark: SparkSession | None = None

    @property
    def session(self) -> Session:
        assert self.spark
        return session_of(self.spark)


def building(spark: SparkSession, plan: Plan, demands: Set[Demand] = frozenset()) -> SparkBuilding:
    sources = [unit.name for unit in plan.graph if unit.kind == "source"]
    files = {name: [f"{name}.csv"] for name in sources}
    system = SystemValues(plan, identify(None), files, lambda _: 0)
    engine = engine_of(spark)
    return SparkBuilding(
        plan,
        system,
        Sites(),
        Quiet(),
        demands,
        overrides=engine.overrides,
        keeps_order=engine.keeps_order,
        spark=spark,
    )


def source_flow(
    building: SparkBuilding, name: str, records: Sequence[Record], parts: int | None = None
) -> Flow:
    """The records as a source reads them, scattered over parts if these are given."""
    columns = building.plan.nodes[name].row.columns
    number = list(building.system.files).index(name)
    arrays = [from_values([r.get(c) for r in records], t) for c, t in columns.items()]
    fields = [StructField(c, spark_type(t)) for c, t in columns.items()]
    arrays.append(pa.array([number] * len(records), pa.int32()))
    fields.append(StructField(SOURCE, IntegerType()))
    arrays.append(pa.array(range(1, len(records) + 1), pa.int64()))
    fields.append(StructField(POSITION, LongType()))
    table = pa.table(arrays, names=[field.name for field in fields])
    data = building.session.spark.createDataFrame(table, schema=StructType(fields))
    flow = Flow(
        frame=frame_of(data.repartition(parts) if parts else data),
        columns=columns,
        hidden={},
        order=(POSITION,),
        is_ordered=parts is None and building.keeps_order,
        sources=(name,),
        is_small=True,
    )
    place = [(Hidden(kind, "", INT), quoted(kind.name)) for kind in (kinds.SOURCE, kinds.POSITION)]
    origin = [(Hidden(kinds.ORIGIN, n, type_), quoted(n)) for n, type_ in columns.items()]
    return flow.with_hidden([*place, *origin])


@dataclass(frozen=True)
class Rejection:
    """A rejected record: where it came from, the node that rejected it, and why."""

    row: int | None
    stage: str
    reason: Reason


@dataclass(frozen=True)
class Collected:
    records: list[dict[str, Value]]
    rejected: list[Rejection]
    demands: Set[Demand]


def collected(building: SparkBuilding, flow: Flow) -> Collected:
    """All that a flow brings: its records in their order, and its rejects in theirs."""
    table = building.session.table(flow.built().frame)
    if not len(table):
        return Collected([], [], set())
    table = table.sort_by([(name, "ascending") for name in flow.order])
    columns = {name: to_values(table.column(name), t) for name, t in flow.columns.items()}
    rejects: list[Mapping[str, str | int] | None] = [None] * len(table)
    if flow.has_rejects:
        rejects = table.column(REJECT).to_pylist()
    positions = to_values(table.column(POSITION), INT)
    records, rejected = [], []
    demands: set[Demand] = set()
    for at, reject in enumerate(rejects):
        if reject is None:
            records.append({name: values[at] for name, values in columns.items()})
        elif reject["site"] in set(Demand):
            demands.add(Demand(int(reject["site"])))
        else:
            number, row = int(reject["site"]), positions[at]
            assert row is None or isinstance(row, int)
            reason = building.sites.reason(number, str(reject["inputs"]))
            stage = building.sites[number].stage
            rejected.append(Rejection(row, stage, reason))
    return Collected(records, rejected, demands)
