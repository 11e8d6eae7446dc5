"""Programs with several `emit each` blocks, whose records do not all emit the same.

A record keeps what it does not emit. So that all of a program's records have the same fields, one
that lacks what others emit is made to emit the value of its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from clinker.cxl.check import typed
from clinker.cxl.types import Type
from clinker.frozen import frozen


def completed(
    program: typed.Program, fields: Mapping[str, Type], meta: Mapping[str, Type]
) -> typed.Program:
    """The program over records that have these fields and metadata."""
    inherited = _Inherited(
        {name: fields[name] for name in program.fields_written if name in fields},
        {name: meta[name] for name in program.meta_written if name in meta},
    )
    return typed.Program(inherited.completed(program.statements, frozenset(), frozenset()))


@frozen
class _Inherited:
    """The fields and metadata of its input that a program emits."""

    fields: Mapping[str, Type]
    meta: Mapping[str, Type]

    def completed(
        self, statements: tuple[typed.Statement, ...], fields: Set[str], meta: Set[str]
    ) -> tuple[typed.Statement, ...]:
        """The statements of a block before which these fields and metadata were emitted."""
        done: list[typed.Statement] = []
        for statement in statements:
            match statement:
                case typed.Emit():
                    fields = fields | {statement.name}
                case typed.EmitMeta():
                    meta = meta | {statement.name}
                case typed.EmitEach():
                    statement = replace(
                        statement, body=self.completed(statement.body, fields, meta)
                    )
            done.append(statement)
        if done and not any(isinstance(each, typed.EmitEach) for each in done):
            done += self._missing(done[-1], fields, meta)
        return tuple(done)

    def _missing(
        self, last: typed.Statement, fields: Set[str], meta: Set[str]
    ) -> Iterator[typed.Statement]:
        at = last.location
        for name, type_ in self.fields.items():
            if name not in fields:
                value = typed.Field(name=name, type=type_, location=at)
                yield typed.Emit(at, typed.Symbol(name, type_, typed.Role.EMIT, value), value)
        for name, type_ in self.meta.items():
            if name not in meta:
                read = typed.System(namespace="meta", path=(name,), type=type_, location=at)
                yield typed.EmitMeta(at, name, read)
