"""The SQL of a plan: all that a run asks of the engine, described by the code that a run uses.

No file is opened. What only a run knows stands under a fixed value: its time is the beginning of
1970, its names are `<execution id>` and `<batch id>`, and sources have no records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from clinker.config.nodes.source import SourceConfig
from clinker.cxl.failure import printable
from clinker.engine.flow.building import Building
from clinker.engine.flow.flows import Flows
from clinker.engine.flow.frame import Frame, Step
from clinker.engine.nodes.output import Written
from clinker.engine.reading.unopened import UnopenedInput, unopened_inputs
from clinker.engine.rejects.sites import Sites
from clinker.engine.report.facts import Identity
from clinker.engine.run.observer import Quiet
from clinker.engine.run.system import SystemValues
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedSource


def as_sql(plan: Plan) -> str:
    """What the engine is asked for each output, step by step."""
    return "\n\n".join("\n".join(block) for block in _describe(plan)) + "\n"


def _describe(plan: Plan) -> list[list[str]]:
    sites = Sites()
    inputs = unopened_inputs(plan, sites)
    outputs = Flows(Building(plan, _system_values(plan), sites, Quiet()), inputs).outputs()
    notes = [note for source in inputs for note in _notes(source)]
    return [*([notes] if notes else []), *_Script(outputs).blocks()]


def _system_values(plan: Plan) -> SystemValues:
    identity = Identity(
        execution_id="<execution id>",
        batch_id=plan.options.batch_id or "<batch id>",
        started=datetime(1970, 1, 1, tzinfo=UTC),
    )
    sources = [node for node in plan.nodes.values() if isinstance(node, PlannedSource)]
    files = {source.name: _file_names(source.node.config) for source in sources}
    return SystemValues(plan, identity, files, lambda _: 0)


def _file_names(config: SourceConfig) -> tuple[str, ...]:
    """The files of a source as its configuration writes them."""
    return config.paths or tuple(filter(None, (config.path, config.glob, config.regex)))


def _notes(source: UnopenedInput) -> Iterator[str]:
    """What the files of a source may change."""
    if source.has_unknown_columns:
        yield f"-- '{source.name}' has a column more for each undeclared field of its files"
    if source.has_parted_arrays:
        yield f"-- '{source.name}' has only some members of its arrays if its files are large"


class _Script:
    """Frames in print: those that others call by a name stand before them."""

    def __init__(self, outputs: Sequence[Written]) -> None:
        self._outputs = outputs
        self._shared = _find_shared([output.frame for output in outputs])
        self._names: dict[Frame, str] = {}

    def blocks(self) -> Iterator[list[str]]:
        for output in self._outputs:
            for frame in _from_below([output.frame]):
                if frame in self._shared and frame not in self._names:
                    name = f"t{len(self._names) + 1}"
                    yield [f"-- {name}", *self._lines(frame)]
                    self._names[frame] = name
            yield [f"-- output '{output.planned.name}'", *self._lines(output.frame)]

    def _lines(self, frame: Frame) -> list[str]:
        """The steps up to a frame from where no other is named."""
        lines: list[str] = []
        step = frame
        while step not in self._names:
            # Texts of the pipeline may have several lines; escaped, they mean the same to Spark.
            lines.append(printable(step.sql(*(self._names[other] for other in step.others))))
            if not isinstance(step, Step):
                return lines[::-1]
            step = step.below
        return [f"FROM {self._names[step]}", *reversed(lines)]


def _find_shared(outputs: Sequence[Frame]) -> set[Frame]:
    """The frames that are read several times, or that a step calls by a name."""
    frames = _from_below(outputs)
    readers = Counter(outputs)
    readers.update(below for frame in frames for below in frame.inputs)
    named = {other for frame in frames for other in frame.others}
    return named | {frame for frame, times in readers.items() if times > 1}


def _from_below(outputs: Sequence[Frame]) -> list[Frame]:
    """All frames that outputs are made of and they themselves, each behind those that it reads."""
    placed: dict[Frame, None] = {}
    waiting = [*reversed(outputs)]
    while waiting:
        missing = [each for each in waiting[-1].inputs if each not in placed]
        if missing:
            waiting += reversed(missing)
        else:
            placed[waiting.pop()] = None
    return list(placed)
