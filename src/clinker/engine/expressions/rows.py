"""Programs that run once per record, as SQL: what they emit, keep and reject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from clinker.cxl.check import typed
from clinker.cxl.check.members import is_read_by_member, members_read
from clinker.cxl.run.evaluate import DEFAULT_MAX_EXPANSION
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.operand import NotNative, Operand
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions.compiler import Compiler
from clinker.engine.expressions.conditions import both, either
from clinker.engine.expressions.foreign import META, ForeignRecords
from clinker.engine.expressions.members import (
    Struct,
    parse_members_of_each,
    struct_ddl,
    tagged_members,
)
from clinker.engine.expressions.representation import convert, null
from clinker.engine.expressions.scope import Columns, Layer
from clinker.formats.common.column_types import Representation, representation
from clinker.frozen import frozen

Texts = Mapping[str, str]


@frozen
class Step:
    """A part of a program, up to a `distinct` or to its end.

    It is only run for records that the steps before it neither dropped nor rejected.
    """

    keeps: str | None
    """Where a record passes the filters; None if there are none."""
    fails: str | None
    """Where the interpreter would fail; null counts as false."""
    distinct: Distinct | None = None
    """What tells duplicates among the records that are left after this step."""


@frozen
class Distinct:
    """Records equal in all keys are duplicates; without keys, those equal in every input field."""

    keys: tuple[tuple[str, Type], ...] | None


@frozen(eq=False)
class Block:
    """An `emit each` as SQL over rows, one for each element of an array."""

    elements: str
    """The array, never null: over the record, as are the texts of a program."""
    element: str
    """The column that rows hold their element in."""
    values: Texts
    meta: Texts
    fails: str | None
    narrowed: Mapping[str, Type]
    """Values that are in the form of a narrower type than the program promises."""
    layers: Callable[..., list[Layer]]
    """How to compute the columns of rows that texts use."""

    def texts(self) -> list[str]:
        """All of its texts over rows."""
        texts = [*self.values.values(), *self.meta.values(), self.fails]
        return [text for text in texts if text]

    def columns(self) -> list[str]:
        """The SQL of the columns that those use."""
        layers = (layer for layer in self.layers(*self.texts()) if isinstance(layer, Columns))
        return [f"{text} AS {name}" for layer in layers for name, text in layer.definitions.items()]


@frozen
class RowSql:
    """A program as SQL. Its texts may use columns that the compiler's scope names."""

    steps: tuple[Step, ...]
    values: Texts
    """The emitted fields, in the forms of the program's `fields_written`."""
    meta: Texts
    """The written metadata, in the forms of `meta_written`."""
    records: str | None = None
    """If the program fans out: an array with a struct for each record, of the fields and, under
    names that begin with `$meta.`, the metadata. `values` and `meta` are empty then."""
    block: Block | None = None
    """Instead of `records`, if the program's last statement gives them and may be taken apart."""

    def texts(self) -> list[str]:
        """All of its texts."""
        texts = [*self.values.values(), *self.meta.values(), self.records]
        for step in self.steps:
            texts += [step.keeps, step.fails]
            if step.distinct:
                texts += [text for text, _ in step.distinct.keys or ()]
        if self.block:
            # Rows keep the columns of their record.
            texts += [self.block.elements, *self.block.texts(), *self.block.columns()]
        return [text for text in texts if text]


def compile_row_program(
    program: typed.Program,
    compiler: Compiler,
    max_expansion: int = DEFAULT_MAX_EXPANSION,
    *,
    takes_apart: bool = False,
    apart: Mapping[str, Struct] | None = None,
) -> RowSql:
    """The program over the records that `compiler` reads.

    With `takes_apart`, it may end in a block over rows: these are computed much faster than the
    items of an array, but one that fails does not reject its record: that is up to the caller.
    Of fields `apart` columns hold the members of all elements.
    """
    return _RowCompiler(program, compiler, max_expansion, takes_apart, apart or {}).compile()


@dataclass
class _Emission:
    """The record under construction: the name of each value and its type."""

    fields: dict[str, tuple[str, Type]] = field(default_factory=dict)
    fails: list[str] = field(default_factory=list)


class _RowCompiler:
    def __init__(
        self,
        program: typed.Program,
        compiler: Compiler,
        max_expansion: int,
        takes_apart: bool,
        apart: Mapping[str, Struct],
    ) -> None:
        self.program = program
        self.compiler = compiler
        self.scope = compiler.scope
        self.max_expansion = max_expansion
        self.takes_apart = takes_apart
        self.apart = apart

    def compile(self) -> RowSql:
        self.compiler.members = members_read(self.program.expressions())
        emission = _Emission()
        steps: list[Step] = []
        keeps: list[str] = []
        records: list[str] = []
        block: Block | None = None
        before: list[typed.Statement] = []
        for statement in self.program.statements:
            match statement:
                case typed.Filter(condition=condition):
                    test = self.compiler.is_true(condition)
                    self._fail(emission, test.fails, keeps)
                    keeps.append(self.scope.bind(test.text))
                case typed.Distinct(keys=keys):
                    distinct = self._compile_distinct(emission, keys, keeps)
                    steps.append(_make_step(emission, keeps, distinct))
                    emission.fails, keeps = [], []
                case typed.EmitEach():
                    part = _Emission(emission.fields)
                    block = self._compile_block(statement, part)
                    if block is None:
                        records.append(self._compile_top_level_each(statement, before, part))
                    self._fail(emission, either(*part.fails), keeps)
                case _:
                    part = _Emission(emission.fields)
                    self._compile_simple(statement, part)
                    self._fail(emission, either(*part.fails), keeps)
            if isinstance(statement, typed.Emit | typed.EmitMeta):
                before.append(statement)
        if block:
            self._fail(emission, f"(size({block.elements}) > {self.max_expansion})", keeps)
            steps.append(_make_step(emission, keeps, None))
            return RowSql(tuple(steps), {}, {}, block=block)
        if not records:
            steps.append(_make_step(emission, keeps, None))
            return RowSql(tuple(steps), self._write_fields(emission), self._write_meta())
        emitted = self.scope.bind(_concatenate(records))
        self._fail(emission, f"(size({emitted}) > {self.max_expansion})", keeps)
        steps.append(_make_step(emission, keeps, None))
        return RowSql(tuple(steps), {}, {}, emitted)

    def _fail(self, emission: _Emission, fails: str | None, keeps: Sequence[str]) -> None:
        """Note a failure, which does not happen to a record that was dropped before."""
        reached = both(*keeps, fails)
        if fails and reached:
            emission.fails.append(reached)

    # Statements

    def _compile_simple(self, statement: typed.Statement, emission: _Emission) -> None:
        """A statement that neither drops records nor gives new ones."""
        compiler = self.compiler
        match statement:
            case typed.Let(symbol=symbol, value=value):
                _, fails = self._name_value(symbol, value)
            case typed.Emit(symbol=symbol, value=value):
                operand, fails = self._name_value(symbol, value)
                emission.fields[symbol.name] = operand.text, operand.type
            case typed.EmitMeta(name=name, value=value):
                operand, fails = compiler.operand(value)
                compiler.meta[name] = operand.text, value.type
            case typed.Trace(guard=guard, message=message):
                fails = compiler.expression(message).fails
                if guard:
                    test = compiler.is_true(guard)
                    fails = either(test.fails, both(test.text, fails) if fails else None)
            case _:
                raise AssertionError(f"no SQL for {type(statement).__name__}")
        if fails:
            emission.fails.append(fails)

    def _name_value(self, symbol: typed.Symbol, value: typed.Expr) -> tuple[Operand, str | None]:
        """The value, from now on known by its symbol."""
        compiler, scope = self.compiler, self.scope
        operand, fails = compiler.narrowed(value)
        forms = representation(operand.type), representation(value.type)
        compiler.symbols[symbol] = scope.bind(convert(scope, operand.text, *forms))
        if forms[0] != forms[1]:
            compiler.narrow[symbol] = operand
        return operand, fails

    def _compile_distinct(
        self, emission: _Emission, keys: tuple[typed.Expr, ...] | None, keeps: Sequence[str]
    ) -> Distinct:
        if not keys:
            return Distinct(None)
        values: list[tuple[str, Type]] = []
        for key in keys:
            operand, fails = self.compiler.operand(key)
            self._fail(emission, fails, keeps)
            values.append((operand.text, operand.type))
        return Distinct(tuple(values))

    # emit each

    def _compile_block(self, statement: typed.EmitEach, emission: _Emission) -> Block | None:
        """The statement over rows, if it can be taken apart."""
        if not (self.takes_apart and statement is self.program.closing_block):
            return None
        scope = self.scope
        before = _Emission(emission.fields)
        elements, types = self._find_structs(statement) or (
            self._compile_elements(statement, before),
            None,
        )
        if types is None and self._is_read_by_member(statement):
            types = tagged_members(self.compiler.members[statement.element])
            elements = scope.bind(parse_members_of_each(scope, elements, list(types)))
        column = scope.new_name()
        inner = _Emission(dict(emission.fields))
        try:
            with self._inside_block(statement, column), scope.inside_rows(column) as layers:
                if types is not None:
                    self.compiler.structs[statement.element] = Struct(column, types)
                for each in statement.body:
                    self._compile_simple(each, inner)
                narrowed = self._find_narrowed(inner)
                values = self._write_fields(inner) | {n: inner.fields[n][0] for n in narrowed}
                made = values, self._write_meta(), either(*inner.fails)
        except NotNative:
            return None
        emission.fails.extend(before.fails)
        return Block(elements, column, *made, narrowed, layers)

    def _find_structs(self, statement: typed.EmitEach) -> tuple[str, Mapping[str, Type]] | None:
        """The array that a block goes through, if it comes as one of structs: never null."""
        source = statement.source
        if not isinstance(source, typed.Field) or source.name not in self.apart:
            return None
        array, types = self.apart[source.name].column, self.apart[source.name].types
        struct = struct_ddl(types)
        if not statement.outer:
            return self.scope.bind(f"coalesce({array}, CAST(array() AS ARRAY<{struct}>))"), types
        nothing = f"array(CAST(NULL AS {struct}))"
        return self.scope.bind(f"if(coalesce(size({array}), 0) > 0, {array}, {nothing})"), types

    def _is_read_by_member(self, statement: typed.EmitEach) -> bool:
        element = statement.element
        expressions = typed.Program(statement.body).expressions()
        return representation(element.type).is_tagged and is_read_by_member(element, expressions)

    def _compile_top_level_each(
        self, statement: typed.EmitEach, before: Sequence[typed.Statement], emission: _Emission
    ) -> str:
        try:
            return self._compile_each(statement, emission)
        except NotNative:
            emission.fails.clear()
            return self._interpret_each(statement, before, emission)

    def _compile_each(self, statement: typed.EmitEach, emission: _Emission) -> str:
        """An array of the records that the block gives."""
        if not current_dialect().closures:
            raise NotNative
        scope = self.scope
        elements = self._compile_elements(statement, emission)
        variable = scope.new_name()
        inner = _Emission(dict(emission.fields))
        with self._inside_block(statement, variable), scope.inside(variable) as close:
            nested: list[str] = []
            for each in statement.body:
                if isinstance(each, typed.EmitEach):
                    nested.append(self._compile_each(each, inner))
                else:
                    self._compile_simple(each, inner)
            failing = either(*inner.fails)
            tells_failure = failing is not None and self._is_only_block(statement)
            made = _concatenate(nested) if nested else self._write_struct(inner)
            if tells_failure:
                made = f"struct({made} AS record, coalesce({failing}, FALSE) AS fails)"
            body = close(made)
            failing = close(failing) if failing and not tells_failure else failing
        records = f"transform({elements}, {variable} -> {body})"
        if tells_failure:
            # Both in one go: what the records and the failures share is computed once.
            outcomes = scope.bind(records)
            emission.fails.append(scope.over(outcomes, "exists", lambda x: f"{x}.fails"))
            return scope.over(outcomes, "transform", lambda x: f"{x}.record")
        if failing:
            emission.fails.append(f"exists({elements}, {variable} -> {failing})")
        return f"flatten({records})" if nested else records

    @contextmanager
    def _inside_block(self, statement: typed.EmitEach, element: str) -> Iterator[None]:
        """What is known inside a block: the element, and the metadata that the block writes."""
        compiler = self.compiler
        meta, compiler.meta = compiler.meta, dict(compiler.meta)
        compiler.symbols[statement.element] = element
        compiler.variables.add(statement.element)
        try:
            yield
        finally:
            compiler.meta = meta
            compiler.variables.discard(statement.element)
            compiler.structs.pop(statement.element, None)

    def _is_only_block(self, statement: typed.EmitEach) -> bool:
        every = [s for s in self.program.every_statement() if isinstance(s, typed.EmitEach)]
        return every == [statement]

    def _compile_elements(self, statement: typed.EmitEach, emission: _Emission) -> str:
        """The array a block goes through: never null."""
        scope, source = self.scope, statement.source
        operand, fails = self.compiler.operand(source)
        element = representation(statement.element.type)
        form = Representation(element=element)
        array, held = operand.text, representation(source.type)
        if not source.type.only(Kind.ARRAY):
            is_array = f"coalesce(startswith({array}, '['), FALSE)"
            mismatch = f"({array} IS NOT NULL AND NOT {is_array})"
            fails = either(fails, mismatch)
            array = f"if({is_array}, {convert(scope, array, held, form)}, NULL)"
        else:
            array = convert(scope, array, held, form)
        if fails:
            emission.fails.append(fails)
        empty = f"CAST(array() AS {form.ddl})"
        if not statement.outer:
            return scope.bind(f"coalesce({array}, {empty})")
        array = scope.bind(array)
        nothing = f"array({null(element)})"
        return scope.bind(f"if({array} IS NULL OR size({array}) = 0, {nothing}, {array})")

    def _interpret_each(
        self, statement: typed.EmitEach, before: Sequence[typed.Statement], emission: _Emission
    ) -> str:
        """The block and the emits that apply to its records, by the interpreter."""
        compiler, scope = self.compiler, self.scope
        program = typed.Program((*before, statement))
        value, fails = scope.new_name(), scope.new_name()
        known, compiler.symbols = compiler.symbols, {}
        reads = tuple(compiler.reads(program.expressions()))
        compiler.symbols = known
        work = ForeignRecords(
            value,
            fails,
            reads,
            compiler.inputs.now,
            program,
            self.program.fields_written,
            self.program.meta_written,
            self.max_expansion,
        )
        scope.add_foreign(work)
        emission.fails.append(fails)
        return f"coalesce({value}, CAST(array() AS {work.ddl}))"

    # Results

    def _find_narrowed(self, emission: _Emission) -> dict[str, Type]:
        """The fields whose values are native, though those of their type are not."""
        return {
            name: emission.fields[name][1]
            for name, type_ in self.program.fields_written.items()
            if representation(type_).is_tagged
            and name in emission.fields
            and not representation(emission.fields[name][1]).is_tagged
        }

    def _write_fields(self, emission: _Emission) -> dict[str, str]:
        return {
            name: self._as_promised(emission.fields.get(name), type_)
            for name, type_ in self.program.fields_written.items()
        }

    def _write_meta(self) -> dict[str, str]:
        return {
            name: self._as_promised(self.compiler.meta.get(name), type_)
            for name, type_ in self.program.meta_written.items()
        }

    def _as_promised(self, value: tuple[str, Type] | None, type_: Type) -> str:
        target = representation(type_)
        if value is None:
            return null(target)
        text, own = value
        return convert(self.scope, text, representation(own), target)

    def _write_struct(self, emission: _Emission) -> str:
        named = dict(self._write_fields(emission))
        named |= {META + name: text for name, text in self._write_meta().items()}
        parts = ", ".join(f"{text_literal(name)}, {text}" for name, text in named.items())
        return f"named_struct({parts})"


def _make_step(emission: _Emission, keeps: Sequence[str], distinct: Distinct | None) -> Step:
    return Step(both(*keeps), either(*emission.fails), distinct)


def _concatenate(arrays: Sequence[str]) -> str:
    return arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
