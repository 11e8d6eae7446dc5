"""What Spark wrote to disk for want of memory, and for which nodes: in a JVM of our own only.

Spark counts the bytes on disk by stage, and by operator those that left the memory for it.
Operators remember the part of the description that they carry out; there the names of nodes are
left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LABEL = "clinker.node"
_METRIC = "spillSize"
_HIDDEN_PLANS = {
    "AdaptiveSparkPlan": "executedPlan",
    "ShuffleQueryStage": "plan",
    "BroadcastQueryStage": "plan",
    "TableCacheQueryStage": "plan",
    "ResultQueryStage": "plan",
}
"""Operators that stand for others, and what these are called."""
_CACHED = "InMemoryTableScan"


def label(spark: SparkSession, frame: DataFrame, node: str) -> None:
    """Leave the name of a node where the last step of a frame is described."""
    frame._jdf.logicalPlan().setTagValue(_tag(spark), node)


def by_node(spark: SparkSession, computed: Sequence[DataFrame]) -> Mapping[str, int]:
    """Bytes on disk by node: all that there are, shared out by what operators had to give up."""
    total = _bytes_on_disk(spark)
    if not total:
        return {}
    given_up: Counter[str] = Counter()
    seen: set[int] = set()
    for frame in computed:
        plan = frame._jdf.queryExecution().executedPlan()
        for node, size in _given_up(plan, _tag(spark), "", seen):
            given_up[node] += size
    return share_out(total, given_up)


def share_out(total: int, weights: Mapping[str, int]) -> Mapping[str, int]:
    """A number in whole parts that are as the weights are to each other."""
    whole = sum(weights.values())
    if not whole:
        return {"": total}
    parts: dict[str, int] = {}
    before = 0
    for name, weight in weights.items():
        parts[name] = total * (before + weight) // whole - total * before // whole
        before += weight
    return {name: part for name, part in parts.items() if part}


def _tag(spark: SparkSession) -> Any:
    java: Any = spark._jvm
    return java.org.apache.spark.sql.catalyst.trees.TreeNodeTag(_LABEL)


def _bytes_on_disk(spark: SparkSession) -> int:
    context = spark._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    gateway: Any = spark.sparkContext._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    stages = context.statusStore().stageList(None, False, False, quantiles, None)
    return sum(stages.apply(at).diskBytesSpilled() for at in range(stages.size()))


def _given_up(plan: Any, tag: Any, node: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """The bytes that operators have written to disk; those without a label belong to the one that
    they work for."""
    link = plan.logicalLink()
    if link.isDefined():
        found = link.get().getTagValue(tag)
        node = found.get() if found.isDefined() else node
    metric = plan.metrics().get(_METRIC)
    if metric.isDefined():
        number = metric.get().id()
        if number not in seen:  # what is computed once has several readers
            seen.add(number)
            if size := metric.get().value():
                yield node, size
    name = plan.nodeName()
    if name in _HIDDEN_PLANS:
        below = [getattr(plan, _HIDDEN_PLANS[name])()]
    elif name.startswith(_CACHED):
        below = [plan.relation().cachedPlan()]
    else:
        children = plan.children()
        below = [children.apply(at) for at in range(children.size())]
    for child in below:
        yield from _given_up(child, tag, node, seen)
