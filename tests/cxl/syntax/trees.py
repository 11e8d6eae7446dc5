"""Random syntax trees: everything the parser can return, and nothing else."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields
from typing import Any, TypeVar

from hypothesis import strategies as st

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.expressions import NAMESPACES as NAMESPACE_NAMES
from clinker.cxl.syntax.lexer import KEYWORDS
from clinker.cxl.values import MAX_INT
from clinker.diagnostics import Span

_N = TypeVar("_N", bound=ast.Node)
_Strategy = st.SearchStrategy

_NOWHERE = Span(0, 0)

# Plain names, and those that mean something else in some places.
NAMES = st.sampled_from("a b amount first_name this info error outer in each meta".split())
MEMBERS = NAMES | st.sampled_from(sorted(KEYWORDS))
NAMESPACES = st.sampled_from([name for name in NAMESPACE_NAMES if name != "window"])

_CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("\"'\\ntr\n\t\r#-")
TEXTS = st.text(_CHARACTERS, max_size=8)


def _node(kind: type[_N], **parts: _Strategy[Any]) -> _Strategy[_N]:
    places = {f.name: st.just(_NOWHERE) for f in fields(kind) if f.name.endswith("span")}
    return st.builds(kind, **places, **parts)


def _tuples(items: _Strategy[Any], least: int = 0, most: int = 3) -> _Strategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def literals() -> _Strategy[ast.Literal]:
    values: _Strategy[bool | int | float | str | dt.date | None] = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(0, MAX_INT) | st.just(-MAX_INT - 1),
        st.floats(min_value=0, allow_nan=False, allow_infinity=False),
        TEXTS,
        st.dates(),
    )
    return _node(ast.Literal, value=values)


def _leaves() -> _Strategy[ast.Expr]:
    return st.one_of(
        literals(),
        _node(ast.Name, name=NAMES),
        _node(ast.It),
        _node(ast.Now),
        _node(ast.SystemRef, namespace=NAMESPACES, name=MEMBERS),
        _node(ast.ModuleRef, alias=NAMES, member=NAMES, args=st.none()),
    )


def _calls(inner: _Strategy[ast.Expr], base: _Strategy[ast.Expr]) -> _Strategy[ast.Expr]:
    args = _tuples(inner | _node(ast.Star))
    return st.one_of(
        _node(ast.MethodCall, receiver=base, method=MEMBERS, args=args),
        _node(ast.MethodCall, receiver=base, method=MEMBERS, args=_tuples(_closures(inner), 1, 1)),
        _node(ast.FunctionCall, name=NAMES, args=args),
        _node(ast.WindowCall, function=MEMBERS, args=args),
        _node(ast.ModuleRef, alias=NAMES, member=NAMES, args=args),
    )


def _closures(inner: _Strategy[ast.Expr]) -> _Strategy[ast.Closure]:
    return _node(ast.Closure, body=inner)


def _operations(inner: _Strategy[ast.Expr]) -> _Strategy[ast.Expr]:
    return st.one_of(
        _node(ast.Unary, op=st.sampled_from(ast.UnaryOp), operand=inner),
        _node(ast.Binary, op=st.sampled_from(ast.BinaryOp), left=inner, right=inner),
        _node(ast.Logic, op=st.sampled_from(ast.LogicOp), operands=_tuples(inner, 2)),
        _node(ast.If, condition=inner, then=inner, otherwise=st.none() | inner),
    )


def _matches(inner: _Strategy[ast.Expr]) -> _Strategy[ast.Match]:
    arms = _tuples(_node(ast.Arm, pattern=st.none() | inner, value=inner), 1, 4)
    return _node(ast.Match, subject=st.none() | inner, arms=arms)


def _collections(inner: _Strategy[ast.Expr]) -> _Strategy[ast.Expr]:
    entries = _tuples(_node(ast.MapEntry, key=TEXTS, value=inner))
    return st.one_of(
        _node(ast.ArrayLiteral, items=_tuples(inner)), _node(ast.MapLiteral, entries=entries)
    )


def _composites(inner: _Strategy[ast.Expr]) -> _Strategy[ast.Expr]:
    base = inner | _node(ast.This)
    return st.one_of(
        _node(ast.Member, object=base, name=MEMBERS),
        _node(ast.Index, object=base, index=inner),
        _calls(inner, base),
        _closures(inner),
        _operations(inner),
        _operations(inner),
        _matches(inner),
        _collections(inner),
    )


def expressions(max_leaves: int = 12) -> _Strategy[ast.Expr]:
    return st.recursive(_leaves(), _composites, max_leaves=max_leaves)


def _paths() -> _Strategy[ast.Expr]:
    """Fields, and paths into them."""
    names = _node(ast.Name, name=NAMES)
    bases = names.filter(lambda field: field.name != "this") | _node(ast.This)
    paths = st.recursive(bases, lambda path: _node(ast.Member, object=path, name=MEMBERS))
    return names | paths.filter(lambda path: not isinstance(path, ast.This))


def _simple_statements(value: _Strategy[ast.Expr]) -> _Strategy[ast.Statement]:
    levels = st.sampled_from(ast.TraceLevel)
    return st.one_of(
        _node(ast.Let, name=NAMES, value=value),
        _node(ast.Emit, name=NAMES, value=value),
        _node(ast.EmitMeta, name=NAMES, value=value),
        _node(ast.Filter, condition=value),
        _node(ast.Distinct, by=st.none() | _paths()),
        _node(ast.Trace, level=levels, guard=st.none() | value, message=value),
        _node(ast.Use, path=_tuples(NAMES, 1), alias=st.none() | NAMES),
        _node(ast.Function, name=NAMES, params=_tuples(NAMES), body=value),
    )


def statements(max_leaves: int = 6) -> _Strategy[ast.Statement]:
    value = expressions(max_leaves)

    def blocks(inner: _Strategy[ast.Statement]) -> _Strategy[ast.Statement]:
        return _node(
            ast.EmitEach,
            binding=NAMES | st.just("it"),
            source=value,
            outer=st.booleans(),
            body=_tuples(inner),
        )

    return st.recursive(_simple_statements(value), blocks, max_leaves=3)


def programs() -> _Strategy[ast.Program]:
    return _node(ast.Program, statements=_tuples(statements()))
