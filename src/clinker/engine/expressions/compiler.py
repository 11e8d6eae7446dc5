"""Expressions as Spark SQL: a value that never raises, and where the interpreter would fail."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from clinker.cxl.check import typed
from clinker.cxl.check.members import PLAIN_KEY, member_of
from clinker.cxl.run.tagged import encode
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.operand import NotNative, Operand, Sql, SqlForm
from clinker.cxl.sql.text import text_literal
from clinker.cxl.syntax.ast import EQUALITY_OPS, BinaryOp, LogicOp, UnaryOp
from clinker.cxl.types import BOOL, DATETIME, Kind, Type
from clinker.engine.expressions import operators
from clinker.engine.expressions.calls import compile_call
from clinker.engine.expressions.conditions import both, either, present, stepwise
from clinker.engine.expressions.dispatch import Alternative, kind_of, take_kind, write_by_kind
from clinker.engine.expressions.foreign import ForeignExpression, Read, Wanted
from clinker.engine.expressions.members import Struct, parse_members
from clinker.engine.expressions.representation import convert, json_fragment, literal, null
from clinker.engine.expressions.scope import Scope
from clinker.formats.common.column_types import TAGGED, Representation, representation

_Computed = typed.Aggregate | typed.Window


class Inputs(Protocol):
    """What expressions read, as SQL over the columns at hand, in the form of its type."""

    @property
    def now(self) -> dt.datetime:
        """The one instant of the run."""

    def field(self, qualifier: str | None, name: str) -> str: ...

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str: ...


class Compiler:
    """Compiles expressions over one record. Columns they share are named in `scope`."""

    def __init__(
        self,
        inputs: Inputs,
        scope: Scope | None = None,
        overrides: Mapping[str, SqlForm] | None = None,
    ) -> None:
        self.inputs = inputs
        self.overrides = overrides or {}
        """How the engine spells methods that others spell as they are declared, by name."""
        self.scope = scope or Scope()
        self.symbols: dict[typed.Symbol, str] = {}
        """The values of symbols that are known, each in the form of its type."""
        self.meta: dict[str, tuple[str, Type]] = {}
        """The metadata written so far."""
        self.variables: set[typed.Symbol] = set()
        """Symbols that stand for variables of lambdas."""
        self.members: Mapping[object, Sequence[str]] = {}
        """The keys that are read of maps, by the field or the symbol that holds the map."""
        self.structs: dict[object, Struct] = {}
        """Maps of which nothing but those keys is read."""
        self.narrow: dict[typed.Symbol, Operand] = {}
        """Symbols whose values are known to be of a narrower type than theirs."""
        self.results: Mapping[typed.Expr, Sql] = {}
        """Aggregates and window functions, which are computed before."""

    def expression(self, expr: typed.Expr) -> Sql:
        """The value in the form of the expression's type, and where it fails."""
        try:
            sql = self._native(expr)
        except NotNative:
            if expr.free_symbols & self.variables:
                raise
            sql = self._compile_foreign(expr)
        return sql if expr.fails else Sql(sql.text)

    def operand(self, expr: typed.Expr) -> tuple[Operand, str | None]:
        """The value under a name, or as a literal, and where it fails."""
        sql = self.expression(expr)
        known = constant(expr)
        if known is not None:
            return Operand(sql.text, expr.type, is_literal=True, value=known.value), None
        return Operand(self.scope.bind(sql.text), expr.type), sql.fails

    def narrowed(self, expr: typed.Expr) -> tuple[Operand, str | None]:
        """The same, but of a narrower type if more is known of the value than its type says."""
        if not self.structs:
            return self.operand(expr)
        match expr:
            case typed.Index() if member := self._find_member(expr):
                text, type_ = member
                return Operand(self.scope.bind(text), type_), None
            case typed.Local(symbol=symbol) if symbol in self.narrow:
                return self.narrow[symbol], None
            case typed.Binary(op=op) if op not in EQUALITY_OPS and op is not BinaryOp.COALESCE:
                sql, type_ = self._compile_operation(expr)
                return Operand(self.scope.bind(sql.text), type_), sql.fails
        return self.operand(expr)

    def value_as(self, expr: typed.Expr, target: Representation) -> Sql:
        """The value in the form `target`."""
        sql = self.expression(expr)
        text = convert(self.scope, sql.text, representation(expr.type), target)
        return Sql(text, sql.fails)

    def is_true(self, expr: typed.Expr) -> Sql:
        """Whether the value is exactly true: never null."""
        sql = self.expression(expr)
        if not expr.type.maybe(Kind.BOOL):
            return Sql("FALSE", sql.fails)
        if representation(expr.type) == TAGGED:
            return Sql(f"({sql.text} <=> 'true')", sql.fails)
        if not expr.type.may_be_null and not sql.fails:
            return sql
        return Sql(f"({sql.text} <=> TRUE)", sql.fails)

    def _native(self, expr: typed.Expr) -> Sql:
        if (known := constant(expr)) is not None:
            return Sql(literal(known.value, expr.type))
        if _computes_with_arrays(expr) and not current_dialect().arrays:
            raise NotNative
        match expr:
            case typed.Literal(value=value):
                return Sql(literal(value, expr.type))
            case typed.Field(qualifier=qualifier, name=name):
                return Sql(self.inputs.field(qualifier, name))
            case typed.Local(symbol=symbol):
                return self._compile_local(symbol)
            case typed.System():
                return Sql(self._compile_system(expr))
            case typed.Now():
                return Sql(literal(self.inputs.now, DATETIME))
            case typed.Unary(op=UnaryOp.NOT):
                return self._compile_not(expr)
            case typed.Unary():
                return self._compile_negation(expr)
            case typed.Binary(op=BinaryOp.COALESCE):
                return self._compile_coalesce(expr)
            case typed.Binary():
                return self._compile_binary(expr)
            case typed.Logic():
                return self._compile_logic(expr)
            case typed.Promote():
                return self._compile_promotion(expr)
            case typed.If():
                return self._compile_conditional(expr)
            case typed.Match():
                return self._compile_match(expr)
            case typed.Index():
                return self._compile_index(expr)
            case typed.Call():
                return compile_call(self, expr)
            case typed.Inline():
                return self._compile_inline(expr)
            case typed.ArrayLiteral():
                return self._compile_array(expr)
            case typed.MapLiteral():
                return self._compile_map(expr)
            case typed.Aggregate() | typed.Window():
                return self.results[expr]
        raise AssertionError(f"no SQL for {type(expr).__name__}")

    # Names

    def _compile_local(self, symbol: typed.Symbol) -> Sql:
        if symbol in self.symbols:
            return Sql(self.symbols[symbol])
        assert symbol.definition, symbol
        # On a record of a window or group the definition has not run yet.
        return self.expression(symbol.definition)

    def _compile_system(self, expr: typed.System) -> str:
        if expr.namespace == "meta" and expr.path[0] in self.meta:
            text, type_ = self.meta[expr.path[0]]
            return convert(self.scope, text, representation(type_), representation(expr.type))
        return self.inputs.system(expr.namespace, expr.path, expr.type)

    # Operators

    def _compile_not(self, expr: typed.Unary) -> Sql:
        operand, fails = self.operand(expr.operand)
        result = write_by_kind(self.scope, [operand], _negated_bool, representation(expr.type))
        return Sql(result.text, either(fails, result.fails))

    def _compile_negation(self, expr: typed.Unary) -> Sql:
        operand, fails = self.operand(expr.operand)
        result = write_by_kind(
            self.scope,
            [operand],
            lambda operands: operators.negate(self.scope, *operands),
            representation(expr.type),
        )
        return Sql(result.text, either(fails, result.fails))

    def _compile_binary(self, expr: typed.Binary) -> Sql:
        if expr.left.type.is_null or expr.right.type.is_null:
            fails = [self.expression(side).fails for side in (expr.left, expr.right)]
            return Sql(null(representation(expr.type)), either(*fails))
        if expr.op in EQUALITY_OPS:
            left, left_fails = self.narrowed(expr.left)
            right, right_fails = self.narrowed(expr.right)
            text = operators.equate(self.scope, expr.op, left, right)
            return Sql(text, either(left_fails, right_fails))
        sql, type_ = self._compile_operation(expr)
        text = convert(self.scope, sql.text, representation(type_), representation(expr.type))
        return Sql(text, sql.fails)

    def _compile_operation(self, expr: typed.Binary) -> tuple[Sql, Type]:
        """An ordering or arithmetic, and its type: of one kind if both operands are."""
        left, left_fails = self.narrowed(expr.left)
        right, right_fails = self.narrowed(expr.right)
        operands = left, right
        type_ = expr.type
        if all(len(kind_of(operand.type)) == 1 for operand in operands):
            written = operators.write_binary(self.scope, expr.op, *operands)
            type_ = written[1].nullable() if written else type_
        result = write_by_kind(
            self.scope,
            operands,
            lambda pair: operators.write_binary(self.scope, expr.op, *pair),
            representation(type_),
        )
        fails = either(left_fails, right_fails, result.fails) if expr.fails else None
        return Sql(result.text, fails), type_

    def _compile_coalesce(self, expr: typed.Binary) -> Sql:
        target = representation(expr.type)
        left, right = self.value_as(expr.left, target), self.value_as(expr.right, target)
        fails = left.fails
        text = left.text
        if right.fails:
            text = self.scope.bind(text)
            fails = either(fails, both(f"{text} IS NULL", right.fails))
        return Sql(f"coalesce({text}, {right.text})", fails)

    def _compile_logic(self, expr: typed.Logic) -> Sql:
        """What comes after a decisive operand is not evaluated, and so does not fail."""
        decisive = "TRUE" if expr.op is LogicOp.OR else "FALSE"
        texts: list[str] = []
        steps: list[tuple[str, str | None]] = []
        for operand in expr.operands:
            sql = self._compile_truth(operand)
            text = self.scope.bind(sql.text) if expr.fails else sql.text
            texts.append(text)
            if sql.fails:
                steps.append((sql.fails, "TRUE"))
            steps.append((f"{text} = {decisive}", None))
        return Sql("(" + f" {expr.op.upper()} ".join(texts) + ")", stepwise(steps))

    def _compile_truth(self, expr: typed.Expr) -> Sql:
        """A Bool or null; anything else fails."""
        operand, fails = self.operand(expr)
        result = write_by_kind(self.scope, [operand], _as_bool, representation(BOOL))
        return Sql(result.text, either(fails, result.fails))

    def _compile_promotion(self, expr: typed.Promote) -> Sql:
        sql = self.expression(expr.operand)
        ddl = representation(expr.type).ddl
        return Sql(f"CAST({sql.text} AS {ddl})", sql.fails)

    # Choices

    def _compile_conditional(self, expr: typed.If) -> Sql:
        target = representation(expr.type)
        condition = self.is_true(expr.condition)
        then = self.value_as(expr.then, target)
        otherwise = Sql(null(target))
        if expr.otherwise:
            otherwise = self.value_as(expr.otherwise, target)
        test = condition.text
        fails = condition.fails
        if then.fails or otherwise.fails:
            test = self.scope.bind(test)
            fails = either(fails, stepwise([(test, then.fails)], otherwise.fails))
        return Sql(f"if({test}, {then.text}, {otherwise.text})", fails)

    def _compile_match(self, expr: typed.Match) -> Sql:
        target = representation(expr.type)
        subject, fails = self.operand(expr.subject) if expr.subject else (None, None)
        values: list[str] = []
        steps: list[tuple[str, str | None]] = []
        otherwise = Sql(null(target))
        for pattern, value in expr.arms:
            arm = self.value_as(value, target)
            if pattern is None:
                otherwise = arm
                break
            test = self._compile_pattern(subject, pattern)
            if test.fails:
                steps.append((test.fails, "TRUE"))
            text = self.scope.bind(test.text) if expr.fails else test.text
            values.append(f"WHEN {text} THEN {arm.text}")
            steps.append((text, arm.fails))
        fails = either(fails, stepwise(steps, otherwise.fails))
        if not values:
            return Sql(otherwise.text, fails)
        return Sql(f"CASE {' '.join(values)} ELSE {otherwise.text} END", fails)

    def _compile_pattern(self, subject: Operand | None, pattern: typed.Expr) -> Sql:
        if subject is None:
            return self.is_true(pattern)
        operand, fails = self.operand(pattern)
        return Sql(operators.same_value(self.scope, subject, operand), fails)

    # Containers

    def _compile_member(self, expr: typed.Index, container: Alternative) -> str | None:
        """The value of one of several keys that are read of a map: all are found in one go."""
        holder, key = member_of(expr) or (None, "")
        keys = self.members.get(holder, ())
        if len(keys) < 2 or key not in keys:
            return None
        members = self.scope.bind(parse_members(container.operand.text, keys, container.test))
        return f"{members}.`{key}`"

    def _compile_index(self, expr: typed.Index) -> Sql:
        """The item of an array or a map; what is no such thing has none."""
        if member := self._find_member(expr):
            text, type_ = member
            forms = representation(type_), representation(expr.type)
            return Sql(convert(self.scope, self.scope.bind(text), *forms))
        return self._compile_item(expr)

    def _find_member(self, expr: typed.Index) -> tuple[str, Type] | None:
        """The value of a key of a map that is a struct, and its type."""
        holder, key = member_of(expr) or (None, "")
        return self.structs[holder].member(key) if holder in self.structs else None

    def _compile_item(self, expr: typed.Index) -> Sql:
        holder, holder_fails = self.operand(expr.object)
        index, index_fails = self.operand(expr.index)
        target = representation(expr.type)
        branches: list[str] = []
        for kind, key in ((Kind.ARRAY, Kind.INT), (Kind.MAP, Kind.STRING)):
            if holder.type.maybe(kind) and index.type.maybe(key):
                container = take_kind(self.scope, holder, kind)
                position = take_kind(self.scope, index, key)
                tests = [test for test in (container.test, position.test) if test]
                item = self._compile_member(expr, container) or _item(
                    container.operand, position.operand
                )
                element = container.operand.type.element_type if kind is Kind.ARRAY else None
                form = representation(element) if element else TAGGED
                text = convert(self.scope, item, form, target)
                branches.append(f"WHEN {' AND '.join(tests) or 'TRUE'} THEN {text}")
        value = f"CASE {' '.join(branches)} END" if branches else null(target)
        fails = holder_fails
        if index_fails:
            fails = either(fails, both(present(holder), index_fails))
        return Sql(value, fails)

    def _compile_array(self, expr: typed.ArrayLiteral) -> Sql:
        form = representation(expr.type)
        assert form.element
        items = [self.value_as(item, form.element) for item in expr.items]
        if not items:
            return Sql(f"CAST(array() AS {form.ddl})")
        text = f"array({', '.join(item.text for item in items)})"
        return Sql(text, either(*(item.fails for item in items)))

    def _compile_map(self, expr: typed.MapLiteral) -> Sql:
        parts = ["'{'"]
        fails: list[str | None] = []
        for position, (key, value) in enumerate(expr.entries):
            sql = self.expression(value)
            fails.append(sql.fails)
            parts.append(text_literal(("," if position else "") + map_key(key)))
            parts.append(json_fragment(self.scope, sql.text, representation(value.type)))
        return Sql(f"concat({', '.join(parts)}, '}}')", either(*fails))

    def _compile_inline(self, expr: typed.Inline) -> Sql:
        fails: list[str | None] = []
        for symbol, value in expr.bindings:
            operand, failing = self.operand(value)
            self.symbols[symbol] = operand.text
            fails.append(failing)
        body = self.expression(expr.body)
        return Sql(body.text, either(*fails, body.fails))

    # The interpreter

    def _compile_foreign(self, expr: typed.Expr) -> Sql:
        value, fails = self.scope.new_name(), self.scope.new_name()
        reads = tuple(self.reads([expr]))
        self.scope.add_foreign(ForeignExpression(value, fails, reads, self.inputs.now, expr))
        earlier = [self.results[r.wanted].fails for r in reads if isinstance(r.wanted, _Computed)]
        return Sql(value, either(*earlier, fails))

    def reads(self, expressions: Iterable[typed.Expr]) -> Iterator[Read]:
        """The values the interpreter needs to compute these expressions."""
        wanted: dict[object, tuple[Wanted, str, Type]] = {}
        waiting = list(expressions)
        inner = {symbol for expr in waiting for symbol in _bound_in(expr)}
        while waiting:
            part = waiting.pop()
            match part:
                case typed.Field(qualifier=qualifier, name=name):
                    text = self.inputs.field(qualifier, name)
                    wanted[qualifier, name] = part, text, part.type
                case typed.System(namespace=namespace, path=path):
                    wanted[namespace, path] = part, self._compile_system(part), part.type
                case typed.Local(symbol=symbol) if symbol in inner:
                    continue
                case typed.Local(symbol=symbol) if symbol in self.symbols:
                    wanted[symbol] = symbol, self.symbols[symbol], symbol.type
                case typed.Local(symbol=symbol) if symbol.definition:
                    waiting.append(symbol.definition)
                case typed.Aggregate() | typed.Window():
                    wanted[part] = part, self.results[part].text, part.type
                case _:
                    waiting.extend(part.children())
        for what, text, type_ in wanted.values():
            yield Read(what, self.scope.column(text), type_)


def _bound_in(expr: typed.Expr) -> Iterator[typed.Symbol]:
    """The symbols that get their values inside an expression."""
    for part in expr.walk():
        if isinstance(part, typed.Closure):
            yield part.it
        elif isinstance(part, typed.Inline):
            yield from (symbol for symbol, _ in part.bindings)


def constant(expr: typed.Expr) -> typed.Literal | None:
    """A literal, or one with a sign."""
    if isinstance(expr, typed.Literal):
        return expr if expr.value is not None else None
    if isinstance(expr, typed.Unary) and expr.op is UnaryOp.NEGATE and not expr.fails:
        inner = constant(expr.operand)
        if inner and isinstance(inner.value, int | float):
            return typed.Literal(value=-inner.value, type=expr.type, location=expr.location)
    return None


def _negated_bool(operands: Sequence[Operand]) -> tuple[Sql, Type] | None:
    written = _as_bool(operands)
    return (Sql(f"(NOT {written[0].text})"), BOOL) if written else None


def _as_bool(operands: Sequence[Operand]) -> tuple[Sql, Type] | None:
    (operand,) = operands
    if operand.type.is_null:
        return Sql("CAST(NULL AS BOOLEAN)"), BOOL
    return (Sql(operand.text), BOOL) if operand.type.maybe(Kind.BOOL) else None


def _computes_with_arrays(expr: typed.Expr) -> bool:
    """Whether an array may come into an expression or out of it, and it does not just read one."""
    parts = [] if isinstance(expr, _Computed) else [*expr.children()]
    return bool(parts) and any(part.type.maybe(Kind.ARRAY) for part in (expr, *parts))


def _item(container: Operand, index: Operand) -> str:
    if container.type.maybe(Kind.ARRAY):
        return f"get({container.text}, TRY_CAST({index.text} AS INT))"
    if index.is_literal and isinstance(index.value, str) and PLAIN_KEY.fullmatch(index.value):
        # Finds a key without reading the whole map; leaves are tagged, so nothing is lost.
        return f"get_json_object({container.text}, '\\u0024.{index.value}')"
    return f"try_element_at(from_json({container.text}, 'MAP<STRING, STRING>'), {index.text})"


def map_key(key: str) -> str:
    """A key as it stands in the text of a map, with the colon behind it."""
    text = encode([key])
    assert text is not None
    return '"' + text[4:-1] + ":"  # without the bracket and the mark of a text
