"""Running aggregates in tests: on Spark over groups of values, and by their definition."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from clinker.cxl.builtins.aggregates import AGGREGATES
from clinker.cxl.failure import Failure
from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import BOOL, INT, NULL, STRING, Type
from clinker.cxl.values import Value
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.expressions.scope import Scope
from clinker.engine.flow.layers import with_layers
from clinker.engine.nodes.partials import Partials
from tests.engine.expressions.running import FAILED, Outcome, fingerprint, spark_type
from tests.engine.frames import data_frame, frame_of

Groups = Mapping[str, Sequence[tuple[Value, ...]]]
"""The arguments on each record, in order, by the name of their group."""


def by_definition(name: str, rows: Sequence[tuple[Value, ...]]) -> Outcome:
    try:
        value: Value = AGGREGATES[name].call(*zip(*rows, strict=True))
    except Failure:
        return FAILED
    return value


NEEDS_WIDE = "needs wide"


def on_spark(
    spark: SparkSession,
    names: Sequence[str],
    groups: Groups,
    types: Sequence[Type],
    *,
    is_wide: bool = False,
    takes_apart: bool = False,
) -> dict[str, dict[str, Outcome]]:
    """What the aggregates give for each group of shuffled records."""
    rows: list[tuple[Value, ...]] = [
        (group, position, *args)
        for group, records in groups.items()
        for position, args in enumerate(records)
    ]
    random.Random(len(rows)).shuffle(rows)
    arguments = [f"x{at}" for at in range(len(types))]
    schema = {"key": STRING, "$pos": INT, **dict(zip(arguments, types, strict=True))}
    columns = [
        from_values([row[at] for row in rows], type_) for at, type_ in enumerate(schema.values())
    ]
    declared = [StructField(name, spark_type(type_)) for name, type_ in schema.items()]
    table = pa.table(columns, list(schema))
    frame = spark.createDataFrame(table, schema=StructType(declared)).repartition(5)

    partials = Partials(Scope(), Scope(), ["`$pos`"], is_wide=is_wide, takes_apart=takes_apart)
    operands = [Operand(f"`{a}`", type_) for a, type_ in zip(arguments, types, strict=True)]
    results = {name: AGGREGATES[name].result_type(NULL, tuple(types)) for name in names}
    outputs = []
    for name, result in results.items():
        sql = partials.add(AGGREGATES[name], operands, result)
        outputs.append(f"{sql.text} as `{name}`")
        outputs.append(f"{sql.fails or 'false'} as `{name} fails`")
        outputs.append(f"{sql.needs_wide or 'false'} as `{name} needs wide`")
    described = partials.grouped(partials.prepared(frame_of(frame)), ["key"])
    described = with_layers(described, partials.groups.layers(*outputs))
    grouped = data_frame(spark, described).selectExpr("key", *outputs).toArrow()
    found: dict[str, dict[str, Outcome]] = {key: {} for key in grouped.column("key").to_pylist()}
    for name, result in results.items():
        values = to_values(grouped.column(name), result)
        fails = to_values(grouped.column(f"{name} fails"), BOOL)
        needs_wide = to_values(grouped.column(f"{name} needs wide"), BOOL)
        outcomes = [
            NEEDS_WIDE if wide else FAILED if failed else value
            for value, failed, wide in zip(values, fails, needs_wide, strict=True)
        ]
        for group, outcome in zip(found.values(), outcomes, strict=True):
            group[name] = outcome
    return found


def agree(
    spark: SparkSession,
    names: Sequence[str],
    groups: Groups,
    types: Sequence[Type],
    *,
    is_wide: bool = False,
    takes_apart: bool = False,
) -> int:
    """Check the aggregates over all groups; gives how many of their values need wide sums."""
    found = on_spark(spark, names, groups, types, is_wide=is_wide, takes_apart=takes_apart)
    assert found.keys() == groups.keys()
    unsettled = 0
    for key, rows in groups.items():
        for name in names:
            if found[key][name] == NEEDS_WIDE:
                unsettled += 1
                continue
            got, want = found[key][name], by_definition(name, rows)
            assert fingerprint(got) == fingerprint(want), f"{name} of {rows}"
    return unsettled


def needs_wide(values: Sequence[Value]) -> bool:
    """Whether some number is not ordinary, and none is beyond all numbers: that one decides."""
    numbers = [float(v) for v in values if isinstance(v, int | float)]
    return all(map(math.isfinite, numbers)) and any(
        abs(v) >= 2.0**61 or not (v * 2.0**96).is_integer() for v in numbers
    )
