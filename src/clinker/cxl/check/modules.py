"""Modules: files of functions and constants that programs import with `use`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.parser import Parsed, parse
from clinker.diagnostics import Diagnostic, Label, Source, Span
from clinker.frozen import frozen
from clinker.plain_files import read_plain

MAX_MODULE_BYTES = 1024 * 1024


@frozen
class Module:
    """A parsed module file; unusable when it has diagnostics."""

    source: Source
    functions: dict[str, ast.Function]
    constants: dict[str, ast.Let]
    diagnostics: tuple[Diagnostic, ...]

    def members(self) -> list[str]:
        return [*self.functions, *self.constants]


class ModuleLibrary:
    """The modules under a rules directory, each read and parsed at most once.

    Links among them may lead anywhere below `bound`; without one, anywhere.
    """

    def __init__(
        self,
        root: Path,
        bound: Path | None = None,
        read: Callable[[Path], bytes] = read_plain,
    ) -> None:
        self.root = root
        self._bound = bound
        self._read_bytes = read
        self._loaded: dict[tuple[str, ...], Module | None] = {}

    def file(self, path: tuple[str, ...]) -> Path:
        return self.root.joinpath(*path).with_suffix(".cxl")

    def leads_out(self, path: tuple[str, ...]) -> bool:
        """Whether the file of a module is a link to where no module may be read from."""
        if self._bound is None:
            return False
        real = os.path.realpath(self.file(path))
        return not Path(real).is_relative_to(os.path.realpath(self._bound))

    def load(self, path: tuple[str, ...]) -> Module | None:
        """The module `a.b` of `use a.b`; None when its file cannot be read."""
        if path not in self._loaded:
            self._loaded[path] = self._read(path)
        return self._loaded[path]

    def available(self) -> list[str]:
        """The dotted names of all modules there are."""
        try:
            files = sorted(file for file in self.root.rglob("*.cxl") if file.is_file())
        except OSError:  # no directory has such a name
            files = []
        return [".".join(f.relative_to(self.root).with_suffix("").parts) for f in files]

    def _read(self, path: tuple[str, ...]) -> Module | None:
        file = self.file(path)
        if self.leads_out(path):
            return None
        try:
            data = self._read_bytes(file)
        except OSError:
            return None
        return parse_module(read_source(str(file), data))


def read_source(name: str, data: bytes) -> Source:
    """Bytes of a CXL file as a source; invalid UTF-8 survives for the lexer to report."""
    return Source(name, data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))


def holds_module(program: ast.Program) -> bool:
    """Whether a file is a module: it declares functions and no statement that runs."""
    statements = program.statements
    return any(isinstance(s, ast.Function) for s in statements) and all(
        isinstance(s, ast.Function | ast.Let | ast.Use) for s in statements
    )


def parse_module(source: Source) -> Module:
    return module_from(parse(source, MAX_MODULE_BYTES))


def module_from(parsed: Parsed) -> Module:
    """The module in a parsed file, with everything wrong about it reported."""
    return _ModuleBuilder(parsed).build()


class _ModuleBuilder:
    def __init__(self, parsed: Parsed) -> None:
        self.source = parsed.source
        self.statements = parsed.program.statements
        self.diagnostics = list(parsed.diagnostics)
        self.functions: dict[str, ast.Function] = {}
        self.constants: dict[str, ast.Let] = {}

    def build(self) -> Module:
        for statement in self.statements:
            self.add(statement)
        if not self.diagnostics:
            self.reject_cycles()
        return Module(self.source, self.functions, self.constants, tuple(self.diagnostics))

    def add(self, statement: ast.Statement) -> None:
        if not isinstance(statement, ast.Function | ast.Let):
            keyword = self.source.text[statement.span.start :].split(maxsplit=1)[0]
            self.error(
                f"'{keyword}' is not allowed in a module",
                statement.span,
                help="a module holds only `fn` and `let`",
            )
            return
        earlier = self.functions.get(statement.name) or self.constants.get(statement.name)
        if earlier:
            self.error(
                f"'{statement.name}' is defined twice",
                statement.name_span,
                Label(self.source.at(earlier.name_span), "first defined here"),
            )
        elif isinstance(statement, ast.Function):
            self.check_params(statement)
            self.functions[statement.name] = statement
        else:
            self.constants[statement.name] = statement

    def check_params(self, function: ast.Function) -> None:
        repeated = {p for p in function.params if function.params.count(p) > 1}
        for name in sorted(repeated):
            self.error(f"the parameter '{name}' is named twice", function.name_span)

    def error(self, message: str, span: Span, *secondary: Label, help: str | None = None) -> None:
        label = Label(self.source.at(span))
        self.diagnostics.append(Diagnostic("resolve", message, label, secondary, help))

    def reject_cycles(self) -> None:
        """Members are inlined where they are used, so none may lead back to itself."""
        for cycle in _cycles(dict(self.uses())):
            member = self.functions.get(cycle[0]) or self.constants[cycle[0]]
            self.error(
                f"'{cycle[0]}' refers to itself"
                if len(cycle) == 1
                else f"these refer to each other: {' → '.join([*cycle, cycle[0]])}",
                member.name_span,
                help="functions and constants cannot be recursive",
            )

    def uses(self) -> Iterator[tuple[str, set[str]]]:
        for name, function in self.functions.items():
            yield name, set(_references(function.body)) - set(function.params)
        for name, constant in self.constants.items():
            yield name, set(_references(constant.value))


def _cycles(uses: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The circles in a graph of names, each once."""
    done: set[str] = set()
    for start in uses:
        path: dict[str, Iterator[str]] = {}
        name: str | None = start if start not in done else None
        while name is not None:
            if name not in path:
                path[name] = iter(sorted(uses[name]))
            following = next((n for n in path[name] if n in uses and n not in done), None)
            if following in path:
                members = list(path)
                yield members[members.index(following) :]
            elif following:
                name = following
                continue
            else:
                path.pop(name)
                done.add(name)
                name = next(reversed(path), None)


def _references(node: ast.Node) -> Iterator[str]:
    """The names a tree calls or reads."""
    if isinstance(node, ast.FunctionCall | ast.Name):
        yield node.name
    for child in ast.children(node):
        yield from _references(child)
