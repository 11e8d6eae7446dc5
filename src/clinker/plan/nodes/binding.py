"""Binding: every node's CXL checked against its real input, every node's outgoing row found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clinker.config.nodes import (
    AggregateNode,
    CombineNode,
    MergeNode,
    NodeBase,
    OutputNode,
    RouteNode,
    SourceNode,
    StateNode,
    TransformNode,
)
from clinker.config.nodes.transform import Validation
from clinker.config.pipeline import Settings
from clinker.cxl.builtins.declare import accepted_kinds
from clinker.cxl.check import typed
from clinker.cxl.check.fan_outs import completed
from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.resolve import OPEN_ROW, Context, ProgramKind, Row, WindowContext
from clinker.cxl.check.typecheck import check, check_expression
from clinker.cxl.run.date_names import DateNames
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.parser import parse, parse_expression
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    INT,
    NUMERIC,
    SCHEMA_TYPES,
    STRING,
    Kind,
    Type,
    unify,
)
from clinker.diagnostics import Diagnostic, Location, Severity, Source
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import driver_position
from clinker.plan.analyses.projection import metadata_columns
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes.checks import named_condition
from clinker.plan.nodes.planned import (
    Check,
    OutputColumn,
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)
from clinker.plan.variables import SCOPES, Registry

PROVENANCE: Mapping[str, Type] = {"source_name": STRING, "source_file": STRING, "source_row": INT}
"""The metadata that says where a record was read."""
CHECKED_TYPES = {
    "matches": STRING,
    "length": STRING | ARRAY,
    "min": NUMERIC,
    "max": NUMERIC,
    "range": NUMERIC,
}
"""The types that named checks work on; the others take any."""


@frozen
class Bound:
    """All nodes as far as they could be bound, and what was found wrong."""

    nodes: Mapping[str, Planned]
    diagnostics: list[Diagnostic]


def bind(graph: Graph, registry: Registry, modules: ModuleLibrary, settings: Settings) -> Bound:
    """Bind all units."""
    provenance = PROVENANCE if settings.include_provenance else {}
    binder = _Binder(graph, registry, modules, provenance, settings.date_names)
    for unit in graph:
        binder.bind(unit)
    return Bound(binder.nodes, binder.diagnostics)


@frozen
class Attempt:
    """A program, or None if it has errors, and the fields it writes as far as that is known."""

    program: typed.Program | None
    fields: Row
    meta: Mapping[str, Type]


@dataclass
class _Binder:
    graph: Graph
    registry: Registry
    modules: ModuleLibrary
    provenance: Mapping[str, Type]
    """What the metadata of all records tells of where they come from."""
    date_names: DateNames
    nodes: dict[str, Planned] = field(default_factory=dict)
    sections: dict[str, dict[str, Type]] = field(default_factory=dict)
    inputs: dict[str, frozenset[str]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def bind(self, unit: Unit) -> None:
        """Plan one unit. With errors in it a stand-in keeps what comes after it checkable."""
        self.documents(unit)
        self.source_inputs(unit, {})
        match unit.node:
            case SourceNode():
                planned: Planned = self._source(unit, unit.node)
            case TransformNode():
                planned = self._transform(unit, unit.node)
            case AggregateNode():
                planned = self._aggregate(unit, unit.node)
            case RouteNode():
                planned = self._route(unit, unit.node)
            case MergeNode():
                planned = self._merge(unit)
            case CombineNode():
                planned = self._combine(unit, unit.node)
            case StateNode():
                planned = self._state(unit, unit.node)
            case OutputNode():
                planned = self._output(unit, unit.node)
            case _:
                raise AssertionError(f"a {unit.kind} is no part of an expanded graph")
        self.nodes[unit.name] = planned

    def upstream(self, unit: Unit, position: int = 0) -> Planned:
        """The node an input reads from; where the wiring is wrong, one with unknown columns."""
        edge = unit.inputs[position]
        return self.nodes.get(edge.upstream) or Planned(unit=unit, row=OPEN_ROW)

    # Findings

    def report(self, unit: Unit, found: Sequence[Diagnostic], codes: Mapping[str, str]) -> bool:
        """Take over what CXL has to say, under the codes of pipelines; whether it was an error."""
        for diagnostic in found:
            code = codes.get(diagnostic.code, "E200") if diagnostic.is_error else "W200"
            trail = (*diagnostic.secondary, *unit.scope.trail)
            self.diagnostics.append(replace(diagnostic, code=code, secondary=trail))
        return any(diagnostic.is_error for diagnostic in found)

    def error(
        self, unit: Unit, code: str, message: str, location: Location, help: str | None = None
    ) -> None:
        self.diagnostics.append(unit.problem(code, message, location, help=help))

    # CXL

    def context(self, unit: Unit, row: Row, meta: Mapping[str, Type]) -> Context:
        pipeline, source, record = (self.registry.types(scope) for scope in SCOPES)
        return Context(
            row=row,
            modules=self.modules,
            meta=meta,
            doc=self.documents(unit),
            vars=self.registry.types("vars"),
            config=unit.scope.config_types,
            pipeline=pipeline,
            source=source,
            record=record,
            source_inputs=self.source_inputs(unit, source),
            date_names=self.date_names,
        )

    def documents(self, unit: Unit) -> Mapping[str, Type]:
        """The document sections of all sources whose records reach the unit."""
        if unit.name not in self.sections:
            found = _own_sections(unit.node)
            for edge in unit.inputs:
                for name, type_ in self.sections.get(edge.upstream, {}).items():
                    found[name] = found.get(name, type_) | type_
            self.sections[unit.name] = found
        return self.sections[unit.name]

    def source_inputs(
        self, unit: Unit, variables: Mapping[str, Type]
    ) -> Mapping[str, Mapping[str, Type]]:
        """The inputs by which source variables are addressed after a merge or combine."""
        if unit.name not in self.inputs:
            found = {label for e in unit.inputs for label in self.inputs.get(e.upstream, ())}
            if unit.kind in ("merge", "combine"):
                found |= {edge.label or edge.upstream for edge in unit.inputs}
            self.inputs[unit.name] = frozenset(found)
        nullable = {name: type_.nullable() for name, type_ in variables.items()}
        return dict.fromkeys(sorted(self.inputs[unit.name]), nullable)

    def program(
        self, unit: Unit, source: Source, context: Context, codes: Mapping[str, str]
    ) -> Attempt:
        parsed = parse(source)
        checked = check(parsed, context)
        self.report(unit, checked.diagnostics, codes)
        if checked.program:
            written = checked.program.fields_written
            return Attempt(checked.program, Row(written), checked.program.meta_written)
        fields = dict.fromkeys(_emit_names(parsed.program, ast.Emit), ANY)
        meta = dict.fromkeys(_emit_names(parsed.program, ast.EmitMeta), ANY)
        # What a statement that does not even parse would have emitted is anyone's guess.
        return Attempt(None, Row(fields, is_open=bool(parsed.diagnostics)), meta)

    def condition(
        self, unit: Unit, source: Source, context: Context, what: str
    ) -> typed.Expr | None:
        checked = check_expression(parse_expression(source), context, BOOL, what)
        self.report(unit, checked.diagnostics, {})
        return checked.expression

    # Nodes

    def _source(self, unit: Unit, node: SourceNode) -> Planned:
        columns = {
            column.name: column.type if column.required else column.type.nullable()
            for column in node.config.schema_columns
        }
        row = Row(columns, is_open=node.config.columns is None)
        return PlannedSource(unit=unit, row=row, meta=self.provenance)

    def _transform(self, unit: Unit, node: TransformNode) -> Planned:
        upstream = self.upstream(unit)
        window = node.config.analytic_window
        context = self.context(unit, upstream.row, upstream.meta)
        if window:
            foreign = self.nodes.get(unit.scope.prefix + window.source) if window.source else None
            context = replace(context, window=WindowContext(foreign.row if foreign else None))
        attempt = self.program(unit, node.config.text("cxl"), context, {})
        if attempt.program:
            program = completed(attempt.program, upstream.row.columns, upstream.meta)
            attempt = Attempt(program, Row(program.fields_written), program.meta_written)
        row = overlay(upstream.row, attempt.fields)
        meta = {**upstream.meta, **attempt.meta}
        emitted = tuple(attempt.fields.columns) or upstream.emitted
        validations: tuple[Check, ...] = ()
        log_conditions: tuple[typed.Expr | None, ...] = ()
        if node.config.validations or node.config.log:
            outgoing = self.context(unit, row, meta)
            validations = self._validations(unit, node, outgoing)
            log_conditions = self._log_conditions(unit, node, outgoing)
        for log in node.config.log:
            for position, name in enumerate(log.fields):
                self.require_field(unit, name, row, log.at("fields", position), "the log")
        if attempt.program is None:
            return Planned(unit=unit, row=row, meta=meta, emitted=emitted)
        return PlannedTransform(
            unit=unit,
            row=row,
            meta=meta,
            emitted=emitted,
            program=attempt.program,
            validations=validations,
            log_conditions=log_conditions,
        )

    def _log_conditions(
        self, unit: Unit, node: TransformNode, context: Context
    ) -> tuple[typed.Expr | None, ...]:
        return tuple(
            self.condition(unit, log.text("condition"), context, "the log condition")
            if log.condition
            else None
            for log in node.config.log
        )

    def _validations(self, unit: Unit, node: TransformNode, context: Context) -> tuple[Check, ...]:
        checks: list[Check] = []
        for validation in node.config.validations:
            if validation.field is not None:
                at = validation.at("field")
                self.require_field(unit, validation.field, context.row, at, "the validation")
                self._check_validated_type(unit, validation, context.row)
            if validation.named_check is None:
                source = validation.text("assertion")
                condition = self.condition(unit, source, context, "the validation")
                checks.append(Check(validation.rule, condition))
            elif validation.field is not None:
                type_ = context.row.get(validation.field) or ANY
                condition = named_condition(validation, type_)
                checks.append(Check(validation.rule, condition, validation.field))
        return tuple(checks)

    def _check_validated_type(self, unit: Unit, validation: Validation, row: Row) -> None:
        """A named check works on some types only."""
        type_ = row.get(validation.field or "")
        accepted = CHECKED_TYPES.get(validation.named_check or "")
        if type_ and accepted and not type_.is_null and not type_.maybe(accepted.kinds):
            self.error(
                unit,
                "E200",
                f"the check '{validation.assertion}' is for {accepted}, "
                f"but '{validation.field}' is {type_.noun}",
                validation.at("assertion"),
            )

    def require_field(
        self, unit: Unit, name: str, row: Row, location: Location, reader: str
    ) -> None:
        """Report unless the row has a column of that name."""
        if row.get(name) is None:
            known = did_you_mean(name, row.columns) or f"known here: {', '.join(row.columns)}"
            self.error(unit, "E200", f"{reader} reads unknown field '{name}'", location, known)

    def _aggregate(self, unit: Unit, node: AggregateNode) -> Planned:
        upstream = self.upstream(unit)
        group_by = node.config.group_by
        for position, name in enumerate(group_by):
            at = node.config.at("group_by", position)
            self.require_field(unit, name, upstream.row, at, "group_by")
        context = replace(
            self.context(unit, upstream.row, upstream.meta),
            kind=ProgramKind.AGGREGATE,
            group_by=group_by,
        )
        attempt = self.program(unit, node.config.text("cxl"), context, {})
        keys = Row({name: upstream.row.columns.get(name, ANY) for name in group_by})
        row = overlay(keys, attempt.fields)
        emitted = tuple(row.columns)
        if attempt.program is None:
            return Planned(unit=unit, row=row, emitted=emitted)
        return PlannedAggregate(unit=unit, row=row, emitted=emitted, program=attempt.program)

    def _route(self, unit: Unit, node: RouteNode) -> Planned:
        upstream = self.upstream(unit)
        context = self.context(unit, upstream.row, upstream.meta)
        conditions = {
            branch: self.condition(
                unit, node.config.text("conditions", branch), context, "a route condition"
            )
            for branch in node.config.conditions
        }
        found = {branch: condition for branch, condition in conditions.items() if condition}
        return PlannedRoute(
            unit=unit,
            row=upstream.row,
            meta=upstream.meta,
            emitted=upstream.emitted,
            conditions=found,
            default=node.config.default,
        )

    def _merge(self, unit: Unit) -> Planned:
        first, *others = (self.upstream(unit, i) for i in range(len(unit.inputs)))
        columns = dict(first.row.columns)
        for position, other in enumerate(others, 1):
            difference = _difference(first.row, other.row)
            if difference:
                self.error(
                    unit,
                    "E314",
                    f"'{other.name}' and '{first.name}' have different columns: {difference}",
                    unit.inputs[position].location,
                    "bring the inputs to the same columns with a transform before the merge",
                )
                continue
            for name, type_ in other.row.columns.items():
                columns[name] = unify(columns.get(name, type_), type_)
        meta: dict[str, Type] = {}
        for planned in (first, *others):
            for name, type_ in planned.meta.items():
                meta[name] = (meta.get(name, type_) | type_).nullable()
        is_open = any(planned.row.is_open for planned in (first, *others))
        row = Row(columns, is_open)
        emitted = _emitted_by_any((first, *others))
        return PlannedMerge(unit=unit, row=row, meta=meta, emitted=emitted)

    def _combine(self, unit: Unit, node: CombineNode) -> Planned:
        inputs = {e.label: self.upstream(unit, i) for i, e in enumerate(unit.inputs)}
        driver = node.config.drive if node.config.drive in inputs else next(iter(inputs))
        rows = {label: planned.row for label, planned in inputs.items()}
        rows |= {
            edge.label: replace(rows[edge.label], has_undeclared=self._brings_undeclared(upstream))
            for edge in unit.inputs
            if edge.label != driver and (upstream := self.graph.units.get(edge.upstream))
        }
        meta = inputs[driver].meta
        context = replace(self.context(unit, Row(), meta), qualifiers=rows)
        where = check_expression(
            parse_expression(node.config.text("where")), context, BOOL, "the join condition"
        )
        codes = {"resolve": "E304", "typecheck": "E303"}
        self.report(unit, where.diagnostics, codes)
        if node.config.match == "collect":
            arrays = {label: ARRAY for label in rows if label != driver}
            for label in arrays:
                if label in rows[driver].columns:
                    self.error(
                        unit,
                        "E301",
                        f"the array of '{label}' would hide the driver's column '{label}'",
                        node.key_at("input", label),
                        "give the input another name",
                    )
            attempt = Attempt(None, overlay(rows[driver], Row(arrays)), {})
        else:
            attempt = self._combine_body(unit, node, rows, driver, context)
        row = attempt.fields
        meta = {**meta, **attempt.meta}
        emitted = tuple(row.columns)
        complete = attempt.program or node.config.match == "collect"
        if where.expression is None or not complete:
            return Planned(unit=unit, row=row, meta=meta, emitted=emitted)
        return PlannedCombine(
            unit=unit,
            row=row,
            meta=meta,
            emitted=emitted,
            where=where.expression,
            program=attempt.program,
            driver=driver,
            inputs=rows,
        )

    def _combine_body(
        self,
        unit: Unit,
        node: CombineNode,
        rows: Mapping[str, Row],
        driver: str,
        context: Context,
    ) -> Attempt:
        if not node.config.has("cxl"):
            return Attempt(None, OPEN_ROW, {})
        seen = _after_miss(rows, driver, node)
        source = node.config.text("cxl")
        attempt = self.program(unit, source, replace(context, qualifiers=seen), {"resolve": "E308"})
        if attempt.program and not attempt.program.fields_written:
            self.error(
                unit,
                "E309",
                "the body of the combine emits no field",
                node.config.at("cxl"),
                "add an emit statement for every column of the joined record",
            )
        return attempt

    def _state(self, unit: Unit, node: StateNode) -> Planned:
        upstream = self.upstream(unit)
        context = replace(self.context(unit, upstream.row, upstream.meta), kind=ProgramKind.STATE)
        known = self.registry.types(node.config.scope)
        assignments: dict[str, typed.Expr] = {}
        for assignment in node.config.set:
            checked = check_expression(parse_expression(assignment.text("cxl")), context)
            self.report(unit, checked.diagnostics, {})
            shown = f"${node.config.scope}.{assignment.var}"
            declared = known.get(assignment.var)
            if declared is None:
                close = did_you_mean(assignment.var, known)
                self.error(
                    unit,
                    "E200",
                    f"unknown variable '{shown}'",
                    assignment.at("var"),
                    close or f"declare it under pipeline.vars.{node.config.scope}",
                )
            elif checked.expression:
                self._check_assignment(unit, shown, declared, checked.expression)
                assignments[assignment.var] = checked.expression
        return PlannedState(
            unit=unit,
            row=upstream.row,
            meta=upstream.meta,
            emitted=upstream.emitted,
            assignments=assignments,
        )

    def _check_assignment(self, unit: Unit, shown: str, declared: Type, value: typed.Expr) -> None:
        if not value.type.is_null and not value.type.maybe(_assignable(declared).kinds):
            self.error(
                unit,
                "E200",
                f"{shown} is {declared.without_null()}, but the value is {value.type}",
                value.location,
                "convert the value, or declare the variable with another type",
            )

    def _output(self, unit: Unit, node: OutputNode) -> Planned:
        upstream = self.upstream(unit)
        config = node.config
        names = list(upstream.row.columns)
        if not config.include_unmapped and upstream.emitted is not None:
            names = [name for name in upstream.emitted if name in upstream.row.columns]
        for position, name in enumerate(config.exclude):
            at = config.at("exclude", position)
            self._require_written(unit, node, name, upstream.row, at, "exclude")
        names = [name for name in names if name not in config.exclude]
        for position, name in enumerate(config.include_metadata.keys):
            if name not in upstream.meta and not upstream.row.is_open:
                self.error(
                    unit,
                    "E200",
                    f"include_metadata names '{name}', which no node before sets",
                    config.include_metadata.at("keys", position),
                    did_you_mean(name, upstream.meta) or "set it with `emit meta` in a transform",
                )
        shown: dict[str, list[str]] = {}
        for output, field_ in config.mapping.items():
            shown.setdefault(field_, []).append(output)
        for output, field_ in config.mapping.items():
            at = config.at("mapping", output)
            self._require_written(unit, node, field_, upstream.row, at, "mapping")
        if config.split and config.split.group_key:
            at = config.split.at("group_key")
            self.require_field(unit, config.split.group_key, upstream.row, at, "split")
        for position, key in enumerate(config.sort_order):
            at = config.at("sort_order", position)
            self.require_field(unit, key.field, upstream.row, at, "sort_order")
        columns = self._output_columns(unit, node, upstream.row, names, shown)
        if not config.format.holds_maps:
            self._reject_maps(unit, node, [*columns, *metadata_columns(upstream.meta, node)])
        return PlannedOutput(
            unit=unit,
            row=upstream.row,
            meta=upstream.meta,
            emitted=upstream.emitted,
            columns=columns,
        )

    def _require_written(
        self, unit: Unit, node: OutputNode, name: str, row: Row, location: Location, reader: str
    ) -> None:
        """Report unless an output has such a column to write, be it one that nobody declares."""
        if not (node.config.include_unmapped and self._brings_undeclared(unit)):
            self.require_field(unit, name, row, location, reader)
        elif row.get(name) is None:
            message = f"'{reader}' has an effect on '{name}' only if a file has it undeclared"
            help = did_you_mean(name, row.columns) or "declare it in the schema of the source"
            found = unit.scope.problem(
                "W013", message, location, help=help, severity=Severity.WARNING
            )
            self.diagnostics.append(found)

    def _brings_undeclared(self, unit: Unit) -> bool:
        """Whether records that reach a node may have columns that no schema names."""
        match unit.node:
            case SourceNode():
                return unit.node.config.on_unmapped.mode == "auto_widen"
            case AggregateNode():
                return False
            case CombineNode():
                edges = unit.inputs[driver_position(unit, unit.node) :][:1]
            case _:
                edges = unit.inputs
        before = (self.graph.units.get(edge.upstream) for edge in edges)
        return any(self._brings_undeclared(upstream) for upstream in before if upstream)

    def _reject_maps(self, unit: Unit, node: OutputNode, columns: Sequence[OutputColumn]) -> None:
        for column in columns:
            if column.type.maybe(Kind.MAP) and column.type.only(Kind.MAP):
                is_own = column.field in self.upstream(unit).row.columns
                without = "exclude it" if is_own else "leave it out of 'include_metadata'"
                self.error(
                    unit,
                    "E078",
                    f"a {node.config.type} file cannot hold '{column.field}', which is a Map",
                    node.config.at("type"),
                    f"{without}, emit the parts of it that are needed, or write JSON",
                )

    def _output_columns(
        self,
        unit: Unit,
        node: OutputNode,
        row: Row,
        names: Sequence[str],
        shown: Mapping[str, Sequence[str]],
    ) -> tuple[OutputColumn, ...]:
        """The columns of an output: every field under the names that `mapping` gives it."""
        columns: list[OutputColumn] = []
        for field_ in names:
            for name in shown.get(field_, [field_]):
                if any(column.name == name for column in columns):
                    self.error(
                        unit,
                        "E077",
                        f"two columns of the output are named '{name}'",
                        node.config.key_at("mapping", name),
                        "give one of them another name, or exclude it",
                    )
                columns.append(OutputColumn(name, field_, row.columns[field_]))
        return tuple(columns)


def _own_sections(node: NodeBase) -> dict[str, Type]:
    """The document sections a source reads, and those its format brings along."""
    found: dict[str, Type] = {}
    if not isinstance(node, SourceNode):
        return found
    found.update(node.config.format.own_sections)
    if node.config.envelope:
        for section, declared in node.config.envelope.sections.items():
            for name, type_ in declared.fields.items():
                found[f"{section}.{name}"] = SCHEMA_TYPES[type_].nullable()
    return found


def _after_miss(rows: Mapping[str, Row], driver: str, node: CombineNode) -> Mapping[str, Row]:
    """The inputs as the body sees them: without a match the others' fields are null."""
    if node.config.on_miss != "null_fields":
        return rows
    nullable = {
        label: replace(row, columns={n: type_.nullable() for n, type_ in row.columns.items()})
        for label, row in rows.items()
    }
    return {**nullable, driver: rows[driver]}


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


def _emitted_by_any(inputs: Sequence[Planned]) -> tuple[str, ...] | None:
    """What merged inputs emitted; of one that nothing was emitted to, all columns count."""
    if all(planned.emitted is None for planned in inputs):
        return None
    names: dict[str, None] = {}
    for planned in inputs:
        names |= dict.fromkeys(planned.row.columns if planned.emitted is None else planned.emitted)
    return tuple(names)


def _difference(first: Row, other: Row) -> str | None:
    if first.is_open or other.is_open:
        return None
    missing = [name for name in first.columns if name not in other.columns]
    extra = [name for name in other.columns if name not in first.columns]
    parts = [
        *(f"'{name}' is missing" for name in missing),
        *(f"'{name}' is new" for name in extra),
    ]
    return ", ".join(parts) or None


def _assignable(declared: Type) -> Type:
    return Type(accepted_kinds(declared.without_null(), iso_text=False))
