"""What binding a node takes, whatever its kind: CXL in its context, fields, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from clinker.cxl.check import typed
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import OPEN_ROW, Context, Row
from clinker.cxl.check.typecheck import check, check_expression
from clinker.cxl.run.date_names import DateNames
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.cxl.types import ANY, BOOL, Type
from clinker.diagnostics import Diagnostic, Location, Source
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Records
from clinker.plan.variables import SCOPES, Registry

NO_PROGRAM = typed.Program(())
"""What stands for a program with errors."""


@frozen
class Attempt:
    """A program, or None if it has errors, and the fields it writes as far as that is known."""

    program: typed.Program | None
    fields: Row
    meta: Mapping[str, Type]


@frozen(eq=False)
class Reading:
    """A text in CXL as it was read, for those who explain it."""

    source: Source
    context: Context
    """What it may name."""
    syntax: ast.Program | ast.Expr | None
    sketch: typed.Program | typed.Expr | None
    """What is known of it, be it right or wrong."""


@frozen(eq=False)
class Binder:
    """The nodes bound so far, and all that CXL may name."""

    registry: Registry
    modules: ModuleLibrary
    provenance: Mapping[str, Type]
    """What the metadata of all records says about where they come from."""
    date_names: DateNames
    nodes: dict[str, Records] = field(default_factory=dict)
    sections: dict[str, Mapping[str, Type]] = field(default_factory=dict)
    """By node, the document sections of all sources whose records reach it."""
    labels: dict[str, frozenset[str]] = field(default_factory=dict)
    """By node, the inputs that merges and combines up to it have names for."""
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    """By node, every text in CXL that it has."""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def enter(self, unit: Unit) -> None:
        """Note what reaches a unit from those before it."""
        sections: dict[str, Type] = {}
        for edge in unit.inputs:
            for name, type_ in self.sections.get(edge.upstream, {}).items():
                sections[name] = sections.get(name, type_) | type_
        self.sections[unit.name] = sections
        labels = {label for e in unit.inputs for label in self.labels.get(e.upstream, ())}
        labels |= {edge.label for edge in unit.inputs if edge.label}
        self.labels[unit.name] = frozenset(labels)

    def upstream(self, unit: Unit, position: int = 0) -> Records:
        """What an input reads; where the wiring is wrong, records with unknown columns."""
        edge = unit.inputs[position]
        return self.nodes.get(edge.upstream) or Records(row=OPEN_ROW)

    # Findings

    def report(
        self, unit: Unit, diagnostics: Sequence[Diagnostic], codes: Mapping[str, str]
    ) -> None:
        """Take over what CXL has to say, under the codes of pipelines."""
        for diagnostic in diagnostics:
            code = codes.get(diagnostic.code, "E200") if diagnostic.is_error else "W200"
            trail = (*diagnostic.secondary, *unit.scope.trail)
            self.diagnostics.append(replace(diagnostic, code=code, secondary=trail))

    def error(
        self, unit: Unit, code: str, message: str, location: Location, help: str | None = None
    ) -> None:
        self.diagnostics.append(unit.problem(code, message, location, help=help))

    def require_field(
        self, unit: Unit, name: str, row: Row, location: Location, reader: str
    ) -> None:
        """Report unless the row has a column of that name."""
        if row.get(name) is None:
            known = did_you_mean(name, row.columns) or f"known here: {', '.join(row.columns)}"
            self.error(unit, "E200", f"{reader} reads unknown field '{name}'", location, known)

    # CXL

    def context(self, unit: Unit, records: Records) -> Context:
        """What CXL may name at a unit, where it reads these records."""
        pipeline, source, record = (self.registry.types(scope) for scope in SCOPES)
        nullable = {name: type_.nullable() for name, type_ in source.items()}
        return Context(
            row=records.row,
            modules=self.modules,
            meta=records.meta,
            doc=self.sections[unit.name],
            vars=self.registry.types("vars"),
            config=unit.scope.config_types,
            pipeline=pipeline,
            source=source,
            record=record,
            source_inputs=dict.fromkeys(sorted(self.labels[unit.name]), nullable),
            date_names=self.date_names,
        )

    def program(
        self, unit: Unit, source: Source, context: Context, codes: Mapping[str, str]
    ) -> Attempt:
        parsed = parse(source)
        checked = check(parsed, context)
        self._keep(unit, Reading(source, context, parsed.program, checked.sketch))
        self.report(unit, checked.diagnostics, codes)
        if checked.program:
            written = checked.program.fields_written
            return Attempt(checked.program, Row(written), checked.program.meta_written)
        fields = dict.fromkeys(_emit_names(parsed.program, ast.Emit), ANY)
        meta = dict.fromkeys(_emit_names(parsed.program, ast.EmitMeta), ANY)
        # What a statement that does not even parse would have emitted is anyone's guess.
        return Attempt(None, Row(fields, is_open=bool(parsed.diagnostics)), meta)

    def condition(
        self,
        unit: Unit,
        source: Source,
        context: Context,
        what: str,
        codes: Mapping[str, str] | None = None,
    ) -> typed.Expr | None:
        return self.expression(unit, source, context, BOOL, what, codes)

    def expression(
        self,
        unit: Unit,
        source: Source,
        context: Context,
        expected: Type | None = None,
        what: str = "",
        codes: Mapping[str, str] | None = None,
    ) -> typed.Expr | None:
        parsed = parse_expression(source)
        checked = check_expression(parsed, context, expected, what)
        self._keep(unit, Reading(source, context, parsed.expression, checked.sketch))
        self.report(unit, checked.diagnostics, codes or {})
        return checked.expression

    def _keep(self, unit: Unit, reading: Reading) -> None:
        self.readings.setdefault(unit.name, []).append(reading)


def overlay(row: Row, written: Row) -> Row:
    """A row with fields written over it: known names keep their place, new ones follow."""
    return Row({**row.columns, **written.columns}, row.is_open or written.is_open)


def _emit_names(program: ast.Program, kind: type[ast.Emit] | type[ast.EmitMeta]) -> list[str]:
    """What the statements of a program emit, those in `emit each` bodies included."""

    def names(statements: Sequence[ast.Statement]) -> Iterator[str]:
        for statement in statements:
            if isinstance(statement, kind):
                yield statement.name
            elif isinstance(statement, ast.EmitEach):
                yield from names(statement.body)

    return list(names(program.statements))
