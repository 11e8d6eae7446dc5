"""What programs say where only the interpreter can tell: in `emit each` bodies, and by `debug`.

It runs on the driver, record after record: this is for people who look for a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run import tagged
from clinker.cxl.run.evaluate import RowProgram, Surroundings
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.types import INT, STRING
from clinker.cxl.values import Value
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import Frame
from clinker.engine.rejects.explaining import Reads
from clinker.engine.rejects.mark import inputs_array_sql, read_expressions, reads_of
from clinker.engine.run.observer import Observer
from clinker.frozen import frozen
from clinker.plan.nodes import PlannedTransform

if TYPE_CHECKING:
    from clinker.engine.session.session import Session

_READ, _ROW, _FILE = "$read", "$row", "$file"


@frozen(eq=False, kw_only=True)
class ProgramMessages:
    """All that a program says about the records that it runs on."""

    node: str
    frame: Frame
    """What the program reads of each record and where that comes from, in the order of records."""
    program: typed.Program
    reads: Reads
    known: Surroundings

    def tell(self, session: Session, observer: Observer) -> None:
        said: list[tuple[TraceLevel, str]] = []
        known = replace(self.known, trace=lambda level, text: said.append((level, text)))
        runner = RowProgram(self.program, known)
        for row in session.iterate(self.frame):
            values = tagged.decode(row[_READ])
            assert isinstance(values, list)
            frame = self.reads.restored(values, known)
            runner.surroundings = frame.surroundings
            with suppress(Failure):  # which is told elsewhere
                runner.run(frame.record, frame.meta)
            place: dict[str, Value] = {"source_row": row[_ROW], "source_file": row[_FILE]}
            for level, text in said:
                if observer.wants(level):
                    is_detail = level is TraceLevel.TRACE
                    observer.logged(level, text, self.node, place if is_detail else None)
            said.clear()


def needs_interpreter(program: typed.Program, wants: Callable[[TraceLevel], bool]) -> bool:
    """Whether a program says something that somebody wants to read but SQL does not tell."""
    in_blocks = (s for s in program.every_statement() if s not in program.statements)
    if any(isinstance(s, typed.Trace) and wants(s.level) for s in in_blocks):
        return True
    return wants(TraceLevel.TRACE) and any(
        isinstance(part, typed.Call) and part.method.name == "debug"
        for expression in program.expressions()
        for part in expression.walk()
    )


def program_messages(
    building: Building, planned: PlannedTransform, incoming: Flow
) -> ProgramMessages:
    kept = incoming.without_rejects().in_order()
    compiler = building.compiler(planned.unit, kept)
    program = planned.program
    read = read_expressions(program.expressions())
    columns = {
        _READ: inputs_array_sql(compiler, read),
        _ROW: compiler.inputs.system("source", ("row",), INT),
        _FILE: compiler.inputs.system("source", ("file",), STRING),
    }
    return ProgramMessages(
        node=planned.unit.name,
        frame=kept.selected(columns),
        program=program,
        reads=reads_of(read),
        known=building.surroundings(planned.unit, program.expressions()),
    )
