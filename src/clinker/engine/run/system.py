"""System variables: what `$pipeline`, `$source`, `$vars` and their kin stand for in a run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from clinker.cxl.run.evaluate import Surroundings, System
from clinker.cxl.types import INT, STRING, Type
from clinker.cxl.values import Value
from clinker.engine.expressions import literal, recast
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
from clinker.frozen import frozen
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

    def surroundings(self, unit: Unit, reads: frozenset[Key], max_expansion: int) -> Surroundings:
        """What the interpreter needs besides the record to run a program of this node."""
        constants: System = {
            key: self.constant(unit, key) for key in reads if not is_per_record(key)
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
        return self.plan.registry.initial("pipeline", name)

    def sql(self, unit: Unit, flow: Flow, key: Key, type_: Type) -> str:
        """The variable as SQL over the columns of a flow."""
        if not is_per_record(key):
            return literal(self.constant(unit, key), type_)
        namespace, path = key
        name = path[-1]
        if namespace in _CARRIED:
            return _carried(flow, _CARRIED[namespace] + ".".join(path), type_)
        if namespace in ("source", "pipeline") and name in (*_FILE, "source_file"):
            return self._by_source(flow, partial(self._file, flow))
        if namespace in ("source", "pipeline") and name in ("row", "source_row"):
            return row_number(flow.value(POSITION))
        if namespace == "source":
            return self._by_source(
                flow, lambda source: literal(self._of_source(unit, path, source), type_)
            )
        return literal(self.plan.registry.initial(namespace, name), type_)

    def of_group(self, unit: Unit, flow: Flow, key: Key) -> Value:
        """What a variable is for a group of a flow's records, when all of them have been read."""
        if key != SOURCE_COUNT:
            return self.constant(unit, key)
        return self.count_of(flow.sources[0]) if len(flow.sources) == 1 else None

    def _file(self, flow: Flow, source: str) -> str:
        names = ", ".join(literal(name, STRING) for name in self.files[source])
        return f"element_at(array({names}), CAST({file_number(flow.value(POSITION))} + 1 AS INT))"

    def _of_source(self, unit: Unit, path: tuple[str, ...], source: str) -> Value:
        match path:
            case ("name",):
                return source
            case ("batch",):
                return self.identity.batch_id
            case ("ingestion_timestamp",):
                return self.now
            case ("count",):
                return None
            case (label, name):
                behind = self._sources_behind(unit, label)
                if source not in behind and len(behind) > 1:
                    return None
                meant = source if source in behind else next(iter(behind))
                return self.plan.registry.initial("source", name, meant)
        return self.plan.registry.initial("source", path[-1], source)

    def _sources_behind(self, unit: Unit, label: str) -> set[str]:
        """The sources of an input that a merge or combine before this node calls `label`."""
        graph = self.plan.graph
        joints = [unit, *(graph.units[name] for name in graph.ancestors(unit.name))]
        edges = [e for u in joints if u.kind in ("merge", "combine") for e in u.inputs]
        inputs = {e.upstream for e in edges if label == (e.label or e.upstream)}
        reached = inputs.union(*(graph.ancestors(name) for name in inputs))
        return {name for name in self.files if name in reached}

    def _by_source(self, flow: Flow, text: SourceText) -> str:
        """What a variable is for the records of each source that are in the flow."""
        numbers = {name: number for number, name in enumerate(self.files)}
        cases = " ".join(
            f"WHEN {literal(numbers[source], INT)} THEN {text(source)}" for source in flow.sources
        )
        return f"CASE {flow.value(SOURCE)} {cases} END"


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
        namespace == "pipeline" and path in (("source_file",), ("source_row",))
    )
