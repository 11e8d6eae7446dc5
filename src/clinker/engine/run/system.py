"""System variables: what `$pipeline`, `$source`, `$vars` and their kin stand for in a run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial

from clinker.config.nodes import SourceNode
from clinker.config.variables import RESERVED
from clinker.cxl.run.evaluate import Surroundings, System
from clinker.cxl.types import DATETIME, INT, STRING, Type
from clinker.cxl.values import Value
from clinker.engine.expressions import literal, recast, representation
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.flow import (
    DOCUMENT,
    META,
    POSITION,
    SOURCE,
    Flow,
    file_number,
    row_number,
)
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.report.facts import Identity
from clinker.engine.run.finals import Finals, Slots, Variable
from clinker.frozen import frozen
from clinker.plan.analyses.folds import Passed, passed_writers
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit

Key = tuple[str, tuple[str, ...]]
"""Namespace and path."""

SourceText = Callable[[str], str]
"""SQL for the records of a source."""

_OF_RECORDS = ("source", "record", "meta", "doc")
_CARRIED = {"meta": META, "doc": DOCUMENT}
"""What records have in hidden columns, one for each path."""
_FILE = ("file", "path")
SOURCE_COUNT: Key = ("source", ("count",))
"""What differs from record to record, in that it is not known yet, but is one value for a group."""


@frozen(eq=False)
class SystemValues:
    """The variables of a run."""

    plan: Plan
    identity: Identity
    files: Mapping[str, Sequence[str]]
    """The names of the files each source reads."""
    count_of: Callable[[str], int]
    """How many records a source has."""
    finals: Finals = field(default_factory=Finals)
    """What state nodes leave in variables."""

    def surroundings(
        self, unit: Unit, reads: frozenset[Key], max_expansion: int, *, has_record: bool = True
    ) -> Surroundings:
        """What the interpreter needs besides the record to run a program of this node.

        Without a record, variables of the pipeline are what is left in them.
        """
        constants: System = {
            key: self.constant(unit, key)
            for key in reads
            if not is_per_record(key) or (key[0] == "pipeline" and not has_record)
        }
        return Surroundings(constants, lambda: self.now, max_expansion=max_expansion)

    @property
    def now(self) -> dt.datetime:
        return self.identity.started.replace(tzinfo=None)

    def constant(self, unit: Unit, key: Key) -> Value:
        """The value of a variable that is the same for all records."""
        namespace, (name, *_) = key
        match namespace, name:
            case "vars", _:
                return self.plan.registry.initial("vars", name)
            case "config", _:
                value: Value = unit.scope.config.get(name)  # type: ignore[assignment]
                return value
            case "pipeline", "name":
                return self.plan.pipeline.pipeline.name
            case "pipeline", "execution_id":
                return self.identity.execution_id
            case "pipeline", "batch_id":
                return self.identity.batch_id
            case "pipeline", "start_time":
                return self.now
        return self._final(unit, name)

    def sql(self, unit: Unit, flow: Flow, key: Key, type_: Type) -> str:
        """The variable as SQL over the columns of a flow."""
        if not is_per_record(key):
            return literal(self.constant(unit, key), type_)
        namespace, path = key
        name = path[-1]
        if namespace in _CARRIED:
            return _carried(flow, _CARRIED[namespace] + ".".join(path), type_)
        if len(path) == 1 and name in self.plan.registry.types_of(namespace):
            return self._as_of_record(unit, flow, (namespace, name), type_)
        if namespace in ("source", "pipeline") and name in (*_FILE, "source_file"):
            return self._by_source(flow, partial(self._file, flow))
        if namespace in ("source", "pipeline") and name in ("row", "source_row"):
            return row_number(flow.value(POSITION))
        if path == ("event_time",):
            return self._by_source(flow, partial(self._event_time, flow))
        if len(path) == 2:
            return self._of_input(unit, flow, path, type_)
        return self._by_source(flow, lambda source: literal(self._of_source(name, source), type_))

    def of_group(self, unit: Unit, flow: Flow, key: Key) -> Value:
        """What a variable is for a group of a flow's records, when all of them have been read."""
        if key != SOURCE_COUNT:
            return self.constant(unit, key)
        return self.count_of(flow.sources[0]) if len(flow.sources) == 1 else None

    # Scoped variables

    def _as_of_record(self, unit: Unit, flow: Flow, variable: Variable, type_: Type) -> str:
        """What a record has in a variable: what it brings along, else what is left in the end."""
        key = ".".join(variable)
        own = flow.hidden.get(kinds.VARIABLE.column(key))
        if own is None:
            return self._left(unit, flow, variable, type_)
        brought = flow.value(own.name)
        came = passed_writers(self.plan.graph, self.plan.nodes, unit, variable)
        if came is Passed.ALL:
            return brought
        left = self._left(unit, flow, variable, type_)
        return f"if({flow.value(kinds.PASSED.column(key))}, {brought}, {left})"

    def _left(self, unit: Unit, flow: Flow, variable: Variable, type_: Type) -> str:
        """What a record finds in a variable that it does not bring along."""
        scope, name = variable
        if scope == "pipeline":
            return literal(self._final(unit, name), type_)
        initial = literal(self.plan.registry.initial(scope, name), type_)
        if scope == "record":
            return initial
        slots = self._slots(unit, variable)
        written = {source for source, *_ in slots}

        def of_files(source: str) -> str:
            begin = self.plan.registry.initial("source", name, source)
            number = self._number(source)
            if number not in written:
                return literal(begin, type_)
            files = range(len(self.files[source]))
            values = ", ".join(literal(slots.get((number, n), begin), type_) for n in files)
            place = f"CAST({file_number(flow.value(POSITION))} + 1 AS INT)"
            return f"element_at(array({values}), {place})"

        groups = literal(slots[None, None], type_) if (None, None) in slots else initial
        return self._by_source(flow, of_files, groups)

    def _final(self, unit: Unit, name: str) -> Value:
        """What is left in a variable of the pipeline, as far as a node is concerned."""
        slots = self._slots(unit, ("pipeline", name))
        return slots.get((), self.plan.registry.initial("pipeline", name))

    def _slots(self, unit: Unit, variable: Variable) -> Slots:
        return self.finals.of(self.plan.graph, self.plan.nodes, unit, variable)

    def _of_input(self, unit: Unit, flow: Flow, path: tuple[str, ...], type_: Type) -> str:
        """A variable of another input; records of it have their own."""
        label, name = path
        behind = self._sources_behind(unit, label)
        own = self._as_of_record(unit, flow, ("source", name), type_)
        if behind.issuperset(flow.sources):
            return own
        other: Value = None
        if len(behind) == 1:
            (source,) = behind
            other = self._of_whole_source(self._slots(unit, ("source", name)), name, source)
        elsewhere = literal(other, type_)
        return self._by_source(flow, lambda s: own if s in behind else elsewhere, elsewhere)

    def _of_whole_source(self, slots: Slots, name: str, source: str) -> Value:
        """What a source has in a variable; null if its files do not agree by themselves."""
        number = self._number(source)
        if not any(key[0] == number for key in slots):
            return self.plan.registry.initial("source", name, source)
        return slots.get((number, 0)) if len(self.files[source]) == 1 else None

    # Sources

    def _file(self, flow: Flow, source: str) -> str:
        names = ", ".join(literal(name, STRING) for name in self.files[source])
        return f"element_at(array({names}), CAST({file_number(flow.value(POSITION))} + 1 AS INT))"

    def _event_time(self, flow: Flow, source: str) -> str:
        """The event time of a record, moved back by the delay of its source."""
        configs = {unit.name: node.config for unit, node in self.plan.graph.of(SourceNode)}
        watermark = configs[source].watermark
        column = flow.hidden_of(kinds.ORIGIN).get(watermark.column) if watermark else None
        if not (watermark and column):
            return literal(None, DATETIME)
        text = flow.value(column.name)
        if representation(column.type).is_tagged:
            text = f"TRY_CAST(substr({text}, 2) AS TIMESTAMP_NTZ)"
        moment = f"CAST({text} AS TIMESTAMP_NTZ)"
        delay = watermark.delay
        if not delay:
            return moment
        return f"({moment} - INTERVAL '{delay.total_seconds():.6f}' SECOND)"

    def _of_source(self, name: str, source: str) -> Value:
        match name:
            case "name":
                return source
            case "batch":
                return self.identity.batch_id
            case "ingestion_timestamp":
                return self.now
        return None

    def _number(self, source: str) -> int:
        return [*self.files].index(source)

    def _sources_behind(self, unit: Unit, label: str) -> set[str]:
        """The sources of an input that a merge or combine before this node calls `label`."""
        graph = self.plan.graph
        joints = [unit, *(graph.units[name] for name in graph.ancestors(unit.name))]
        edges = [e for u in joints if u.kind in ("merge", "combine") for e in u.inputs]
        inputs = {e.upstream for e in edges if label == (e.label or e.upstream)}
        reached = inputs.union(*(graph.ancestors(name) for name in inputs))
        return {name for name in self.files if name in reached}

    def _by_source(self, flow: Flow, text: SourceText, of_groups: str | None = None) -> str:
        """What a variable is for the records of each source that are in the flow."""
        cases = " ".join(
            f"WHEN {literal(self._number(source), INT)} THEN {text(source)}"
            for source in flow.sources
        )
        otherwise = f" ELSE {of_groups}" if of_groups and flow.has_groups else ""
        return f"CASE {flow.value(SOURCE)} {cases}{otherwise} END"


def _carried(flow: Flow, column: str, type_: Type) -> str:
    """What records have in a hidden column, if there is such a one."""
    own = flow.hidden.get(column)
    if own is None:
        return literal(None, type_)
    return recast(flow.scope, flow.value(column), own.type, type_)


def system_values(plan: Plan, identity: Identity, inputs: Sequence[SourceInput]) -> SystemValues:
    """The variables of a run that reads these inputs."""
    sources = {source.name: source for source in inputs}
    files = {name: [file.name for file in source.files] for name, source in sources.items()}
    return SystemValues(plan, identity, files, lambda name: sources[name].records)


def is_per_record(key: Key) -> bool:
    namespace, path = key
    return namespace in _OF_RECORDS or (
        namespace == "pipeline" and path[0] not in RESERVED["pipeline"]
    )
