"""What a pipeline says while it runs: log directives, traces and rules that only warn.

Messages about single records need a look at the records of their node. It is taken apart from the
outputs, and only if somebody wants to read messages of that level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.config.nodes.transform import LogDirective
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run import tagged
from clinker.cxl.run.evaluate import Frame, compile_expression
from clinker.cxl.run.patterns import timed
from clinker.cxl.sql.operand import Sql
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.types import ANY, STRING
from clinker.cxl.values import Value
from clinker.engine.expressions import literal, recast
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import Frame as Rows
from clinker.engine.flow.frame import quoted
from clinker.engine.rejects.entries import Rejected
from clinker.engine.rejects.places import record_name
from clinker.engine.run.observer import Observer
from clinker.engine.run.tracing import ProgramMessages, needs_interpreter, program_messages
from clinker.frozen import frozen
from clinker.plan.nodes import PlannedTransform
from clinker.plan.nodes.checks import CHECKED_VALUE

if TYPE_CHECKING:
    from clinker.engine.session.session import Session

_TEXT, _SHOWN, _FIELD = "$text", "$shown", "$field:"
_SOURCE, _POSITION = "$of_source", "$at_position"
Reaching: TypeAlias = Callable[[Sequence[typed.Statement]], Flow]
"""The records that get past these statements, the first of a program."""


@frozen(eq=False, kw_only=True)
class RecordMessages:
    """Messages about the records of a node."""

    node: str
    level: TraceLevel
    frame: Rows
    """What is said about each record and the fields shown with it, in the order of records."""
    fields: tuple[str, ...] = ()
    every: int = 1
    name: Callable[[Any], str] | None = None
    """What to call the record, where the text does not tell it from others."""

    def tell(self, session: Session, observer: Observer) -> None:
        for number, row in enumerate(session.iterate(self.frame)):
            if number % self.every == 0:
                shown = {name: tagged.decode(row[_FIELD + name]) for name in self.fields}
                text = f"{row[_TEXT]} ({self.name(row)})" if self.name else row[_TEXT]
                observer.logged(self.level, text, self.node, shown)


def messages_of(
    building: Building,
    planned: PlannedTransform,
    incoming: Flow,
    outgoing: Flow,
    results: Mapping[typed.Expr, Sql],
    reaching: Reaching,
) -> Iterator[RecordMessages | ProgramMessages]:
    """All that a transform says about single records and that somebody wants to read.

    `results` are those of its window functions on the incoming records.
    """
    wants = building.observer.wants
    statements = planned.program.statements
    if not results and needs_interpreter(planned.program, wants):
        yield program_messages(building, planned, incoming)
        statements = ()
    for number, statement in enumerate(statements):
        if isinstance(statement, typed.Trace) and wants(statement.level):
            reached = reaching(statements[:number])
            yield _traced(building, planned, reached, statement, results)
    config = planned.node.config
    for directive, condition in zip(config.log, planned.log_conditions, strict=True):
        level = TraceLevel(directive.level)
        if directive.when == "per_record" and wants(level):
            yield _messages(
                building,
                planned,
                outgoing,
                level,
                directive.message,
                condition,
                fields=directive.fields,
                every=directive.every or 1,
            )
    for check, validation in zip(planned.validations, config.validations, strict=True):
        if validation.severity == "warn" and check.condition and wants(TraceLevel.WARN):
            yield _messages(
                building,
                planned,
                outgoing,
                TraceLevel.WARN,
                validation.message or f"validation '{check.rule}' failed",
                check.condition,
                breaks=True,
                renamed={CHECKED_VALUE: check.field} if check.field else {},
            )


def _messages(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    level: TraceLevel,
    text: str,
    condition: typed.Expr | None,
    *,
    breaks: bool = False,
    renamed: Mapping[str, str] | None = None,
    fields: tuple[str, ...] = (),
    every: int = 1,
) -> RecordMessages:
    """One text about the records for which the condition holds, or which break it."""
    kept = flow.without_rejects().in_order()
    compiler = building.compiler(planned.unit, kept, renamed=renamed)
    columns = {_TEXT: literal(text, STRING)}
    if breaks:
        columns |= dict(zip((_SOURCE, _POSITION), kept.place, strict=True))
    for name in fields:
        own = kept.columns.get(name, ANY)
        columns[_FIELD + name] = recast(compiler.scope, compiler.inputs.field(None, name), own, ANY)
    test = "TRUE"
    if condition:
        with timed():  # nobody asks for another run here
            holds = compiler.is_true(condition).text
        test = f"NOT {holds}" if breaks else holds
    frame = _selected(kept, columns, test)
    return RecordMessages(
        node=planned.unit.name,
        level=level,
        frame=frame,
        fields=fields,
        every=every,
        name=partial(_named, building.system.files, kept.has_groups) if breaks else None,
    )


def _named(files: Mapping[str, Sequence[str]], is_group: bool, row: Any) -> str:
    if row[_POSITION] is None:
        return "the group of no records"
    return record_name(files, row[_SOURCE], row[_POSITION], is_group=is_group)


def _traced(
    building: Building,
    planned: PlannedTransform,
    flow: Flow,
    statement: typed.Trace,
    results: Mapping[typed.Expr, Sql],
) -> RecordMessages:
    kept = flow.without_rejects().in_order()
    compiler = building.compiler(planned.unit, kept)
    compiler.results = results
    message = compiler.expression(_as_text(statement.message)).text
    test = compiler.is_true(statement.guard).text if statement.guard else "TRUE"
    frame = _selected(kept, {_TEXT: message}, f"({test}) AND {message} IS NOT NULL")
    return RecordMessages(node=planned.unit.name, level=statement.level, frame=frame)


def _as_text(message: typed.Expr) -> typed.Expr:
    """The message as `to_string` shows it."""
    from clinker.cxl.builtins import METHODS

    (to_string,) = METHODS["to_string"]
    return typed.Call(
        method=to_string, receiver=message, args=(), type=STRING, location=message.location
    )


def _selected(flow: Flow, columns: Mapping[str, str], test: str) -> Rows:
    return flow.selected({**columns, _SHOWN: test}).where(quoted(_SHOWN)).drop(_SHOWN)


@frozen(eq=False)
class _Spoken:
    """What a transform says apart from the records that leave it."""

    building: Building
    planned: PlannedTransform
    directive: LogDirective
    condition: typed.Expr | None

    @property
    def reads(self) -> Iterator[str]:
        """The fields that it looks at."""
        yield from self.directive.fields
        if self.condition:
            yield from (name for _, name in self.condition.fields_read)

    def tell(self, record: Mapping[str, Value]) -> None:
        """Log it, unless the record that it is about, or there is none, does not fulfil it."""
        if self.condition is None or self._holds(self.condition, record):
            level = TraceLevel(self.directive.level)
            shown = {name: record.get(name) for name in self.directive.fields}
            text, node = self.directive.message, self.planned.name
            self.building.observer.logged(level, text, node, shown)

    def _holds(self, condition: typed.Expr, record: Mapping[str, Value]) -> bool:
        known = self.building.surroundings(self.planned.unit, [condition], has_record=False)
        try:
            return compile_expression(condition)(Frame(dict(record), known)) is True
        except Failure:
            return False


def _spoken(building: Building, when: str) -> Iterator[_Spoken]:
    for planned in building.plan.nodes.values():
        if not isinstance(planned, PlannedTransform):
            continue
        log = planned.node.config.log
        for directive, condition in zip(log, planned.log_conditions, strict=True):
            if directive.when == when:
                yield _Spoken(building, planned, directive, condition)


def announce(building: Building, when: str) -> None:
    """Say what is to be said once before, or once after, the records of each transform."""
    for spoken in _spoken(building, when):
        spoken.tell({})


def tell_errors(building: Building, rejected: Rejected) -> None:
    """Say what is to be said about every record that a transform rejects."""
    spoken = list(_spoken(building, "on_error"))
    if not spoken:
        return
    nodes = [each.planned.name for each in spoken]
    sites = rejected.entries.columns["node"].cast(pa.string())
    chosen = np.flatnonzero(pc.is_in(sites, pa.array(nodes, pa.string()))).tolist()
    names = {name for each in spoken for name in each.reads}
    for at, record in zip(chosen, rejected.values(chosen, names), strict=True):
        for each in spoken:
            if each.planned.name == sites[at].as_py():
                each.tell(record)
