"""Checking names: what an identifier, a dotted path or a system variable refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clinker.cxl.builtins import METHODS
from clinker.cxl.builtins.declare import accepted_kinds
from clinker.cxl.check import inlining, typed
from clinker.cxl.check.resolve import ProgramKind, Row
from clinker.cxl.syntax import ast
from clinker.cxl.types import ANY, MAP, STRING, Kind, Type
from clinker.diagnostics import Label
from clinker.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from clinker.cxl.check.checker import Checker

_DECLARE_HELP = {
    "vars": "declare it under pipeline.vars",
    "pipeline": "declare it under pipeline.vars.pipeline",
    "source": "declare it under pipeline.vars.source",
    "record": "declare it under pipeline.vars.record",
    "config": "declare it in the composition's config_schema",
}
_PER_RECORD = ("source", "record", "meta", "doc")


class Column(NamedTuple):
    """A column that the beginning of a dotted path names."""

    qualifier: str | None
    name: str
    type: Type
    parts: int
    """How many parts of the path name it; the rest walks into its value."""
    is_undeclared: bool = False


def check_name(checker: Checker, node: ast.Name) -> typed.Expr:
    symbol = find_local(checker, node.name)
    if symbol:
        _check_let_in_group(checker, symbol, node)
        return checker.refer_to(symbol, node)
    if checker.module and node.name in checker.module.constants:
        return inlining.inline_constant(checker, checker.module, node.name, node)
    return check_field(checker, node, (node.name,))


def find_local(checker: Checker, name: str) -> typed.Symbol | None:
    if checker.at_group and (symbol := checker.emitted.get(name)):
        return symbol
    return checker.scope.get(name)


def _check_let_in_group(checker: Checker, symbol: typed.Symbol, node: ast.Name) -> None:
    """A `let` of an aggregate program is computed per record: a group sees it only through keys."""
    if not checker.at_group or symbol.role is not typed.Role.LET or not symbol.definition:
        return
    read = {field_name for _, field_name in symbol.definition.fields_read}
    for field_name in sorted(read - set(checker.context.group_by)):
        checker.error(
            "typecheck",
            f"'{symbol.name}' depends on field '{field_name}', which differs within a group",
            node.span,
            f"write for example first({symbol.name}), or add {field_name} to group_by",
        )
        return


def _not_grouped(checker: Checker, name: str, node: ast.Node) -> None:
    checker.error(
        "typecheck",
        f"field '{name}' must appear in group_by or be used inside an aggregate function",
        node.span,
        f"write for example first({name}), or add it to group_by",
    )


def check_it(checker: Checker, node: ast.It) -> typed.Expr:
    symbol = checker.scope.get("it")
    if symbol:
        return checker.refer_to(symbol, node)
    if "it" in checker.hidden:
        _unknown_field(checker, node, ("it",))
    else:
        checker.error("resolve", "'it' is only defined inside a closure", node.span)
    return checker.broken(node)


def check_this(checker: Checker, node: ast.This) -> typed.Expr:
    checker.error(
        "resolve",
        "'this' stands for the record and is always followed by a field",
        node.span,
        'write this.field or this["field"]',
    )
    return checker.broken(node)


def check_this_index(checker: Checker, node: ast.Index) -> typed.Expr:
    """`this["a field"]`, for names that are no identifiers."""
    if isinstance(node.index, ast.Literal) and isinstance(node.index.value, str):
        return check_field(checker, node, (node.index.value,))
    checker.error("resolve", "this[…] needs the name of a field as a text", node.index.span)
    return checker.broken(node)


# Dotted paths


def check_member(checker: Checker, node: ast.Member) -> typed.Expr:
    """`a.b.c`: a qualified or dotted column as far as one is declared, then a walk in maps."""
    root, parts = _path(node)
    if isinstance(root, ast.This):
        return check_field(checker, node, parts)
    if isinstance(root, ast.SystemRef):
        return check_system(checker, node, root, parts)
    if isinstance(root, ast.Name):
        path = (root.name, *parts)
        if _is_of_input(checker, path) or not _is_local(checker, root.name):
            return check_field(checker, node, path)
    return check_walk(checker, checker.check(node.object), node)


def _path(node: ast.Member) -> tuple[ast.Expr, tuple[str, ...]]:
    """`a.b.c` as its root and the names after it."""
    parts = [node.name]
    root = node.object
    while isinstance(root, ast.Member):
        parts.append(root.name)
        root = root.object
    return root, tuple(reversed(parts))


def _is_of_input(checker: Checker, path: tuple[str, ...]) -> bool:
    """Whether a path is a column of an input, which statements before it cannot hide."""
    column = _column(checker, path)
    return column is not None and column.qualifier is not None


def _is_local(checker: Checker, name: str) -> bool:
    constants = checker.module.constants if checker.module else {}
    return find_local(checker, name) is not None or name in constants


def check_walk(checker: Checker, container: typed.Expr, node: ast.Member) -> typed.Expr:
    """`container.name`, a look-up in a map."""
    if not container.type.is_null and not container.type.maybe(Kind.MAP):
        is_method = node.name in method_names(container.type)
        checker.error(
            "typecheck",
            f"{container.type.noun} has no field '{node.name}'",
            node.name_span,
            f"write .{node.name}() to call the method" if is_method else None,
        )
        return checker.broken(node)
    if container.type.only(Kind.MAP) and node.name in method_names(MAP):
        checker.warn(
            f"'{node.name}' is read as a key of the map",
            node.name_span,
            f"write .{node.name}() to call the method",
        )
    key = typed.Literal(value=node.name, type=STRING, location=checker.source.at(node.name_span))
    return typed.Index(object=container, index=key, type=ANY, location=checker.source.at(node.span))


def method_names(receiver: Type) -> list[str]:
    """The methods a value of this type may have."""
    return [
        name
        for name, overloads in METHODS.items()
        if any(accepted_kinds(m.receiver, m.iso_text) & receiver.kinds for m in overloads)
    ]


def _walk_rest(checker: Checker, value: typed.Expr, node: ast.Expr, count: int) -> typed.Expr:
    """`value`, walked into by the last `count` names of the path `node`."""
    for step in _last_members(node, count):
        value = check_walk(checker, value, step)
    return value


def _last_members(node: ast.Expr, count: int) -> list[ast.Member]:
    members: list[ast.Member] = []
    while len(members) < count and isinstance(node, ast.Member):
        members.append(node)
        node = node.object
    return members[::-1]


def _without_last(node: ast.Expr, count: int) -> ast.Expr:
    for _ in range(count):
        assert isinstance(node, ast.Member)
        node = node.object
    return node


# Columns


def check_field(checker: Checker, node: ast.Expr, parts: tuple[str, ...]) -> typed.Expr:
    """The input column a path starts with, and the map look-ups the rest of it means."""
    column = _column(checker, parts)
    if column is None:
        if parts[0] not in checker.broken_names:
            _unknown_field(checker, node, parts)
        return checker.broken(node)
    if checker.at_group and column.name not in checker.context.group_by:
        _not_grouped(checker, column.name, node)
    if column.is_undeclared:
        _undeclared(checker, node, parts)
    rest = len(parts) - column.parts
    value = typed.Field(
        name=column.name,
        qualifier=column.qualifier,
        type=column.type,
        location=checker.source.at(_without_last(node, rest).span),
    )
    return _walk_rest(checker, value, node, rest)


def _column(checker: Checker, parts: tuple[str, ...]) -> Column | None:
    if checker.module:
        return None
    qualified = checker.context.qualifiers.get(parts[0])
    if qualified is not None and len(parts) > 1 and not checker.in_foreign_window:
        column = _longest(qualified, parts[1:])
        if column is None and qualified.has_undeclared:
            return Column(parts[0], parts[1], ANY, 2, is_undeclared=True)
        return column and Column(parts[0], column.name, column.type, column.parts + 1)
    column = _longest(checker.row, parts)
    if column is None and checker.row.is_open and parts[0] not in checker.lets:
        return Column(None, parts[0], ANY, 1)
    return column


def _longest(row: Row, parts: tuple[str, ...]) -> Column | None:
    """The column with the longest dotted name that starts the path."""
    for used in range(len(parts), 0, -1):
        name = ".".join(parts[:used])
        if name in row.columns:
            return Column(None, name, row.columns[name], used)
    return None


def _undeclared(checker: Checker, node: ast.Expr, parts: tuple[str, ...]) -> None:
    """A field that only files may have: rather often, one whose name is misspelt."""
    label, name = parts[:2]
    declared = checker.context.qualifiers[label].columns
    checker.warn(
        f"no schema declares '{label}.{name}': it is null unless a file has it",
        node.span,
        did_you_mean(f"{label}.{name}", [f"{label}.{column}" for column in declared])
        or "declare it in the schema of its source",
    )


def _unknown_field(checker: Checker, node: ast.Expr, parts: tuple[str, ...]) -> None:
    path = ".".join(parts)
    qualified = checker.context.qualifiers.get(parts[0])
    if checker.module:
        _unknown_in_module(checker, node, parts[0])
    elif qualified is not None and len(parts) > 1:
        options = [f"{parts[0]}.{column}" for column in qualified.columns]
        checker.error("resolve", f"unknown field '{path}'", node.span, _near(path, options))
    elif checker.context.qualifiers and not checker.row.columns:
        _unqualified(checker, node, parts)
    elif parts[0] in checker.hidden:
        checker.error(
            "resolve",
            f"'{parts[0]}' belongs to this place only and has no value on other records",
            node.span,
            "use fields of the record in a window or aggregate function",
        )
    elif parts[0] in checker.aliases:
        message = f"'{parts[0]}' is a module"
        checker.error("resolve", message, node.span, f"write {parts[0]}::member")
    elif checker.emitted.get(parts[0]) and checker.context.kind is ProgramKind.AGGREGATE:
        checker.error(
            "resolve",
            f"'{parts[0]}' is computed per group, but filter and let see single records",
            node.span,
            "use it in a transform after the aggregate",
        )
    elif parts[0] in checker.definitions:
        defined = Label(checker.source.at(checker.definitions[parts[0]]), "defined here")
        checker.error(
            "resolve",
            f"'{parts[0]}' is not defined yet",
            node.span,
            "statements run from top to bottom; move the definition up",
            (defined,),
        )
    else:
        shown = path if checker.row.starts(parts[0]) else parts[0]
        known = list(dict.fromkeys([*checker.scope.names(), *checker.row.columns]))
        checker.error("resolve", f"unknown field '{shown}'", node.span, _near(shown, known))


def _unqualified(checker: Checker, node: ast.Expr, parts: tuple[str, ...]) -> None:
    """A bare name where every field must name its input."""
    qualifiers = checker.context.qualifiers
    name = parts[0]
    owners = [f"{q}.{name}" for q, row in qualifiers.items() if name in row.columns]
    if len(owners) > 1:
        message = f"field '{name}' is ambiguous: it is in several inputs"
        checker.error("resolve", message, node.span, f"write {' or '.join(owners)}")
    elif owners:
        message = f"field '{name}' must be qualified with its input"
        checker.error("resolve", message, node.span, f"write {owners[0]}")
    else:
        path = ".".join(parts)
        options = [f"{q}.{column}" for q, row in qualifiers.items() for column in row.columns]
        checker.error("resolve", f"unknown field '{path}'", node.span, _near(path, options))


def _unknown_in_module(checker: Checker, node: ast.Expr, name: str) -> None:
    constants = checker.module.constants if checker.module else {}
    checker.error(
        "resolve",
        f"unknown name '{name}'",
        node.span,
        did_you_mean(name, [*checker.scope.names(), *constants])
        or "a function sees its parameters and its module, not the record's fields",
    )


def _near(name: str, known: Sequence[str]) -> str | None:
    close = did_you_mean(name, known)
    if close or not known:
        return close
    shown = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    return f"known here: {shown}"


# System variables


def check_system(
    checker: Checker, node: ast.Expr, root: ast.SystemRef, parts: tuple[str, ...] = ()
) -> typed.Expr:
    """`$namespace.name`, followed by `parts` in the path `node`."""
    path: tuple[str, ...] = (root.name,)
    if parts and root.namespace == "doc":
        path = _longest_known(checker, (root.name, *parts))
    elif parts and _is_source_input(checker, root):
        path = (root.name, parts[0])
    type_ = _system_type(checker, node, root, path)
    if type_ is None:
        return checker.broken(node)
    _check_per_record(checker, node, root)
    rest = len(parts) - len(path) + 1
    value = typed.System(
        namespace=root.namespace,
        path=path,
        type=type_,
        location=checker.source.at(_without_last(node, rest).span),
    )
    return _walk_rest(checker, value, node, rest)


def _longest_known(checker: Checker, path: tuple[str, ...]) -> tuple[str, ...]:
    """A section and a field, whose name may have dots in it."""
    known = checker.context.members("doc") or {}
    lengths = range(len(path), 2, -1)
    return path[: next((n for n in lengths if ".".join(path[:n]) in known), 2)]


def _is_source_input(checker: Checker, root: ast.SystemRef) -> bool:
    return root.namespace == "source" and root.name in checker.context.source_inputs


def _system_type(
    checker: Checker, node: ast.Expr, root: ast.SystemRef, path: tuple[str, ...]
) -> Type | None:
    """The type of a system variable; None once it was reported as unknown."""
    if root.namespace == "doc" and len(path) == 1:
        message = f"$doc.{root.name} names a section; a field of it is missing"
        checker.error("resolve", message, node.span, f"write $doc.{root.name}.field")
        return None
    if root.namespace == "meta" and root.name in checker.meta:
        return checker.meta[root.name]
    if len(path) == 2 and root.namespace == "source":
        known = {f"{root.name}.{k}": t for k, t in checker.context.source_inputs[root.name].items()}
    else:
        members = checker.context.members(root.namespace)
        if members is None:
            return ANY
        known = dict(members)
    name = ".".join(path)
    if name not in known:
        close = did_you_mean(name, known)
        help = close and close.replace("'", f"'${root.namespace}.", 1)
        checker.error(
            "resolve",
            f"unknown variable '${root.namespace}.{name}'",
            node.span,
            help or _DECLARE_HELP.get(root.namespace),
        )
    return known.get(name)


def _check_per_record(checker: Checker, node: ast.Expr, root: ast.SystemRef) -> None:
    """In a group only the variables that are the same for all its records have one value."""
    shown = f"${root.namespace}.{root.name}"
    if checker.at_group and root.namespace in _PER_RECORD and shown != "$source.count":
        checker.error(
            "typecheck",
            f"{shown} differs from record to record and a group has many",
            node.span,
            f"write for example first({shown})",
        )
