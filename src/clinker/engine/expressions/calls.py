"""Calls of built-ins: the form each declares, for the kinds of its operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clinker.cxl.builtins import METHODS
from clinker.cxl.builtins.declare import ClosureParam, Method, Param, accepted_kinds
from clinker.cxl.check import typed
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.sql.operand import NotNative, Operand, Sql
from clinker.cxl.types import NULL, Kind, Type
from clinker.engine.expressions.conditions import both, either
from clinker.engine.expressions.dispatch import Alternative, choose, kind_of, take_kind
from clinker.engine.expressions.representation import null
from clinker.engine.expressions.sql_text import as_unit, rename_variables
from clinker.formats.common.column_types import representation
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.engine.expressions.compiler import Compiler

_NO_VALUE = Operand("NULL", NULL, is_literal=True)


def compile_call(compiler: Compiler, expr: typed.Call) -> Sql:
    method = expr.method
    if method.sql is None and method.name not in compiler.overrides:
        raise NotNative
    target = representation(expr.type)
    operands = [_Entering.receiver(compiler, expr)]
    closure: typed.Closure | None = None
    for position, arg in enumerate(expr.args):
        if isinstance(arg, typed.Closure):
            closure = arg
        elif arg.type.is_null and method.param(position).optional:
            break  # as if it and what follows it were left out
        else:
            operands.append(_Entering.argument(compiler, arg, method, method.param(position)))
    if any(operand.is_nothing for operand in operands):
        return Sql(null(target), _failing(operands, None))

    def write_call(values: Sequence[Operand]) -> tuple[Sql, Type]:
        made = Call(compiler, method, values[0], values[1:], closure, expr.names)
        sql = made.write()
        if sql.text == "NULL":
            sql = Sql(null(representation(made.type)), sql.fails)
        return sql, made.type

    result = choose(compiler.scope, [o.alternatives for o in operands], write_call, target, "FALSE")
    return Sql(result.text, _failing(operands, result.fails))


def _failing(operands: Sequence[_Entering], last: str | None) -> str | None:
    """Where a call fails: what follows a null that stops it is not evaluated."""
    fails = last
    for operand in reversed(operands):
        if fails and operand.goes_on:
            fails = both(operand.goes_on, fails)
        fails = either(operand.fails, fails)
    return fails


@frozen
class _Entering:
    """A receiver or an argument on its way into a method."""

    alternatives: Sequence[Alternative]
    fails: str | None
    """Where it cannot be evaluated, or is nothing the method takes."""
    goes_on: str | None
    """Where it does not make the call null; None is everywhere."""
    is_nothing: bool
    """Whether it is always null and so makes the call null."""

    @classmethod
    def receiver(cls, compiler: Compiler, expr: typed.Call) -> _Entering:
        method = expr.method
        return cls._fit(
            compiler,
            expr.receiver,
            method,
            declared=method.receiver,
            iso_text=method.iso_text,
            reaches=method.takes_null,
            or_null=method.is_null_elsewhere,
        )

    @classmethod
    def argument(
        cls, compiler: Compiler, arg: typed.Expr, method: Method, param: Param
    ) -> _Entering:
        return cls._fit(
            compiler,
            arg,
            method,
            declared=param.type,
            iso_text=param.iso_text,
            reaches=param.takes_null or param.optional,
        )

    @classmethod
    def _fit(
        cls,
        compiler: Compiler,
        expr: typed.Expr,
        method: Method,
        *,
        declared: Type,
        iso_text: bool,
        reaches: bool,
        or_null: bool = False,
    ) -> _Entering:
        """A value as a method takes it.

        A null makes the call null unless it `reaches` the method; with `or_null`, so does a value
        of a kind that is not taken.
        """
        takes_tagged = method.sql_takes_tagged and declared.is_any
        operand, fails = compiler.operand(expr) if takes_tagged else compiler.narrowed(expr)
        stops = expr.type.may_be_null and not reaches
        mismatch: str | None = None
        if takes_tagged:
            alternatives = [Alternative(operand)]
        elif expr.type.is_null:
            alternatives = [Alternative(_NO_VALUE)]
        else:
            alternatives, mismatch = _fit_kinds(compiler, operand, declared, iso_text)
            if reaches and operand.type.may_be_null and any(each.test for each in alternatives):
                alternatives.append(Alternative(_NO_VALUE, f"{operand.text} IS NULL"))
        nothing = stops and expr.type.is_null
        goes_on = f"{operand.text} IS NOT NULL" if stops else None
        if mismatch and or_null:
            goes_on, mismatch = f"(NOT {mismatch})", None
            if stops:
                goes_on = f"({operand.text} IS NOT NULL AND {goes_on})"
        return cls(alternatives, either(fails, mismatch), goes_on, nothing)


def _fit_kinds(
    compiler: Compiler, operand: Operand, declared: Type, iso_text: bool
) -> tuple[list[Alternative], str | None]:
    """The forms in which a value is taken, and where it is none of them."""
    to_float = declared.maybe(Kind.FLOAT) and not declared.maybe(Kind.INT)
    fitting: list[Alternative] = []
    is_complete = True
    several = len(kind_of(operand.type) & accepted_kinds(declared, iso_text)) > 1
    for kind in kind_of(operand.type):
        alternative = take_kind(compiler.scope, operand, kind, one_of_several=several)
        if kind & declared.kinds:
            fitting.append(alternative)
        elif to_float and kind is Kind.INT:
            fitting.append(_as_float(compiler, alternative))
        elif iso_text and kind is Kind.STRING:
            fitting += _as_instants(compiler, alternative)
            is_complete = False
        else:
            is_complete = False
    if is_complete:
        return fitting, None
    tests = " OR ".join(each.test or "TRUE" for each in fitting)
    return fitting, f"({operand.text} IS NOT NULL AND NOT coalesce({tests or 'FALSE'}, FALSE))"


def _as_float(compiler: Compiler, whole: Alternative) -> Alternative:
    operand = whole.operand
    type_ = Type(Kind.FLOAT | operand.type.kinds & Kind.NULL)
    if operand.is_literal and isinstance(operand.value, int):
        value = float(operand.value)
        return Alternative(Operand(f"{value!r}D", type_, is_literal=True, value=value))
    text = compiler.scope.bind(f"CAST({operand.text} AS DOUBLE)")
    return Alternative(Operand(text, type_), whole.test)


def _as_instants(compiler: Compiler, text: Alternative) -> Iterator[Alternative]:
    """A text in ISO form as what it stands for: a date, or else a date-time."""
    for name in ("try_date", "try_datetime"):
        made = Call(compiler, METHODS[name][0], text.operand, (), None)
        value = compiler.scope.bind(made.write().text)
        test = f"{value} IS NOT NULL"
        yield Alternative(
            Operand(value, made.type), f"{text.test} AND {test}" if text.test else test
        )


class Call:
    """A call on operands of one kind each, as the form of its method sees it."""

    def __init__(
        self,
        compiler: Compiler,
        method: Method,
        receiver: Operand,
        args: Sequence[Operand],
        closure: typed.Closure | None,
        names: DateNames = ENGLISH,
    ) -> None:
        self._compiler = compiler
        self._method = method
        self._args = args
        self._closure = closure
        self._variables: dict[str, str] = {}
        """What the lambda variables of the form are called, so that no two forms use the same."""
        self.receiver = receiver
        self.names = names

    @property
    def type(self) -> Type:
        receiver = self.receiver.type
        if not self._method.takes_null:
            receiver = receiver.without_null()
        types = [arg.type for arg in self._args]
        if self._closure:
            types.append(self._closure.type)
        return self._method.result_type(receiver, tuple(types))

    def arg(self, name: str) -> Operand | None:
        params = (p for p in self._method.params if not isinstance(p, ClosureParam))
        for param, operand in zip(params, self._args, strict=False):
            if param.name == name:
                return operand
        return None

    def args(self) -> tuple[Operand, ...]:
        return tuple(self._args)

    def apply(self, element: str) -> Sql:
        assert self._closure
        compiler, it = self._compiler, self._closure.it
        variable, *path = element.split(".")
        name = self._variable(variable)
        with compiler.scope.inside(name) as close:
            compiler.symbols[it] = ".".join((name, *path))
            compiler.variables.add(it)
            try:
                body = compiler.expression(self._closure.body)
            finally:
                compiler.variables.discard(it)
            return Sql(close(body.text), close(body.fails) if body.fails else None)

    @property
    def closure_type(self) -> Type:
        assert self._closure
        return self._closure.type

    def bind(self, text: str) -> str:
        return self._compiler.scope.bind(self._rename(text))

    def write(self) -> Sql:
        form = self._compiler.overrides.get(self._method.name, self._method.sql)
        match form:
            case None:
                raise NotNative
            case str():
                sql = Sql(self._fill(form))
            case (value, fails):
                sql = Sql(self._fill(value), self._fill(fails))
            case _:
                sql = form(self)
                sql = Sql(self._rename(sql.text), self._rename(sql.fails) if sql.fails else None)
        return Sql(as_unit(sql.text), as_unit(sql.fails) if sql.fails else None)

    def _fill(self, template: str) -> str:
        names = {"self": self.receiver.text}
        for param in self._method.params:
            if not isinstance(param, ClosureParam):
                operand = self.arg(param.name)
                names[param.name] = operand.text if operand else null(representation(param.type))
        return self._rename(template).format_map(names)

    def _variable(self, name: str) -> str:
        if name not in self._variables:
            self._variables[name] = self._compiler.scope.new_name()
        return self._variables[name]

    def _rename(self, text: str) -> str:
        return rename_variables(text, self._variable)
