"""What Spark wrote to disk for want of memory, and for which nodes: in a JVM of our own only.

Spark counts the bytes on disk by stage, and by operator those that left the memory for it.
Operators remember the part of the description that they carry out; there the names of nodes are
left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
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
_AGGREGATE = "Aggregate"
_OWN_WORK = ("SortMergeJoin", "ShuffledHashJoin", "Window")
"""How operators begin that a node asks for, and that may themselves ask for others to sort."""
_CACHED = "InMemoryTableScan"


def label(spark: SparkSession, frame: DataFrame, node: str) -> None:
    """Leave the name of a node where the last step of a frame is described."""
    frame._jdf.logicalPlan().setTagValue(_tag(spark), node)


def newest_stage(spark: SparkSession) -> int:
    """The number of the last stage so far; -1 before the first."""
    return next((stage.stageId() for stage in _stages(spark)), -1)


def by_node(
    spark: SparkSession, computed: Sequence[DataFrame], after_stage: int
) -> Mapping[str, int]:
    """Bytes on disk by node: all those of later stages, shared out by what operators gave up."""
    later = takewhile(lambda stage: stage.stageId() > after_stage, _stages(spark))
    total = sum(stage.diskBytesSpilled() for stage in later)
    if not total:
        return {}
    given_up: Counter[str] = Counter()
    seen: set[int] = set()
    for frame in computed:
        execution: Any = frame._jdf.queryExecution()
        plan = _Plan(_definers(execution.analyzed(), _tag(spark)), _tag(spark), seen)
        for node, size in plan.given_up(execution.executedPlan()):
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


def _stages(spark: SparkSession) -> Iterator[Any]:
    """All stages that Spark remembers, the newest first."""
    context = spark._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    gateway: Any = spark.sparkContext._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    stages = context.statusStore().stageList(None, False, False, quantiles, None).iterator()
    while stages.hasNext():
        yield stages.next()


def _definers(plan: Any, tag: Any, node: str = "") -> dict[int, str]:
    """The nodes that columns of a description came into being in, by the numbers of columns.

    The optimizer loses most labels, and keeps the columns.
    """
    found = plan.getTagValue(tag)
    node = found.get() if found.isDefined() else node
    definers: dict[int, str] = {}
    for child in _items(plan.children()):
        definers |= _definers(child, tag, node)
    for number in _columns(plan):
        definers.setdefault(number, node)
    return definers


def _columns(plan: Any) -> list[int]:
    return [column.exprId().id() for column in _items(plan.output())]


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(at) for at in range(sequence.size())]


class _Plan:
    """What was carried out of a description."""

    def __init__(self, definers: Mapping[int, str], tag: Any, seen: set[int]) -> None:
        self._definers = definers
        self._numbers = sorted(definers)
        self._tag = tag
        self._seen = seen
        """The metrics that have been counted: what is computed once has several readers."""

    def given_up(self, plan: Any, node: str = "") -> Iterator[tuple[str, int]]:
        """The bytes that operators have written to disk.

        Those of which it is not known whose work they are belong to the one that they work for.
        """
        node = self._node(plan) or node
        metric = plan.metrics().get(_METRIC)
        if metric.isDefined() and metric.get().id() not in self._seen:
            self._seen.add(metric.get().id())
            if size := metric.get().value():
                yield node, size
        for child in _below(plan):
            yield from self.given_up(child, node)

    def _node(self, plan: Any) -> str | None:
        link = plan.logicalLink()
        if not link.isDefined():
            return None
        label = link.get().getTagValue(self._tag)
        if label.isDefined():
            return str(label.get())
        name = plan.nodeName()
        if name.endswith(_AGGREGATE):
            functions = [each.resultId().id() for each in _items(plan.aggregateExpressions())]
            return self._definer(functions or _columns(link.get()))
        return self._definer(_columns(link.get())) if name.startswith(_OWN_WORK) else None

    def _definer(self, numbers: Sequence[int]) -> str | None:
        """The node in which the last of these came into being: numbers grow from node to node."""
        before = bisect_right(self._numbers, max(numbers, default=-1))
        return (self._definers[self._numbers[before - 1]] or None) if before else None


def _below(plan: Any) -> list[Any]:
    """What an operator is fed by, or stands for."""
    name = plan.nodeName()
    if name in _HIDDEN_PLANS:
        return [getattr(plan, _HIDDEN_PLANS[name])()]
    if name.startswith(_CACHED):
        return [plan.relation().cachedPlan()]
    return _items(plan.children())
