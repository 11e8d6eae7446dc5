"""Folds as window functions: what the records up to each one have left in a variable.

All is computed as if no value failed by what other records have left: then it is what single steps
would give. Where one does, the record demands these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.check import typed
from clinker.cxl.sql.aggregates import AggregateSql
from clinker.cxl.sql.operand import Operand, Sql
from clinker.cxl.types import Kind
from clinker.engine.expressions import Compiler, Scope
from clinker.engine.expressions.conditions import both, either
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import unquoted
from clinker.engine.nodes.partials import Partials, wrong_kind
from clinker.plan.analyses.folds import Fold, FoldKind

_ADDING = {FoldKind.SUM: "try_add", FoldKind.DIFFERENCE: "try_subtract"}
_SIGN = {FoldKind.SUM: "+", FoldKind.DIFFERENCE: "-"}
_EXTREME = {
    FoldKind.LARGEST: ("max", ">"),
    FoldKind.LARGER: ("max", ">"),
    FoldKind.SMALLEST: ("min", "<"),
    FoldKind.SMALLER: ("min", "<"),
}


@dataclass
class Elements:
    """What every record adds to a fold, as SQL over its own columns."""

    fold: Fold
    counts: str
    """Whether it adds anything."""
    value: str
    """What it adds; null if it adds nothing."""
    start: str
    """The value before the first record."""


class Windows:
    """The window functions of a state node, over the records of a slot in their order."""

    def __init__(self, scope: Scope, order: Sequence[str], *, is_wide: bool) -> None:
        self.scope = scope
        self.partials = Partials(scope, scope, order, is_wide=is_wide)
        self._layers: list[dict[str, str]] = [{}, {}]
        """Functions over columns of records, and functions over these."""

    # Aggregates

    def aggregate(self, call: typed.Aggregate, args: Sequence[Operand]) -> AggregateSql:
        assert isinstance(call.function, Aggregate)
        found = self.partials.add(call.function, args, call.type)
        return AggregateSql(self.scope.bind(found.text), found.fails, found.needs_wide)

    # Folds

    def fold(self, elements: Elements) -> Sql:
        """The value that a record leaves, and where it fails."""
        sql = self._fold(elements)
        if not elements.fold.null_spreads:
            return sql
        nulls = self._over(f"count_if({elements.counts} AND {elements.value} IS NULL)")
        return Sql(f"if({nulls} > 0, NULL, {sql.text})", sql.fails)

    def _fold(self, elements: Elements) -> Sql:
        value, start = elements.value, elements.start
        match elements.fold.kind:
            case FoldKind.SUM | FoldKind.DIFFERENCE:
                is_float = elements.fold.element.type.only(Kind.FLOAT)
                return self._float_sum(elements) if is_float else self._int_sum(elements)
            case FoldKind.FIRST:
                return Sql(f"coalesce({start}, {self._over(f'first_value({value}, TRUE)')})")
            case FoldKind.LAST:
                return Sql(f"coalesce({self._over(f'last_value({value}, TRUE)')}, {start})")
            case kind:
                function, beats = _EXTREME[kind]
                if elements.fold.element.type.only(Kind.FLOAT):
                    value = self.scope.bind(f"if(isnan({value}), NULL, {value})")
                best = self._over(f"{function}({value})")
                return Sql(f"if({best} {beats} {start}, {best}, {start})")

    def _int_sum(self, elements: Elements) -> Sql:
        total = self._over(f"try_sum({elements.value})")
        count = self._over(f"count({elements.value})")
        adding = _ADDING[elements.fold.kind]
        value = self.scope.bind(
            f"if({count} = 0, {elements.start}, {adding}({elements.start}, {total}))"
        )
        return Sql(value, f"({value} IS NULL AND {elements.start} IS NOT NULL)")

    def _float_sum(self, elements: Elements) -> Sql:
        """The sum of Floats in the order of records: each of them is rounded on the way."""
        count = self._over(f"count({elements.value})")
        added = elements.value if elements.fold.kind is FoldKind.SUM else f"(-{elements.value})"
        first = f"({elements.start} {_SIGN[elements.fold.kind]} {elements.value})"
        total = self._over(f"sum(if({count} = 1, {first}, {added}))", at=1)
        return Sql(f"if({count} = 0, {elements.start}, {total})")

    def _over(self, function: str, at: int = 0) -> str:
        names = self._layers[at]
        return names.setdefault(function, f"`$fold{at}_{len(names)}`")

    def added_to(self, flow: Flow, over: str) -> Flow:
        """The flow on a frame that has the results of all functions."""
        layers = [{**self._layers[0], **self._aggregates}, self._layers[1]]
        flow = flow.prepared(over, *(text for layer in layers for text in layer))
        frame = flow.frame
        for layer in layers:
            frame = frame.extend(
                (unquoted(name), f"{text} OVER ({over})") for text, name in layer.items()
            )
        return replace(flow, frame=frame, is_ordered=False)

    @property
    def _aggregates(self) -> dict[str, str]:
        return {text: name for name, text in self.partials.functions.items()}


@dataclass
class Early:
    """What is known of each record alone: the parts of assignments, and where they fail."""

    compiler: Compiler
    failures: list[str] = field(default_factory=list)

    def operand(self, expr: typed.Expr, *guards: str) -> Operand:
        """A value; its failure counts where the guards hold."""
        operand, fails = self.compiler.operand(expr)
        self.fail(fails, *guards)
        return operand

    def fail(self, fails: str | None, *guards: str) -> None:
        reached = both(*guards, fails) if fails else None
        if reached:
            self.failures.append(reached)

    @property
    def fails(self) -> str | None:
        return either(*self.failures)

    def elements(self, fold: Fold, start: str) -> Elements:
        """What records add to a fold that begins with a value."""
        scope = self.compiler.scope
        guards: list[str] = []
        for condition, wanted in fold.guards:
            test = self.compiler.is_true(condition)
            self.fail(test.fails, *guards)
            holds = scope.bind(test.text)
            guards.append(holds if wanted else f"(NOT {holds})")
        counts = scope.bind(both(*guards) or "TRUE")
        element = self.operand(fold.element, *guards)
        value = element.text if not guards else scope.bind(f"if({counts}, {element.text}, NULL)")
        if fold.instead_of_null:
            instead = self.compiler.expression(fold.instead_of_null).text
            start = scope.bind(f"coalesce({start}, {instead})")
        return Elements(fold, counts, value, start)

    def arguments(self, call: typed.Aggregate) -> list[Operand]:
        """The arguments of an aggregate."""
        operands: list[Operand] = []
        for position, arg in enumerate(call.args):
            operand = self.operand(arg)
            bound = Operand(self.compiler.scope.bind(operand.text), arg.type)
            self.fail(wrong_kind(bound, call.function.param(position).type))
            operands.append(bound)
        return operands
