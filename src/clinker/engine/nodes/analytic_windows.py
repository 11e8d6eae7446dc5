"""Analytic windows: what window functions give for each record of a flow.

Every function is made of Spark's window functions over columns of single records. A record with a
failing argument fails all records whose frames cover it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from clinker.cxl.builtins.windows import Shape, WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.failure import FailureKind
from clinker.cxl.run.evaluate import Results
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey
from clinker.cxl.sql.aggregates import AggregateSql, ExactSum
from clinker.cxl.sql.exact_sums import sum_of_floats
from clinker.cxl.sql.operand import Operand, Sql
from clinker.cxl.sql.tagged import number_sql
from clinker.cxl.types import ANY, Kind, Type
from clinker.cxl.values import Value
from clinker.engine.expressions import TAGGED, Representation, Scope, convert, representation
from clinker.engine.expressions.conditions import either
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import Flow
from clinker.engine.flow.frame import Frame, quoted, selection, unquoted
from clinker.engine.flow.identity import identity_sql, order_sql
from clinker.engine.flow.layers import with_layers
from clinker.engine.nodes.aggregate import kinds_met
from clinker.engine.nodes.partials import wrong_kind
from clinker.engine.rejects.mark import (
    demand_sql,
    inputs_array_sql,
    mark,
    read_expressions,
    reads_of,
)
from clinker.engine.rejects.sites import Demand
from clinker.engine.rejects.window_reasons import (
    Argument,
    on_other_records,
    restored,
    takes_only_some,
)
from clinker.frozen import frozen
from clinker.plan.analyses.windows import Window, window_calls
from clinker.plan.nodes import PlannedTransform

_PLACE, _KEY, _LOOKUP, _FOUND = "$place", "$window_key", "$lookup", "$found"
_RESULT, _HOW, _WIDE, _EMPTY = "$result", "$how", "$needs_wide", "$empty"

_DAY = 86_400_000_000
"""Microseconds."""
_FARTHEST_ROW = 10**9
_LONGEST_RANGE = 4 * 10**18


@frozen(eq=False)
class Windowed:
    """A flow in which window functions are computed."""

    flow: Flow
    results: Mapping[typed.Expr, Sql]
    """The calls, over columns of the flow's frame that are not among its names."""
    arguments: Sequence[tuple[typed.Window, Argument | None]]

    @property
    def read(self) -> list[tuple[str, Representation]]:
        """What rejected records must carry besides what they read: two values for each call."""
        found: list[tuple[str, Representation]] = []
        for number, (call, _) in enumerate(self.arguments):
            found.append((quoted(f"{_RESULT}{number}"), representation(call.type)))
            found.append((quoted(f"{_HOW}{number}"), TAGGED))
        return found

    def restored(self, values: Sequence[Value]) -> Results:
        """The results for a record that carries these values."""
        pairs = zip(values[::2], values[1::2], strict=True)
        return {
            call: restored(call, argument, value, how)
            for (call, argument), (value, how) in zip(self.arguments, pairs, strict=True)
        }


def windowed(
    building: Building, planned: PlannedTransform, flow: Flow, looked_up: Flow | None = None
) -> Windowed:
    """The flow with the results of the transform's window functions.

    `looked_up` are the records of the source that the window covers, if it is another one.
    """
    window = building.plan.windows[planned.name]
    flow = flow.built()
    calls = list(dict.fromkeys(window_calls(planned.program)))
    if not calls:
        return Windowed(flow, {}, ())
    if window.lookup is None:
        covered = _Covered(building, planned, window, flow)
        results = [covered.add(call) for call in calls]
        frame = covered.over_frames(results)
    else:
        assert looked_up
        by = list(zip(window.lookup, window.spec.group_by, strict=True))
        matching = {key: flow.columns.get(own, ANY) for own, key in by}
        covered = _Covered(building, planned, window, looked_up.without_rejects().built(), matching)
        results = [covered.add(call) for call in calls]
        frame = _looked_up(flow, covered, by, results)
    return Windowed(
        _asking_for_wide(replace(flow.standing_on(frame), is_ordered=False)),
        {
            call: Sql(
                quoted(f"{_RESULT}{number}"),
                f"({quoted(f'{_HOW}{number}')} IS NOT NULL)" if call.fails else None,
            )
            for number, call in enumerate(calls)
        },
        list(zip(calls, covered.arguments, strict=True)),
    )


def _asking_for_wide(flow: Flow) -> Flow:
    """The flow in which records ask for wide sums if others do not suffice."""
    if _WIDE not in flow.frame.names:
        return flow
    return mark(flow, quoted(_WIDE), demand_sql(Demand.WIDE_SUMS))


@frozen(eq=False)
class _Result:
    """A call over the functions of its frame."""

    call: typed.Window
    sql: AggregateSql
    how: str
    """How it failed, as a tagged value, null if it did not."""


class _Covered:
    """The records that a window covers, and what its functions need of them."""

    def __init__(
        self,
        building: Building,
        planned: PlannedTransform,
        window: Window,
        flow: Flow,
        matching: Mapping[str, Type] | None = None,
    ) -> None:
        self.building = building
        self.unit = planned.unit
        self.spec = window.spec
        self.flow = flow
        self.compiler = building.compiler(planned.unit, flow)
        self.functions = _Functions(
            self.compiler.scope, is_wide=Demand.WIDE_SUMS in building.demands
        )
        self.arguments: list[Argument | None] = []
        self.keys = [self._key(name, matching or {}) for name in self.spec.group_by]
        self.sorting = [part for key in self.spec.sort_by for part in self._sorted(key)]

    @property
    def scope(self) -> Scope:
        return self.compiler.scope

    def _key(self, name: str, matching: Mapping[str, Type]) -> str:
        type_ = self.type_of(name)
        text = _comparable(self.scope, self._field(name), type_, matching.get(name, type_))
        return self.scope.bind(text)

    def _field(self, name: str) -> str:
        return self.scope.bind(self.compiler.inputs.field(None, name))

    def type_of(self, name: str) -> Type:
        return self.flow.columns.get(name, ANY)

    def _sorted(self, key: SortKey) -> list[str]:
        parts = order_sql(self._field(key.field), self.type_of(key.field))
        return [f"{self.scope.bind(part)} {_direction(key)}" for part in parts]

    # Calls

    def add(self, call: typed.Window) -> _Result:
        """The call over the functions that it adds to those asked for."""
        function = call.function
        assert isinstance(function, WindowFunction)
        if call.argument is None:
            self.arguments.append(None)
            return _Result(call, function.sql(self._call(call, ())), "CAST(NULL AS STRING)")
        argument = on_other_records(call.argument)
        operand, fails = self.compiler.operand(argument)
        if takes_only_some(call):
            fails = either(fails, wrong_kind(operand, function.param(0).type))
        how: list[str] = []
        self.arguments.append(None)
        if fails:
            failed = self._failed(call, argument, fails)
            operand = Operand(
                self.scope.bind(f"if({failed} IS NULL, {operand.text}, NULL)"), argument.type
            )
            how.append(self._failed_in_frame(call, failed))
        sql = function.sql(self._call(call, (operand,)))
        if sql.fails:
            kinds = "0"
            if FailureKind.AGGREGATE_TYPE in function.fails:
                met = kinds_met(operand.text, operand.type)
                kinds = self.functions.over_group(f"bit_or({met})")
            how.append(f"CAST(if({sql.fails}, {kinds}, NULL) AS STRING)")
        return _Result(call, sql, f"coalesce({', '.join(how)})" if how else "CAST(NULL AS STRING)")

    def _call(self, call: typed.Window, args: tuple[Operand, ...]) -> _Call:
        return _Call(self.functions, args, call.type, call.offset or 0)

    def _failed(self, call: typed.Window, argument: typed.Expr, fails: str) -> str:
        """What the argument read of a record that it fails on; null for others."""
        read = read_expressions([argument])
        known = self.building.surroundings(self.unit, [argument])
        self.arguments[-1] = Argument(call, reads_of(read), known)
        inputs = inputs_array_sql(self.compiler, read)
        return self.scope.bind(f"if(({fails}) <=> TRUE, {inputs}, NULL)")

    def _failed_in_frame(self, call: typed.Window, failed: str) -> str:
        """The same of the first record that fails the call, null if none does."""
        function = call.function
        assert isinstance(function, WindowFunction)
        if function.shape in (Shape.POSITION, Shape.OFFSET):
            return function.sql(self._call(call, (Operand(failed, ANY),))).text
        place = f"if({failed} IS NULL, NULL, {quoted(_PLACE)})"
        return self.functions.over_group(f"min_by({failed}, {place})")

    # Frames

    def over_frames(self, results: Sequence[_Result]) -> Frame:
        """The flow with the results of all calls."""
        functions = self.functions
        partition = [*self.keys]
        if self.flow.has_rejects:
            partition.append(self.scope.bind(self.flow.is_kept))
        within = f"PARTITION BY {', '.join(partition)}" if partition else ""
        in_order = f"{within} ORDER BY {', '.join(self._in_order)}"
        frame_of = {
            "in_partition": in_order,
            "among_peers": f"{within} ORDER BY {', '.join(self._peers)}",
            "over_group": self._frame(within, in_order),
        }
        texts = {
            unquoted(name): f"{text} OVER ({frame_of[kind]})"
            for (kind, text), name in functions.names.items()
        }
        frame = self._placed(in_order, [*partition, *frame_of.values(), *texts.values()])
        frame = frame.extend(texts.items()).keep((*self.flow.names, _PLACE, *texts))
        return _with_results(frame, self.flow.names, functions, results)

    def _placed(self, in_order: str, used: Sequence[str]) -> Frame:
        """The records with all that functions use of them, numbered in their partition."""
        frame = with_layers(self.flow.frame, self.scope.layers(*used))
        return frame.extend([(_PLACE, f"CAST(row_number() OVER ({in_order}) AS BIGINT)")])

    @property
    def _in_order(self) -> list[str]:
        return [*self.sorting, *selection(self.flow.order)]

    @property
    def _peers(self) -> list[str]:
        """How records are ranked; NaN is equal to nothing, itself included."""
        floats = [
            key.field for key in self.spec.sort_by if self.type_of(key.field).maybe(Kind.FLOAT)
        ]
        numbers = [_as_double(self._field(name), self.type_of(name)) for name in floats]
        unequal = [f"if(isnan({number}), {quoted(_PLACE)}, 0)" for number in numbers]
        return [*self.sorting, *unequal] or ["TRUE"]

    def _frame(self, within: str, in_order: str) -> str:
        frame = self.spec.frame
        if frame.unit is FrameUnit.RANGE and (frame.start, frame.end) != (None, None):
            (key,) = self.spec.sort_by
            measured, bounds = _measured(self._field(key.field), self.type_of(key.field), frame)
            by = f"{self.scope.bind(measured)} {_direction(key)}"
            return f"{within} ORDER BY {by} RANGE BETWEEN {bounds}"
        start = _row_bound(frame.start, "PRECEDING")
        return f"{in_order} ROWS BETWEEN {start} AND {_row_bound(frame.end, 'FOLLOWING')}"

    # Groups

    def grouped(self, results: Sequence[_Result]) -> tuple[Frame, Frame]:
        """The results for each partition as a whole, and those over no records."""
        functions = self.functions
        assert all(kind == "over_group" for kind, _ in functions.names)
        aggregates = [(unquoted(name), text) for (_, text), name in functions.names.items()]
        keys = self.keys
        within = f"PARTITION BY {', '.join(keys)}" if keys else ""
        in_order = f"{within} ORDER BY {', '.join(self._in_order)}"
        frame = self._placed(in_order, [*keys, in_order, *(text for _, text in aggregates)])
        names = [f"{_KEY}{n}" for n in range(len(keys))]
        frame = frame.extend(zip(names, keys, strict=True))
        aggregates = aggregates or [("$window0", "count(1)")]
        groups = frame.group(names, aggregates)
        nothing = frame.where("FALSE").group([], aggregates)
        return (
            _with_results(groups, names, functions, results),
            _with_results(nothing, (), functions, results),
        )


def _direction(key: SortKey) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _row_bound(offset: float | None, open_side: str) -> str:
    if offset is None:
        return f"UNBOUNDED {open_side}"
    if offset == 0:
        return "CURRENT ROW"
    count = min(abs(int(offset)), _FARTHEST_ROW)
    return f"{count} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


def _measured(text: str, type_: Type, frame: FrameSpec) -> tuple[str, str]:
    """A sort key as a number, and the bounds of a frame in its measure."""
    kinds = type_.kinds & ~Kind.NULL
    if kinds == Kind.INT:
        return f"CAST({text} AS DECIMAL(20, 0))", _range_bounds(frame, 1, "DECIMAL(20, 0)")
    if kinds == Kind.FLOAT:
        return text, _range_bounds(frame, None, "DOUBLE")
    if kinds in (Kind.DATE, Kind.DATETIME):
        micros = f"unix_micros(CAST({text} AS TIMESTAMP))"
        return micros, _range_bounds(frame, _DAY, "BIGINT")
    moment = f"TRY_CAST(substr({text}, 2) AS TIMESTAMP_NTZ)"
    days = f"unix_micros(CAST({moment} AS TIMESTAMP)) / {_DAY}D"
    number = f"if(startswith({text}, '@'), {days}, {_as_double(text, type_)})"
    return number, _range_bounds(frame, None, "DOUBLE")


def _as_double(text: str, type_: Type) -> str:
    if not representation(type_).is_tagged:
        return text
    return f"TRY_CAST(if({text} RLIKE '^[-#0-9IN]', {number_sql(text)}, NULL) AS DOUBLE)"


def _range_bounds(frame: FrameSpec, unit: int | None, ddl: str) -> str:
    """The bounds of a frame by range; without a unit they need not be whole."""

    def bound(offset: float | None, open_side: str) -> str:
        if offset is None:
            return f"UNBOUNDED {open_side}"
        distance = Decimal(str(offset))
        if unit:
            # A bound between two whole distances excludes what lies outside of it.
            inwards = ROUND_CEILING if open_side == "PRECEDING" else ROUND_FLOOR
            distance = (distance * unit).to_integral_value(inwards)
            distance = max(Decimal(-_LONGEST_RANGE), min(distance, Decimal(_LONGEST_RANGE)))
        if distance == 0:
            return "CURRENT ROW"
        side = "PRECEDING" if distance < 0 else "FOLLOWING"
        return f"CAST('{abs(distance):f}' AS {ddl}) {side}"

    return f"{bound(frame.start, 'PRECEDING')} AND {bound(frame.end, 'FOLLOWING')}"


def _with_results(
    frame: Frame, names: Sequence[str], functions: _Functions, results: Sequence[_Result]
) -> Frame:
    """The results, made of the functions in the frame, beside these of its columns."""
    columns = {name: quoted(name) for name in names}
    for number, result in enumerate(results):
        columns[f"{_RESULT}{number}"] = result.sql.text
        columns[f"{_HOW}{number}"] = result.how
    wide = [result.sql.needs_wide for result in results if result.sql.needs_wide]
    if wide:
        columns[_WIDE] = f"coalesce({' OR '.join(wide)}, FALSE)"
    frame = with_layers(frame, functions.results.layers(*columns.values()))
    return frame.select(columns.items())


def _looked_up(
    flow: Flow, covered: _Covered, by: Sequence[tuple[str, str]], results: Sequence[_Result]
) -> Frame:
    """The flow with the results over those records of another source that each record finds.

    `by` are its fields and the key of the other source that each of them has to equal.
    """
    compiler = covered.building.compiler(covered.unit, flow)
    lookups: dict[str, str] = {}
    for number, (own, key) in enumerate(by):
        text = compiler.inputs.field(None, own)
        type_, other = flow.columns.get(own, ANY), covered.type_of(key)
        lookups[f"{_LOOKUP}{number}"] = _comparable(compiler.scope, text, type_, other)
    frame = flow.selected({**{name: flow.text(name) for name in flow.names}, **lookups})
    groups, nothing = covered.grouped(results)
    found = groups.extend([(_FOUND, "TRUE")])
    empty = nothing.select((_EMPTY + name, quoted(name)) for name in nothing.names)
    tests = [f"{quoted(f'{_LOOKUP}{n}')} <=> {quoted(f'{_KEY}{n}')}" for n in range(len(by))]
    joined = frame.join(found, " AND ".join(tests) or "TRUE").cross(empty)
    chosen = [
        (name, f"if({quoted(_FOUND)}, {quoted(name)}, {quoted(_EMPTY + name)})")
        for name in nothing.names
    ]
    return joined.select([*((name, quoted(name)) for name in flow.names), *chosen])


def _comparable(scope: Scope, text: str, type_: Type, other: Type) -> str:
    """The identity of a value in a form that it shares with values of the other type."""
    form = representation(type_)
    if form == representation(other):
        return identity_sql(scope, text, type_)
    return identity_sql(scope, convert(scope, text, form, TAGGED), ANY)


@dataclass
class _Functions:
    """The window functions that some calls over the same window are made of."""

    records: Scope
    is_wide: bool
    results: Scope = field(default_factory=Scope)
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def over_group(self, text: str) -> str:
        return self.name("over_group", text)

    def name(self, kind: str, text: str) -> str:
        return self.names.setdefault((kind, text), f"`$window{len(self.names) + 1}`")


@frozen
class _Call:
    """One window function among others."""

    functions: _Functions
    args: tuple[Operand, ...]
    type: Type
    offset: int

    @property
    def order(self) -> tuple[str, ...]:
        return (quoted(_PLACE),)

    @property
    def is_wide(self) -> bool:
        return self.functions.is_wide

    def per_record(self, text: str) -> str:
        return self.functions.records.bind(text)

    def over_group(self, text: str) -> str:
        return self.functions.over_group(text)

    def in_partition(self, text: str) -> str:
        return self.functions.name("in_partition", text)

    def among_peers(self, text: str) -> str:
        return self.functions.name("among_peers", text)

    def identity(self, value: Operand) -> str:
        scope = self.functions.records
        return scope.bind(identity_sql(scope, value.text, value.type))

    def bind(self, text: str) -> str:
        return self.functions.results.bind(text)

    def sum_of(self, number: str) -> ExactSum:
        return sum_of_floats(self, number)
