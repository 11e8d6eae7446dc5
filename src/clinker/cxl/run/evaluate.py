"""The interpreter: the executable definition of the language.

A typed program is turned into Python closures once and then run on any number of records. Nothing
but a `Failure` leaves an evaluation.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from clinker.cxl.builtins.declare import ClosureParam, Method, Param
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure, FailureKind, conversion_failed
from clinker.cxl.run import arithmetic, strftime
from clinker.cxl.syntax.ast import BinaryOp, LogicOp, TraceLevel, UnaryOp
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import (
    Value,
    identity,
    kind_of,
    midnight,
    same,
    text_of,
    type_mismatch,
    unwritten,
)
from clinker.frozen import frozen

DEFAULT_MAX_EXPANSION = 10_000

Record: TypeAlias = Mapping[str, Value]
System: TypeAlias = Mapping[tuple[str, tuple[str, ...]], Value]
"""Values of system variables, by namespace and path."""


Results: TypeAlias = Mapping[typed.Expr, "Value | Failure"]
"""Values of aggregates and window functions, which are computed before the program runs."""


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC).replace(tzinfo=None)


def _ignore(_level: TraceLevel, _message: str) -> None:
    pass


@frozen
class Surroundings:
    """What a program reaches besides its record."""

    system: System = field(default_factory=dict)
    clock: Callable[[], dt.datetime] = utc_now
    trace: Callable[[TraceLevel, str], None] = _ignore
    max_expansion: int = DEFAULT_MAX_EXPANSION


class Frame:
    """The state of one evaluation: a record, its local values, its metadata."""

    __slots__ = ("inputs", "locals", "meta", "record", "results", "surroundings")

    def __init__(
        self,
        record: Record,
        surroundings: Surroundings,
        *,
        inputs: Mapping[str, Record] | None = None,
        meta: Record | None = None,
        results: Results | None = None,
    ) -> None:
        self.record = record
        self.inputs = inputs or {}
        self.surroundings = surroundings
        self.locals: dict[typed.Symbol, Value] = {}
        self.meta: dict[str, Value] = dict(meta or {})
        self.results = results or {}


Evaluate: TypeAlias = Callable[[Frame], Value]


# Expressions


def compile_expression(expr: typed.Expr) -> Evaluate:
    """The expression as a function of a frame."""
    evaluate = _compile(expr)
    if not expr.own_fails:
        return evaluate

    def located(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except Failure as failure:
            failure.location = failure.location or expr.location
            raise

    return located


def _compile(expr: typed.Expr) -> Evaluate:
    match expr:
        case typed.Literal(value=value):
            return lambda frame: value
        case typed.Field():
            return _compile_field(expr)
        case typed.Local(symbol=symbol):
            return _compile_local(symbol)
        case typed.System():
            return _compile_system(expr)
        case typed.Now():
            return lambda frame: frame.surroundings.clock()
        case typed.Unary():
            return _compile_unary(expr)
        case typed.Binary(op=BinaryOp.COALESCE):
            return _compile_coalesce(expr)
        case typed.Binary():
            return _compile_binary(expr)
        case typed.Logic():
            return _compile_logic(expr)
        case typed.Promote():
            return _compile_promote(expr)
        case typed.If():
            return _compile_conditional(expr)
        case typed.Match():
            return _compile_match(expr)
        case typed.Index():
            return _compile_index(expr)
        case typed.Call():
            return _compile_call(expr)
        case typed.Inline():
            return _compile_inline(expr)
        case typed.ArrayLiteral(items=items):
            evaluators = [compile_expression(item) for item in items]
            return lambda frame: [evaluate(frame) for evaluate in evaluators]
        case typed.MapLiteral(entries=entries):
            pairs = [(key, compile_expression(value)) for key, value in entries]
            return lambda frame: {key: evaluate(frame) for key, evaluate in pairs}
        case typed.Aggregate() | typed.Window():
            return _precomputed(expr)
    raise AssertionError(f"no evaluation for {type(expr).__name__}")


def _precomputed(expr: typed.Expr) -> Evaluate:
    def evaluate(frame: Frame) -> Value:
        value = frame.results[expr]
        if isinstance(value, Failure):
            raise value
        return value

    return evaluate


def _compile_field(expr: typed.Field) -> Evaluate:
    name, qualifier = expr.name, expr.qualifier
    if qualifier is None:
        return lambda frame: frame.record.get(name)
    return lambda frame: frame.inputs[qualifier].get(name)


def _compile_local(symbol: typed.Symbol) -> Evaluate:
    definition = symbol.definition
    if definition is None:
        return lambda frame: frame.locals[symbol]
    compiled: list[Evaluate] = []

    def evaluate(frame: Frame) -> Value:
        # On a record of a window or group the definition has not run yet: run it when needed.
        if symbol not in frame.locals:
            if not compiled:
                compiled.append(compile_expression(definition))
            frame.locals[symbol] = compiled[0](frame)
        return frame.locals[symbol]

    return evaluate


def _compile_system(expr: typed.System) -> Evaluate:
    if expr.namespace == "meta":
        name = expr.path[0]
        return lambda frame: frame.meta.get(name)
    key = (expr.namespace, expr.path)
    return lambda frame: frame.surroundings.system.get(key)


def _compile_unary(expr: typed.Unary) -> Evaluate:
    operand = compile_expression(expr.operand)
    apply = arithmetic.negate if expr.op is UnaryOp.NEGATE else _negate_bool

    def evaluate(frame: Frame) -> Value:
        value = operand(frame)
        return None if value is None else apply(value)

    return evaluate


def _negate_bool(value: Value) -> Value:
    if isinstance(value, bool):
        return not value
    raise type_mismatch("'not'", "Bool", value)


def _compile_binary(expr: typed.Binary) -> Evaluate:
    left, right = compile_expression(expr.left), compile_expression(expr.right)
    apply = arithmetic.BINARY[expr.op]

    def evaluate(frame: Frame) -> Value:
        a, b = left(frame), right(frame)
        return None if a is None or b is None else apply(a, b)

    return evaluate


def _compile_coalesce(expr: typed.Binary) -> Evaluate:
    left, right = compile_expression(expr.left), compile_expression(expr.right)

    def evaluate(frame: Frame) -> Value:
        value = left(frame)
        return right(frame) if value is None else value

    return evaluate


def _compile_logic(expr: typed.Logic) -> Evaluate:
    operands = [compile_expression(operand) for operand in expr.operands]
    decisive = expr.op is LogicOp.OR

    def evaluate(frame: Frame) -> Value:
        result: bool | None = not decisive
        for operand in operands:
            value = operand(frame)
            if value is decisive:
                return decisive
            if value is None:
                result = None
            elif not isinstance(value, bool):
                raise type_mismatch(f"'{expr.op}'", "Bool", value)
        return result

    return evaluate


def _compile_promote(expr: typed.Promote) -> Evaluate:
    operand = compile_expression(expr.operand)

    def evaluate(frame: Frame) -> Value:
        value = operand(frame)
        if isinstance(value, int):
            return float(value)
        return midnight(value) if isinstance(value, dt.date) else value

    return evaluate


def _compile_conditional(expr: typed.If) -> Evaluate:
    condition, then = compile_expression(expr.condition), compile_expression(expr.then)
    otherwise = compile_expression(expr.otherwise) if expr.otherwise else _null
    return lambda frame: then(frame) if condition(frame) is True else otherwise(frame)


def _null(_: Frame) -> Value:
    return None


def _compile_match(expr: typed.Match) -> Evaluate:
    subject = compile_expression(expr.subject) if expr.subject else None
    arms = [
        (compile_expression(pattern) if pattern else None, compile_expression(value))
        for pattern, value in expr.arms
    ]

    def evaluate(frame: Frame) -> Value:
        wanted = subject(frame) if subject else True
        for pattern, value in arms:
            if pattern is None:
                return value(frame)
            matched = pattern(frame)
            if matched is True if subject is None else same(wanted, matched):
                return value(frame)
        return None

    return evaluate


def _compile_index(expr: typed.Index) -> Evaluate:
    container, index = compile_expression(expr.object), compile_expression(expr.index)

    def evaluate(frame: Frame) -> Value:
        holder = container(frame)
        if holder is None:
            return None
        key = index(frame)
        if isinstance(holder, list) and isinstance(key, int) and not isinstance(key, bool):
            return holder[key] if 0 <= key < len(holder) else None
        if isinstance(holder, dict) and isinstance(key, str):
            return holder.get(key)
        return None

    return evaluate


def _compile_inline(expr: typed.Inline) -> Evaluate:
    bindings = [(symbol, compile_expression(value)) for symbol, value in expr.bindings]
    body = compile_expression(expr.body)

    def evaluate(frame: Frame) -> Value:
        for symbol, value in bindings:
            frame.locals[symbol] = value(frame)
        try:
            return body(frame)
        except Failure as failure:
            failure.callers.append(expr.location)
            raise

    return evaluate


def _compile_call(expr: typed.Call) -> Evaluate:
    method = expr.method
    receiver = _compile_receiver(expr.receiver, method)
    args = [_compile_argument(arg, method, method.param(i)) for i, arg in enumerate(expr.args)]
    params = [method.param(i) for i in range(len(args))]
    function = partial(method.call, names=expr.names) if method.takes_names else method.call
    takes_null = method.takes_null

    def evaluate(frame: Frame) -> Value:
        value = receiver(frame)
        if value is None and not takes_null:
            return None
        values: list[object] = [value]
        for param, arg in zip(params, args, strict=True):
            item = arg(frame)
            if item is None and not param.takes_null:
                if not param.optional:
                    return None
                break
            values.append(item)
        result: Value = function(*values)
        return result

    return _logged(evaluate, expr) if method.name == "debug" else evaluate


def _compile_receiver(expr: typed.Expr, method: Method) -> Evaluate:
    if not method.is_null_elsewhere:
        return _entering(expr, method.receiver, method.iso_text, f"'{method.name}'")
    evaluate = compile_expression(expr)
    accepted = method.receiver.kinds

    def of_kind(frame: Frame) -> Value:
        value = evaluate(frame)
        return value if kind_of(value) & accepted else None

    return of_kind if expr.type.kinds & ~accepted else evaluate


def _logged(evaluate: Evaluate, expr: typed.Call) -> Evaluate:
    """`debug` shows the value passing through it in the trace."""
    label = compile_expression(expr.args[0])

    def traced(frame: Frame) -> Value:
        value = evaluate(frame)
        shown = "null" if value is None else text_of(value)
        frame.surroundings.trace(TraceLevel.TRACE, f"{text_of(label(frame))}: {shown}")
        return value

    return traced


def _compile_argument(arg: typed.Expr, method: Method, param: Param) -> Callable[[Frame], object]:
    if isinstance(arg, typed.Closure) and isinstance(param, ClosureParam):
        return _compile_closure(arg)
    return _entering(arg, param.type, param.iso_text, f"'{param.name}' of '{method.name}'")


def _compile_closure(expr: typed.Closure) -> Callable[[Frame], object]:
    body = compile_expression(expr.body)
    it = expr.it

    def bind(frame: Frame) -> Callable[[Value], Value]:
        def apply(element: Value) -> Value:
            frame.locals[it] = element
            return body(frame)

        return apply

    return bind


def _entering(expr: typed.Expr, wanted: Type, iso_text: bool, what: str) -> Evaluate:
    """The expression's value, made fit for `what`, where a value of type `wanted` is declared."""
    evaluate = compile_expression(expr)
    accepted = wanted.kinds | Kind.NULL
    to_float = not wanted.maybe(Kind.INT) and wanted.maybe(Kind.FLOAT)
    if not iso_text and not to_float and not expr.type.kinds & ~accepted:
        return evaluate

    def checked(frame: Frame) -> Value:
        value = evaluate(frame)
        kind = kind_of(value)
        if kind & accepted:
            return unwritten(value)
        if to_float and kind is Kind.INT:
            assert isinstance(value, int)
            return float(value)
        if iso_text and isinstance(value, str):
            return iso_instant(value)
        raise type_mismatch(what, str(wanted), value)

    return checked


def iso_instant(text: str) -> dt.date:
    """The date or date-time a text in ISO form stands for."""
    instant = strftime.parse_iso_date(text) or strftime.parse_iso_datetime(text)
    if instant is None:
        raise conversion_failed(text, "Date")
    return instant


# Programs


@frozen
class Emitted:
    """One record a program gives: the emitted fields, in order, and the metadata."""

    fields: dict[str, Value]
    meta: dict[str, Value]


class Dropped(enum.Enum):
    """Why a record gave nothing."""

    FILTERED = enum.auto()
    DUPLICATE = enum.auto()


class _Drop(Exception):
    def __init__(self, reason: Dropped) -> None:
        self.reason = reason


@frozen
class Outcome:
    """What became of a record: what it gave, or why it gave nothing."""

    records: list[Emitted]
    dropped: Dropped | None = None
    fanned_out: bool = False
    """Whether the program emits any number of records for one."""


@dataclass
class _Emission:
    """The record under construction and those that are complete."""

    fields: dict[str, Value]
    complete: list[Emitted]


_Step: TypeAlias = Callable[[Frame, _Emission], None]


class RowProgram:
    """A program that runs once per record. It remembers what `distinct` has seen."""

    def __init__(self, program: typed.Program, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.fans_out = any(isinstance(s, typed.EmitEach) for s in program.statements)
        self._steps = [self._compile_step(statement) for statement in program.statements]

    def run(
        self,
        record: Record,
        meta: Record | None = None,
        *,
        inputs: Mapping[str, Record] | None = None,
        results: Results | None = None,
    ) -> Outcome:
        """Run on one record; raises the `Failure` that rejects it."""
        frame = Frame(record, self.surroundings, inputs=inputs, meta=meta, results=results)
        emission = _Emission({}, [])
        try:
            for step in self._steps:
                step(frame, emission)
        except _Drop as drop:
            return Outcome([], drop.reason, fanned_out=self.fans_out)
        if not self.fans_out:
            emission.complete.append(Emitted(emission.fields, frame.meta))
        return Outcome(emission.complete, fanned_out=self.fans_out)

    def _compile_step(self, statement: typed.Statement) -> _Step:
        match statement:
            case typed.Let():
                let = compile_let(statement)
                return lambda frame, _: let(frame)
            case typed.Emit(symbol=symbol, value=value):
                return self._compile_emit(symbol, value)
            case typed.EmitMeta():
                return self._compile_emit_meta(statement)
            case typed.EmitEach():
                return self._compile_emit_each(statement)
            case typed.Filter(condition=condition):
                return self._compile_filter(condition)
            case typed.Distinct(keys=keys):
                return self._compile_distinct(keys)
            case typed.Trace():
                return self._compile_trace(statement)
        raise AssertionError(f"no execution for {type(statement).__name__}")

    def _compile_emit(self, symbol: typed.Symbol, value: typed.Expr) -> _Step:
        evaluate = for_field(symbol.name, compile_expression(value))

        def step(frame: Frame, emission: _Emission) -> None:
            result = evaluate(frame)
            frame.locals[symbol] = result
            emission.fields[symbol.name] = result

        return step

    def _compile_emit_meta(self, statement: typed.EmitMeta) -> _Step:
        evaluate = for_field(statement.name, compile_expression(statement.value))

        def step(frame: Frame, _: _Emission) -> None:
            frame.meta[statement.name] = evaluate(frame)

        return step

    def _compile_emit_each(self, statement: typed.EmitEach) -> _Step:
        source = compile_expression(statement.source)
        steps = [self._compile_step(inner) for inner in statement.body]
        is_leaf = not any(isinstance(inner, typed.EmitEach) for inner in statement.body)
        limit = self.surroundings.max_expansion

        def elements(frame: Frame) -> list[Value]:
            array = source(frame)
            if array is not None and not isinstance(array, list):
                failure = type_mismatch("emit each", "Array", array)
                failure.location = statement.source.location
                raise failure
            return array or ([None] if statement.outer else [])

        def step(frame: Frame, emission: _Emission) -> None:
            before, meta_before = emission.fields, frame.meta
            for element in elements(frame):
                emission.fields, frame.meta = dict(before), dict(meta_before)
                frame.locals[statement.element] = element
                for inner in steps:
                    inner(frame, emission)
                if is_leaf:
                    if len(emission.complete) >= limit:
                        raise _too_many(limit, statement)
                    emission.complete.append(Emitted(emission.fields, frame.meta))
            emission.fields, frame.meta = before, meta_before

        return step

    def _compile_filter(self, condition: typed.Expr) -> _Step:
        evaluate = compile_expression(condition)

        def step(frame: Frame, _: _Emission) -> None:
            if evaluate(frame) is not True:
                raise _Drop(Dropped.FILTERED)

        return step

    def _compile_distinct(self, keys: tuple[typed.Expr, ...] | None) -> _Step:
        seen: set[object] = set()
        evaluators = [compile_expression(key) for key in keys] if keys else None

        def step(frame: Frame, _: _Emission) -> None:
            if evaluators is None:
                key = identity(dict(frame.record))
            else:
                key = tuple(identity(evaluate(frame)) for evaluate in evaluators)
            if key in seen:
                raise _Drop(Dropped.DUPLICATE)
            seen.add(key)

        return step

    def _compile_trace(self, statement: typed.Trace) -> _Step:
        trace = compile_trace(statement, self.surroundings)
        return lambda frame, _: trace(frame)


def compile_let(statement: typed.Let) -> Callable[[Frame], None]:
    evaluate = compile_expression(statement.value)

    def let(frame: Frame) -> None:
        frame.locals[statement.symbol] = evaluate(frame)

    return let


def compile_trace(statement: typed.Trace, surroundings: Surroundings) -> Callable[[Frame], None]:
    guard = compile_expression(statement.guard) if statement.guard else None
    message = compile_expression(statement.message)

    def trace(frame: Frame) -> None:
        if guard is None or guard(frame) is True:
            surroundings.trace(statement.level, text_of(message(frame)))

    return trace


def for_field(name: str, evaluate: Evaluate) -> Evaluate:
    """Names the field being computed in a failure."""

    def named(frame: Frame) -> Value:
        try:
            return evaluate(frame)
        except Failure as failure:
            failure.field = failure.field or name
            raise

    return named


def _too_many(limit: int, statement: typed.EmitEach) -> Failure:
    detail = f"emit each gave more than max_expansion ({limit}) records"
    failure = Failure(FailureKind.EXPANSION_LIMIT, detail)
    failure.location = statement.source.location
    return failure
