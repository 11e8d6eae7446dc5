"""Joins: the records of a combine's inputs brought together.

Every input's columns get its name in front. The driver's records stay, rejected ones among them;
the build inputs are joined to them one after the other. What of an input's condition compares two
prepared columns is left to Spark's join; anything more is checked on the pairs that it finds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from clinker.cxl.check import typed
from clinker.cxl.syntax.ast import BinaryOp
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions import Compiler, Scope, literal, recast, representation
from clinker.engine.expressions.conditions import either
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import IS_KEPT, REJECT, Flow
from clinker.engine.flow.frame import quoted, selection
from clinker.engine.flow.identity import identity_sql
from clinker.engine.rejects.explaining import expressions_explainer
from clinker.engine.rejects.mark import mark, read_expressions, rejection
from clinker.engine.rejects.matches import Matches, place_columns
from clinker.frozen import frozen
from clinker.plan.analyses.joins import Comparison, Join, Step
from clinker.plan.nodes import PlannedCombine, PlannedSource

_OPERATORS = {
    BinaryOp.EQUAL: "=",
    BinaryOp.LESS: "<",
    BinaryOp.LESS_EQUAL: "<=",
    BinaryOp.GREATER: ">",
    BinaryOp.GREATER_EQUAL: ">=",
}
_NUMBER, _HOLDS, _FAILS = "$number", "$holds", "$fails"


@frozen(eq=False, kw_only=True)
class Joined:
    """The driver's records with what they found."""

    flow: Flow
    """Of the driver, its columns under their new names; build columns are in the frame only."""
    builds: tuple[str, ...]
    order: tuple[str, ...]
    """The build orders, which tell several finds of one driver record apart."""
    is_unique: bool
    """Whether every driver record is there once."""
    matches: Matches
    rejected: tuple[Flow, ...] = ()
    """Build inputs of which records failed."""

    @property
    def is_match(self) -> str:
        """Whether all build inputs have a record here."""
        return " AND ".join(f"{quoted(matched(build))} IS NOT NULL" for build in self.builds)


def column_of(label: str, name: str) -> str:
    return f"{label}.{name}"


def matched(label: str) -> str:
    """The column that is there if an input has a record."""
    return f"$matched:{label}"


def join(
    building: Building,
    planned: PlannedCombine,
    plan: Join,
    inputs: Mapping[str, Flow],
    *,
    only_first: bool,
) -> Joined:
    """The driver's records with all their finds, or with the first of each only."""
    return _Joining(building, planned, inputs).run(plan, only_first)


@frozen(eq=False)
class JoinedInputs:
    """What expressions find in joined records."""

    flow: Flow
    inputs: Mapping[str, Flow]
    compiler: Compiler

    @property
    def now(self) -> dt.datetime:
        return self.compiler.inputs.now

    def field(self, qualifier: str | None, name: str) -> str:
        assert qualifier is not None
        if name in self.inputs[qualifier].columns:
            return quoted(column_of(qualifier, name))
        return literal(None, Type(Kind.NULL))

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        return self.compiler.inputs.system(namespace, path, type_)


class _Joining:
    def __init__(
        self, building: Building, planned: PlannedCombine, inputs: Mapping[str, Flow]
    ) -> None:
        self.building = building
        self.planned = planned
        self.inputs = inputs
        self.rejected: list[Flow] = []
        self.matches = Matches({}, building.system.files)

    def run(self, plan: Join, only_first: bool) -> Joined:
        flow = self._named(plan.driver, self.inputs[plan.driver])
        order: list[str] = []
        # Where all inputs are looked up by the driver alone, the first of each is the first of all.
        is_star = all(
            not step.ranges
            and not step.residuals
            and all(c.probe_input == plan.driver and c.is_exact for c in step.equalities)
            for step in plan.steps
        )
        deduplicates = only_first and is_star
        for number, step in enumerate(plan.steps):
            flow, own = self._joined(flow, number, step, deduplicates, order)
            order += own
        builds = tuple(step.build for step in plan.steps)
        found = Joined(
            flow=flow,
            builds=builds,
            order=tuple(order),
            is_unique=deduplicates,
            matches=self.matches,
            rejected=tuple(self.rejected),
        )
        if len(builds) > 1 or not deduplicates:
            found = self._settled(found, only_first)
        return found

    def _named(self, label: str, flow: Flow) -> Flow:
        """A flow whose columns bear the name of their input."""
        names = {name: column_of(label, name) for name in flow.columns}
        texts = {new: flow.text(old) for old, new in names.items()}
        columns = {names[name]: type_ for name, type_ in flow.columns.items()}
        return replace(flow.with_values(texts), columns=columns).built()

    def compiler(self, flow: Flow) -> Compiler:
        plain = self.building.compiler(self.planned.unit, flow)
        return Compiler(JoinedInputs(flow, self.inputs, plain), plain.scope, plain.overrides)

    # One step

    def _joined(
        self, flow: Flow, number: int, step: Step, deduplicates: bool, finds: Sequence[str]
    ) -> tuple[Flow, list[str]]:
        comparisons = [c for c in step.comparisons if self._is_direct(c)]
        # What is not compared by columns alone is checked on pairs, inexact equalities too.
        checks = [c.written for c in step.comparisons if c not in comparisons or not c.is_exact]
        probes = [f"$probe:{number}.{n}" for n in range(len(comparisons))]
        keys = [f"$build:{number}.{n}" for n in range(len(comparisons))]
        flow, may_fail = self._with_keys(
            flow, probes, [c.probe for c in comparisons], comparisons, self.matches
        )
        if may_fail and finds and not deduplicates:
            flow = _rejected_once(flow, finds)
        build = self._build(step, keys, comparisons)
        order = [f"$order:{number}.{n}" for n in range(len(build.order))]
        if deduplicates:
            build = _first_of_each(build, keys)
        condition = [
            f"{quoted(p)} {_OPERATORS[c.op]} {quoted(k)}"
            for p, c, k in zip(probes, comparisons, keys, strict=True)
        ]
        residuals, late = self._conditions(flow, [*step.residuals, *checks])
        condition += residuals
        if flow.has_rejects:
            condition.append(IS_KEPT)
        renamed = build.frame.select(
            [
                *((name, quoted(name)) for name in (*build.columns, *keys)),
                *((new, quoted(old)) for old, new in zip(build.order, order, strict=True)),
                *zip(place_columns(step.build), build.place, strict=True),
                (matched(step.build), "TRUE"),
            ]
        )
        self.matches = replace(self.matches, builds={**self.matches.builds, step.build: build})
        test = " AND ".join(condition or ["TRUE"])
        frame = flow.frame.join(renamed, test, is_small=build.is_small)
        is_ordered = flow.is_ordered and build.is_small and deduplicates
        joined = replace(flow, frame=frame, is_ordered=is_ordered)
        if late:
            joined = self._checked_pairs(joined, step, late, order)
        return joined, order

    def _is_direct(self, comparison: Comparison) -> bool:
        """Whether Spark can compare the two sides as columns."""
        is_tagged = representation(comparison.common).is_tagged
        return comparison.op is BinaryOp.EQUAL or not is_tagged

    def _with_keys(
        self,
        flow: Flow,
        names: Sequence[str],
        values: Sequence[typed.Expr],
        comparisons: Sequence[Comparison],
        matches: Matches,
    ) -> tuple[Flow, bool]:
        """The flow with what it is compared by, and whether keys may fail: those are rejected."""
        compiler = self.compiler(flow)
        columns: dict[str, str] = {}
        failures: list[str | None] = []
        for name, value, comparison in zip(names, values, comparisons, strict=True):
            sql = compiler.expression(value)
            failures.append(sql.fails)
            columns[name] = _comparable(compiler.scope, sql.text, value.type, comparison.common)
        fails = either(*failures)
        if fails:
            flow = mark(flow, fails, self._rejection(flow, compiler, values, matches))
        return flow.on_whole_frame(columns), fails is not None

    def _rejection(
        self,
        flow: Flow,
        compiler: Compiler,
        expressions: Sequence[typed.Expr],
        matches: Matches,
    ) -> str:
        return rejection(
            self.building,
            self.planned.unit,
            flow,
            compiler,
            read_expressions(expressions),
            lambda reads, known: matches.explaining(
                expressions_explainer(expressions, reads, known)
            ),
            more=matches.sql,
            expressions=expressions,
        )

    def _build(self, step: Step, keys: Sequence[str], comparisons: Sequence[Comparison]) -> Flow:
        """A build input with its keys; its rejected records are put aside."""
        flow = self.inputs[step.build]
        if flow.is_small and self._is_just_read(step.build):
            # In one partition, records need no shuffle to be compared with each other. Besides,
            # Spark would compute with records that it holds already while it still plans.
            flow = replace(flow, frame=flow.frame.in_one_part())
        flow = self._named(step.build, flow)
        alone = replace(self.matches, builds={})
        flow, _ = self._with_keys(flow, keys, [c.build for c in comparisons], comparisons, alone)
        if not flow.has_rejects:
            return flow
        if not flow.is_small:
            flow = replace(flow, frame=flow.frame.remember())
        self.rejected.append(flow)
        hidden = {name: each for name, each in flow.hidden.items() if name != REJECT}
        return replace(flow, frame=flow.frame.where_in_place(IS_KEPT), hidden=hidden)

    def _is_just_read(self, label: str) -> bool:
        """Whether an input has nothing computed yet."""
        (edge,) = (edge for edge in self.planned.unit.inputs if edge.label == label)
        return isinstance(self.building.plan.nodes[edge.upstream], PlannedSource)

    def _conditions(
        self, flow: Flow, expressions: Sequence[typed.Expr]
    ) -> tuple[list[str], list[typed.Expr]]:
        """The conditions that Spark's join can check itself, and the others."""
        direct: list[str] = []
        late: list[typed.Expr] = []
        for expression in expressions:
            compiler = self.compiler(flow)
            sql = compiler.is_true(expression)
            if sql.fails or compiler.scope.layers(sql.text):
                late.append(expression)
            else:
                direct.append(sql.text)
        return direct, late

    # Pairs

    def _checked_pairs(
        self, flow: Flow, step: Step, late: Sequence[typed.Expr], order: Sequence[str]
    ) -> Flow:
        """Pairs for which a condition does not hold are undone; the driver record stays once."""
        compiler = self.compiler(flow)
        present = f"{quoted(matched(step.build))} IS NOT NULL"
        tests: list[str] = []
        failures: list[str] = []
        for expression in late:
            sql = compiler.is_true(expression)
            if sql.fails:
                asked = " AND ".join([present, *tests])
                failures.append(f"({asked} AND {sql.fails})")
            tests.append(compiler.scope.bind(sql.text))
        holds = {_HOLDS: " AND ".join([present, *tests])}
        if failures:
            reject = self._rejection(flow, compiler, late, self.matches)
            flow = mark(flow, " OR ".join(failures), reject)
        flow = flow.on_whole_frame(holds)
        by = ", ".join(selection(flow.order))
        # A driver record that fails with one find is rejected once, and its other finds go.
        failed_first = [IS_KEPT] if flow.has_rejects else []
        order_by = ", ".join([*failed_first, f"{quoted(_HOLDS)} DESC", *selection(order)])
        added = {_NUMBER: f"row_number() OVER (PARTITION BY {by} ORDER BY {order_by})"}
        stays = quoted(_HOLDS)
        if failures:
            added[_FAILS] = f"max(NOT ({IS_KEPT})) OVER (PARTITION BY {by})"
            stays = f"(NOT {quoted(_FAILS)} AND {quoted(_HOLDS)})"
        frame = flow.frame.extend(added.items()).where(f"{quoted(_NUMBER)} = 1 OR {stays}")
        dropped = {
            *(column_of(step.build, name) for name in self.inputs[step.build].columns),
            *order,
            *place_columns(step.build),
            matched(step.build),
        }
        kept = [name for name in frame.names if name not in (_HOLDS, _NUMBER, _FAILS)]
        frame = frame.select(_null_unless(quoted(_HOLDS), kept, dropped))
        return replace(flow, frame=frame, is_ordered=False)

    def _settled(self, found: Joined, only_first: bool) -> Joined:
        """Driver records with their complete finds; one without any stays once, alone."""
        flow = found.flow
        complete = found.is_match
        by = ", ".join(selection(flow.order))
        order = ", ".join([f"({complete}) DESC", *selection(found.order)])
        frame = flow.frame
        if not found.is_unique:
            number = f"row_number() OVER (PARTITION BY {by} ORDER BY {order})"
            several = "FALSE" if only_first else f"({complete})"
            stays = flow.unless_rejected(f"({quoted(_NUMBER)} = 1 OR {several})")
            frame = frame.extend([(_NUMBER, number)]).where(stays).drop(_NUMBER)
        if len(found.builds) > 1:
            of_builds = {
                *(column_of(b, name) for b in found.builds for name in self.inputs[b].columns),
                *(name for build in found.builds for name in place_columns(build)),
                *map(matched, found.builds),
            }
            frame = frame.select(_null_unless(complete, frame.names, of_builds))
        return replace(
            found,
            flow=replace(flow, frame=frame, is_ordered=flow.is_ordered and found.is_unique),
            is_unique=found.is_unique or only_first,
        )


def _null_unless(test: str, names: Iterable[str], nulled: Set[str]) -> list[tuple[str, str]]:
    """All columns; some of them null where a test does not hold."""
    return [
        (name, f"if({test}, {quoted(name)}, NULL)" if name in nulled else quoted(name))
        for name in names
    ]


def _comparable(scope: Scope, text: str, own: Type, common: Type) -> str:
    """A side of a comparison as a column: nothing equals a NaN or is less or more."""
    value = recast(scope, text, own, common)
    form = representation(common)
    if form.is_tagged:
        value = scope.bind(identity_sql(scope, value, common))
        return f"nullif({value}, 'NaN')" if common.maybe(Kind.FLOAT) else value
    if form.kind is Kind.FLOAT:
        value = scope.bind(value)
        return f"if(isnan({value}), NULL, {value})"
    return identity_sql(scope, value, common)


def _first_of_each(flow: Flow, keys: Sequence[str]) -> Flow:
    """Of build records with equal keys the first in order."""
    by, order = ", ".join(selection(keys)), ", ".join(selection(flow.order))
    number = f"row_number() OVER (PARTITION BY {by} ORDER BY {order})"
    first = flow.frame.extend([(_NUMBER, number)]).where(f"{quoted(_NUMBER)} = 1")
    return replace(flow, frame=first)


def _rejected_once(flow: Flow, finds: Sequence[str]) -> Flow:
    """A driver record that fails with one of its finds is rejected once; its other finds go."""
    by, order = ", ".join(selection(flow.order)), ", ".join(selection(finds))
    numbered = flow.frame.extend(
        [
            (_NUMBER, f"row_number() OVER (PARTITION BY {by} ORDER BY {IS_KEPT}, {order})"),
            (_FAILS, f"max(NOT ({IS_KEPT})) OVER (PARTITION BY {by})"),
        ]
    )
    kept = numbered.where(f"{quoted(_NUMBER)} = 1 OR NOT {quoted(_FAILS)}")
    return replace(flow, frame=kept.drop(_NUMBER, _FAILS), is_ordered=False)
