"""What becomes of fields in each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias, assert_never

from clinker.cxl.check import typed
from clinker.frozen import frozen
from clinker.plan.analyses.lineage.expressions import Elements, Read, elements_of, reads
from clinker.plan.analyses.lineage.influence import (
    Influence,
    Origins,
    SourceField,
    through,
    together,
)
from clinker.plan.nodes import (
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
from clinker.plan.nodes.window import Window

Look: TypeAlias = Callable[[Read], Origins]
"""Where something that is read comes from."""


@frozen(eq=False)
class Made:
    """The records that leave a node."""

    fields: Mapping[str, Origins]
    """Also metadata, as `$meta.name`."""
    deciding: Origins = field(default_factory=dict)
    """What decides which records there are."""

    def look(self, read: Read) -> Origins:
        return through(self.fields.get(read.name, {}), read.influence)


NOTHING = Made({})


def made_by(
    planned: Planned,
    inputs: Sequence[Made],
    window: Window | None,
    covered: Made | None,
    variables: Mapping[str, Origins],
) -> Made:
    """What leaves a node, given what it reads and what is left in variables.

    The window of a transform covers the records of `covered`.
    """
    match planned:
        case PlannedSource():
            columns = planned.row.columns
            identity = frozenset({Influence.IDENTITY})
            return Made({name: {SourceField(planned.name, name): identity} for name in columns})
        case PlannedTransform():
            return _transformed(planned, inputs[0], window, covered or inputs[0], variables)
        case PlannedAggregate():
            return _grouped(planned, inputs[0], variables)
        case PlannedCombine():
            return _joined(planned, inputs, variables)
        case PlannedMerge():
            return _merged(inputs)
        case PlannedRoute():
            conditions = planned.conditions.values()
            look = _looking(inputs[0].look, variables)
            return _decided(inputs[0], _origins(conditions, {}, Influence.FILTER, look))
        case PlannedState():
            return inputs[0]
        case PlannedOutput():
            return inputs[0]
    assert_never(planned)


def assigned(
    planned: PlannedState, before: Made, variables: Mapping[str, Origins]
) -> Iterator[tuple[str, Origins]]:
    """What a state node leaves in variables."""
    look = _looking(before.look, variables)
    for name, value in planned.assignments.items():
        origins = together(look(read) for read in reads(value, {}))
        yield f"${planned.node.config.scope}.{name}", origins


def _transformed(
    planned: PlannedTransform,
    before: Made,
    window: Window | None,
    covered: Made,
    variables: Mapping[str, Origins],
) -> Made:
    program, elements = planned.program, elements_of(planned.program)
    own = _looking(before.look, variables)

    def look(read: Read) -> Origins:
        return covered.look(read) if read.of_window else own(read)

    around = _around_window(window, before, covered) if window else {}
    fields = dict(before.fields)
    for name, value in _emitted(program):
        origins = together(look(read) for read in reads(value, elements))
        fields[name] = together([origins, around if value.reads_window else {}])
    conditions = [s.condition for s in program.every_statement() if isinstance(s, typed.Filter)]
    duplicates = [
        key
        for s in program.every_statement()
        if isinstance(s, typed.Distinct)
        for key in s.keys or ()
    ]
    deciding = _origins([*conditions, *duplicates], elements, Influence.FILTER, look)
    if any(isinstance(s, typed.Distinct) and s.keys is None for s in program.every_statement()):
        every = (through(origins, Influence.FILTER) for origins in fields.values())
        deciding = together([deciding, *every])
    after = replace(before, fields=fields)
    return _decided(after, together([deciding, _checked(planned, after, variables)]))


def _checked(planned: PlannedTransform, after: Made, variables: Mapping[str, Origins]) -> Origins:
    """What decides whether a record breaks a rule, so that it is rejected."""
    written = planned.node.config.validations
    checks = [
        check
        for check, rule in zip(planned.validations, written, strict=True)
        if rule.severity == "error"
    ]
    look = _looking(after.look, variables)
    conditions = [check.condition for check in checks if check.condition]
    named = (after.fields.get(check.field, {}) for check in checks if check.field)
    filtering = through(together(named), Influence.FILTER)
    return together([_origins(conditions, {}, Influence.FILTER, look), filtering])


def _around_window(window: Window, before: Made, covered: Made) -> Origins:
    """What decides which records a window function looks at."""
    names = [*window.spec.group_by, *(key.field for key in window.spec.sort_by)]
    origins = [covered.fields.get(name, {}) for name in names]
    origins += [before.fields.get(name, {}) for name in window.lookup or ()]
    return through(together(origins), Influence.WINDOW)


def _grouped(planned: PlannedAggregate, before: Made, variables: Mapping[str, Origins]) -> Made:
    look = _looking(before.look, variables)
    keys = planned.node.config.group_by
    fields = {name: before.fields.get(name, {}) for name in keys}
    for name, value in _emitted(planned.program):
        fields[name] = together(look(read) for read in reads(value, {}))
    statements = planned.program.every_statement()
    conditions = [s.condition for s in statements if isinstance(s, typed.Filter)]
    kept = _origins(conditions, {}, Influence.FILTER, look)
    grouping = through(together(before.fields.get(n, {}) for n in keys), Influence.GROUP_BY)
    return _decided(replace(before, fields=fields), together([kept, grouping]))


def _joined(
    planned: PlannedCombine, inputs: Sequence[Made], variables: Mapping[str, Origins]
) -> Made:
    labels = [edge.label for edge in planned.unit.inputs]
    by_label = dict(zip(labels, inputs, strict=True))
    driver = by_label[planned.driver]

    def qualified(read: Read) -> Origins:
        if read.name.startswith("$"):
            return driver.look(read)
        made = [by_label[read.qualifier]] if read.qualifier in by_label else [*inputs]
        return together(each.look(read) for each in made)

    look = _looking(qualified, variables)
    metadata = {name: each for name, each in driver.fields.items() if name.startswith("$")}
    if planned.program is None:
        fields = dict(driver.fields)
        for label in labels:
            if label != planned.driver:
                every = (o for n, o in by_label[label].fields.items() if not n.startswith("$"))
                fields[label] = through(together(every), Influence.TRANSFORMATION)
        conditions: list[typed.Expr] = []
    else:
        fields = metadata
        for name, value in _emitted(planned.program):
            fields[name] = together(look(read) for read in reads(value, {}))
        statements = planned.program.every_statement()
        conditions = [s.condition for s in statements if isinstance(s, typed.Filter)]
    kept = _origins(conditions, {}, Influence.FILTER, look)
    joining = _origins([planned.where], {}, Influence.JOIN, look)
    decided = together([*(each.deciding for each in inputs), kept, joining])
    return Made(fields, decided)


def _merged(inputs: Sequence[Made]) -> Made:
    names = dict.fromkeys(name for each in inputs for name in each.fields)
    return Made(
        {name: together(each.fields.get(name, {}) for each in inputs) for name in names},
        together(each.deciding for each in inputs),
    )


def _emitted(program: typed.Program) -> Iterator[tuple[str, typed.Expr]]:
    for statement in program.every_statement():
        if isinstance(statement, typed.Emit):
            yield statement.name, statement.value
        elif isinstance(statement, typed.EmitMeta):
            yield f"$meta.{statement.name}", statement.value


def _origins(
    expressions: Iterable[typed.Expr], elements: Elements, influence: Influence, look: Look
) -> Origins:
    """What expressions are made of whose values only decide."""
    return together(
        through(look(read), influence)
        for expression in expressions
        for read in reads(expression, elements)
    )


def _looking(look: Look, variables: Mapping[str, Origins]) -> Look:
    def looking(read: Read) -> Origins:
        if read.name in variables:
            return through(variables[read.name], read.influence)
        return look(read)

    return looking


def _decided(made: Made, more: Origins) -> Made:
    return replace(made, deciding=together([made.deciding, more]))
