"""Required columns: what of each source anything downstream needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from clinker.config.error_handling import ErrorHandling
from clinker.config.nodes import AggregateNode, OutputNode, SourceNode, TransformNode
from clinker.config.nodes.source import SourceConfig
from clinker.cxl.check import typed
from clinker.cxl.check.members import is_read_by_member, members_read
from clinker.cxl.types import Kind
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Correlation
from clinker.plan.analyses.windows import Window, window_calls
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes.planned import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)


@frozen
class RequiredColumns:
    """What must be read of a source; columns are in the order of its schema."""

    for_results: tuple[str, ...]
    """Columns whose values reach an output or decide about one."""
    members: Mapping[str, tuple[str, ...]]
    """Those of them that are arrays of which only these members of elements are read."""
    to_reject: tuple[str, ...]
    """Other columns that must be looked at, since a bad value in them rejects the record."""
    undeclared: bool
    """Whether an output shows columns that the schema does not name, or records differ by them."""
    all_for_dead_letters: bool
    """Whether rejected records show every column."""


def plan_required(
    graph: Graph,
    nodes: Mapping[str, Planned],
    windows: Mapping[str, Window],
    correlation: Correlation,
    handling: ErrorHandling,
) -> dict[str, RequiredColumns]:
    """The required columns of every source of a pipeline without errors."""
    wanted = {name: _Wanted() for name in graph.units}
    for unit in reversed(list(graph)):
        planned = nodes[unit.name]
        inputs = [wanted[edge.upstream] for edge in unit.inputs]
        window = windows.get(unit.name)
        if window and window.lookup is not None:
            wanted[window.root].add(_Wanted(set(window.reads)))
        for asked, source in zip(
            _asked_of_inputs(planned, wanted[unit.name], nodes, window), inputs, strict=True
        ):
            source.add(asked)
    return {
        unit.name: _required(unit.name, unit.node.config, wanted[unit.name], correlation, handling)
        for unit in graph
        if isinstance(unit.node, SourceNode)
    }


@dataclass
class _Wanted:
    """What the consumers of a node need of its records."""

    columns: set[str] = field(default_factory=set)
    undeclared: bool = False
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of columns that are needed, those of whose elements only these members are."""

    def add(self, other: _Wanted) -> None:
        self.members = {
            name: tuple(dict.fromkeys((*self.members.get(name, ()), *other.members.get(name, ()))))
            for name in (*self.members, *other.members)
            if self._takes_apart(name) and other._takes_apart(name)
        }
        self.columns |= other.columns
        self.undeclared |= other.undeclared

    def _takes_apart(self, name: str) -> bool:
        return name in self.members or name not in self.columns


def _required(
    name: str,
    config: SourceConfig,
    wanted: _Wanted,
    correlation: Correlation,
    handling: ErrorHandling,
) -> RequiredColumns:
    whole = wanted.columns - wanted.members.keys()
    if name in correlation.sources:
        whole |= set(correlation.sources[name].fields)
    if config.watermark:
        whole.add(config.watermark.column)
    needed = wanted.columns | whole
    columns = config.schema_columns
    return RequiredColumns(
        for_results=tuple(c.name for c in columns if c.name in needed),
        members={
            c.name: wanted.members[c.name]
            for c in columns
            if c.name in wanted.members and c.name not in whole
        },
        to_reject=tuple(
            c.name
            for c in columns
            if c.name not in needed and (c.required or not _takes_any_text(c.type.kinds))
        ),
        undeclared=wanted.undeclared and config.on_unmapped.mode == "auto_widen",
        all_for_dead_letters=_shows_source_rows(name, handling),
    )


def _takes_any_text(kinds: Kind) -> bool:
    return bool(kinds & Kind.STRING)


def _shows_source_rows(source: str, handling: ErrorHandling) -> bool:
    own = handling.dlq.per_source.get(source)
    path = (own.path if own else None) or handling.dlq.path
    return handling.dlq.include_source_row and path is not None


def _asked_of_inputs(
    planned: Planned, wanted: _Wanted, nodes: Mapping[str, Planned], window: Window | None
) -> Iterator[_Wanted]:
    """What a node needs of each of its inputs, in their order."""
    match planned:
        case PlannedTransform():
            upstream = nodes[planned.unit.inputs[0].upstream]
            yield _by_transform(planned, wanted, upstream, window)
        case PlannedAggregate():
            yield _Wanted(_by_aggregate(planned))
        case PlannedRoute():
            yield _passed_on(wanted, planned.conditions.values())
        case PlannedState():
            yield _passed_on(wanted, planned.assignments.values())
        case PlannedCombine():
            yield from _by_combine(planned, wanted)
        case PlannedOutput():
            yield _by_output(planned)
        case _:
            for _ in planned.unit.inputs:
                yield wanted


def _passed_on(wanted: _Wanted, expressions: Iterable[typed.Expr]) -> _Wanted:
    read = {name for e in expressions for _, name in e.fields_read}
    return _Wanted(wanted.columns | read, wanted.undeclared)


# Transforms


def _by_transform(
    planned: PlannedTransform, wanted: _Wanted, upstream: Planned, window: Window | None
) -> _Wanted:
    outgoing = wanted.columns | _looked_at_after(planned)
    needed = outgoing - _always_written(planned.program)
    if window and window.lookup is not None:
        needed |= _read_outside_windows(planned.program) | set(window.lookup)
    else:
        needed |= {name for _, name in planned.program.fields_read}
        needed |= set(window.reads) if window else set()
    compares_all = _compares_whole_records(planned.program)
    if compares_all:
        needed |= set(upstream.row.columns)
        outgoing |= set(upstream.row.columns)
    members: dict[str, tuple[str, ...]] = {}
    if window is None and isinstance(upstream, PlannedSource):
        read = _read_by_member(planned.program)
        members = {name: keys for name, keys in read.items() if name not in outgoing}
    undeclared = wanted.undeclared or compares_all
    return _Wanted(needed & set(upstream.row.columns), undeclared, members)


def _read_by_member(program: typed.Program) -> dict[str, tuple[str, ...]]:
    """The field whose elements a program ends by going through, if it reads but their members."""
    last = program.closing_block
    if last is None or not isinstance(last.source, typed.Field):
        return {}
    name = last.source.name
    inner = list(typed.Program(last.body).expressions())
    others = [*typed.Program(program.statements[:-1]).expressions(), *inner]
    is_read_otherwise = any(name == read for e in others for _, read in e.fields_read)
    is_array = last.source.type.only(Kind.ARRAY) and last.source.type.element is None
    if is_read_otherwise or not is_array or not is_read_by_member(last.element, inner):
        return {}
    return {name: tuple(members_read(inner)[last.element])}


def _looked_at_after(planned: PlannedTransform) -> set[str]:
    """The fields that validations and log directives read of the outgoing record."""
    node = planned.unit.node
    assert isinstance(node, TransformNode)
    conditions = [
        *(check.condition for check in planned.validations if check.condition),
        *(condition for condition in planned.log_conditions if condition),
    ]
    found = {name for condition in conditions for _, name in condition.fields_read}
    found |= {v.field for v in node.config.validations if v.field}
    return found | {name for log in node.config.log for name in log.fields}


def _always_written(program: typed.Program) -> set[str]:
    """Fields whose input value never leaves: emits after a fan-out do not reach its records."""
    written: set[str] = set()
    for statement in program.statements:
        if isinstance(statement, typed.EmitEach):
            break
        if isinstance(statement, typed.Emit):
            written.add(statement.name)
    return written


def _compares_whole_records(program: typed.Program) -> bool:
    return any(isinstance(s, typed.Distinct) and s.keys is None for s in program.statements)


def _read_outside_windows(program: typed.Program) -> set[str]:
    """The fields read of the current record, not of those that a window looks up."""
    found: set[str] = set()
    inside = {part for call in window_calls(program) for part in call.walk()}
    for expression in program.expressions():
        for part in expression.walk():
            if isinstance(part, typed.Field) and part not in inside:
                found.add(part.name)
    return found


# Other nodes


def _by_aggregate(planned: PlannedAggregate) -> set[str]:
    node = planned.unit.node
    assert isinstance(node, AggregateNode)
    return set(node.config.group_by) | {name for _, name in planned.program.fields_read}


def _by_combine(planned: PlannedCombine, wanted: _Wanted) -> Iterator[_Wanted]:
    read = set(planned.where.fields_read)
    if planned.program:
        read |= planned.program.fields_read
    for label, row in planned.inputs.items():
        needed = {name for qualifier, name in read if qualifier in (label, None)}
        drives = label == planned.driver
        if planned.program is None and drives:
            needed |= wanted.columns - planned.inputs.keys()
        elif planned.program is None and label in wanted.columns:
            needed |= set(row.columns)
        declared = needed & set(row.columns)
        undeclared = wanted.undeclared if drives else declared != needed
        yield _Wanted(declared, undeclared)


def _by_output(planned: PlannedOutput) -> _Wanted:
    node = planned.unit.node
    assert isinstance(node, OutputNode)
    config = node.config
    needed = {column.field for column in planned.columns}
    needed |= {key.field for key in config.sort_order}
    if config.split and config.split.group_key:
        needed.add(config.split.group_key)
    return _Wanted(needed, config.include_unmapped)
