"""Everything that `--explain` shows; `gathering` computes it, the forms only print it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clinker.config.names import FanoutPolicy
from clinker.cxl.types import Type
from clinker.plan.analyses.correlation import Retraction
from clinker.plan.analyses.ordering import AggregateStrategy, Ordering, Partitioning
from clinker.plan.analyses.required import RequiredColumns
from clinker.plan.explain.expressions import CxlFacts
from clinker.plan.explain.handoffs import Crossing, HandOff
from clinker.plan.explain.operators import Operator
from clinker.plan.explain.storage import StorageFacts
from clinker.plan.explain.volumes import Volume
from clinker.plan.nodes.window import Window


@dataclass(frozen=True)
class NodeFacts:
    """One node of the plan."""

    index: int
    name: str
    kind: str
    operator: Operator
    call: str | None
    """The composition call it belongs to."""
    can_back_pressure: bool
    """Whether it can wait with its records until there is room for them."""
    is_init: bool
    """Whether it runs before the main pass."""
    depends_on: tuple[str, ...]
    """The slugs of the nodes it reads from."""
    columns: Mapping[str, Type]
    has_more_columns: bool
    ordering: Ordering
    partitioning: Partitioning
    keys: tuple[str, ...]
    """The shadow columns of its correlation keys."""
    hand_offs: tuple[HandOff, ...]
    volume: Volume
    required: RequiredColumns | None
    """What is read of a source."""
    sections: Mapping[str, Type]
    """What is read of the documents around records, each as `section.field`."""
    service: ServiceFacts | None
    """The web service that a source reads from, if it is one."""
    cxl: CxlFacts | None
    interpreted: tuple[str, ...]
    """Expressions without a form in SQL; the interpreter computes them, record by record."""
    aggregate: AggregateStrategy | None

    @property
    def slug(self) -> str:
        return slug(self.kind, self.name)

    @property
    def title(self) -> str:
        return self.kind.capitalize()

    @property
    def label(self) -> str:
        """The name with the way the node is carried out."""
        return label(self.kind, self.name, self.operator)

    @property
    def buffer(self) -> str:
        crosses = any(out.crossing is not Crossing.PIPELINED for out in self.hand_offs)
        return "materialized" if crosses else "streaming"


@dataclass(frozen=True)
class ServiceFacts:
    """A web service; nothing that logs in to it."""

    url: str
    """As it may be shown."""
    pagination: str
    auth: str
    max_pages: int
    max_records: int | None


@dataclass(frozen=True)
class OutputFacts:
    """A file that is written."""

    node: str
    path: str
    if_exists: str
    write_meta: bool
    split: str | None
    """The name of the first of several files."""


@dataclass(frozen=True)
class BranchFacts:
    name: str
    condition: str | None
    """None for the default branch."""
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class RouteFacts:
    node: str
    mode: str
    branches: tuple[BranchFacts, ...]


@dataclass(frozen=True)
class ComparisonFacts:
    probe: str
    op: str
    build: str
    text: str


@dataclass(frozen=True)
class StepFacts:
    """One input joined to those before it."""

    build: str
    strategy: str
    on_spark: str
    equalities: tuple[ComparisonFacts, ...]
    ranges: tuple[ComparisonFacts, ...]
    residuals: tuple[str, ...]


@dataclass(frozen=True)
class CombineFacts:
    node: str
    driver: str
    inputs: Mapping[str, str]
    """The node behind each qualifier."""
    steps: tuple[StepFacts, ...]
    match: str
    on_miss: str
    propagate_ck: str | tuple[str, ...]
    """`driver`, `all`, or the named fields."""


@dataclass(frozen=True)
class WindowFacts:
    node: str
    window: Window
    root: str
    """The slug of the node whose records it covers."""
    frame: str


@dataclass(frozen=True)
class TimeWindowFacts:
    node: str
    shape: str
    allowed_lateness: str | None
    watermarks: Mapping[str, str]
    """The event-time column of each source that closes the windows."""


@dataclass(frozen=True)
class RelaxedAggregate:
    node: str
    retraction: Retraction
    omitted: tuple[str, ...]
    synthetic_key: str


@dataclass(frozen=True)
class BufferedWindow:
    node: str
    root: str
    partition_by: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class RetractionFacts:
    """How failing records are taken back out of results that already contain them."""

    fanout_policy: FanoutPolicy
    own_policies: Mapping[str, FanoutPolicy]
    """Those of nodes that have one of their own."""
    aggregates: tuple[RelaxedAggregate, ...]
    windows: tuple[BufferedWindow, ...]


@dataclass(frozen=True)
class MemoryFacts:
    limit: int
    limit_from: str
    threads: int | None
    threads_from: str
    batch_size: int
    chunk_size: int | None


@dataclass(frozen=True)
class Facts:
    """A plan as it is explained."""

    pipeline: str
    channel: str
    compositions: Mapping[str, str]
    """By call, the composition file it uses."""
    nodes: tuple[NodeFacts, ...]
    outputs: tuple[OutputFacts, ...]
    dead_letters: Mapping[str, str]
    """By source, the file of its rejected records."""
    arbitration: str
    routes: tuple[RouteFacts, ...]
    combines: tuple[CombineFacts, ...]
    windows: tuple[WindowFacts, ...]
    time_windows: tuple[TimeWindowFacts, ...]
    retraction: RetractionFacts | None
    memory: MemoryFacts
    storage: StorageFacts

    @property
    def mode(self) -> str:
        return "TwoPass" if self.windows else "Streaming"

    @property
    def buffer_edges(self) -> tuple[HandOff, ...]:
        return tuple(out for node in self.nodes for out in node.hand_offs if out.slot is not None)

    def node(self, name: str) -> NodeFacts:
        return next(node for node in self.nodes if node.name == name)

    def count(self, kind: str) -> int:
        return sum(node.kind == kind for node in self.nodes)


def slug(kind: str, name: str) -> str:
    """A node's name with its kind, as plans have always written it."""
    return f"{_slug_kind(kind)}.{name}"


def _slug_kind(kind: str) -> str:
    return "aggregation" if kind == "aggregate" else kind


def label(kind: str, name: str, operator: Operator) -> str:
    shown_kind = _slug_kind(kind)
    if operator.strategy == "sort":
        return f"[sort] {name}"
    return f"[{shown_kind}{':' * bool(operator.strategy)}{operator.strategy}] {name}"
