"""Names for values that are used more than once, so that SQL text does not repeat itself.

At the level of records such a value is a column of its own, `$1`, `$2` and so on. Inside a lambda,
where there are no columns, it is the variable of a lambda around its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from clinker.engine.expressions.sql_text import (
    has_lambda,
    is_column,
    is_trivial,
    name_number,
    names_in,
    numbers_taken,
    replace_names,
    scope_name,
)
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.engine.expressions.foreign import Foreign

_MAX_INLINED = 4000


@frozen
class Columns:
    """Columns to add by SQL."""

    definitions: Mapping[str, str]
    """The text of each column by its name."""


@frozen
class ForeignColumns:
    """Columns to add by the interpreter."""

    work: tuple[Foreign, ...]


Layer: TypeAlias = Columns | ForeignColumns


class _Frame:
    """The values named at one level: the record's, or those of a lambda and its variable."""

    def __init__(self, variable: str | None = None) -> None:
        self.names: dict[str, str] = {}
        """The name of each text, in the order in which they can be computed."""
        self._own = {variable}

    def add(self, text: str, name: str) -> str:
        self.names[text] = name
        self._own.add(name)
        return name

    def concerns(self, text: str) -> bool:
        """Whether a text depends on what is named here."""
        return not self._own.isdisjoint(names_in(text))

    def close(self, text: str) -> str:
        """A text that uses names of this lambda, with their values brought in."""
        kept: dict[str, str] = {}
        for definition, name in reversed(self.names.items()):
            uses = sum(names_in(each).count(name) for each in (text, *kept.values()))
            if uses == 1:
                here = {name: f"({definition})"}
                text = replace_names(text, here)
                kept = {n: replace_names(each, here) for n, each in kept.items()}
            elif uses:
                kept[name] = definition
        for names in reversed(_by_need(kept)):
            text = _let({name: kept[name] for name in names}, text)
        return text


def _by_need(definitions: dict[str, str]) -> list[list[str]]:
    """Names in groups, each of which needs earlier groups only."""
    levels: dict[str, int] = {}
    for name in reversed(definitions):
        needs = [levels[n] for n in names_in(definitions[name]) if n in levels]
        levels[name] = 1 + max(needs, default=-1)
    groups: list[list[str]] = [[] for _ in range(1 + max(levels.values(), default=-1))]
    for name, level in levels.items():
        groups[level].append(name)
    return groups


def _let(definitions: dict[str, str], text: str) -> str:
    """A text in which these names have values: they are the variables of a lambda around it."""
    variable = next(iter(definitions))
    if len(definitions) == 1:
        return f"transform(array({definitions[variable]}), {variable} -> {text})[0]"
    # One struct of them all: what counts is the number of lambdas.
    fields = {name: f"f{name_number(name)}" for name in definitions}
    text = replace_names(text, {name: f"{variable}.{field}" for name, field in fields.items()})
    made = ", ".join(f"{definition} AS {fields[name]}" for name, definition in definitions.items())
    return f"transform(array(struct({made})), {variable} -> {text})[0]"


class Scope:
    """The names in force while expressions over one record are compiled.

    It gives none that one of these columns has.
    """

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self._frames = [_Frame()]
        self._count = max(numbers_taken(columns), default=0)
        self._foreign: dict[str, Foreign] = {}

    def new_name(self) -> str:
        """A name for a column or a lambda variable that nothing else has."""
        self._count += 1
        return scope_name(self._count)

    def bind(self, text: str) -> str:
        """A name for the value of `text`; a name or a literal is its own."""
        if is_trivial(text):
            return text
        for frame in reversed(self._frames):
            if text in frame.names:
                return frame.names[text]
            if frame is self._frames[0] or frame.concerns(text):
                return frame.add(text, self.new_name())
        raise AssertionError

    def named(self, text: str) -> str:
        """The name of a text that has one, else the text itself."""
        return self._frames[0].names.get(text, text)

    def column(self, text: str) -> str:
        """The name of a column of the record that holds `text`, which may be a literal."""
        if is_column(text):
            return text
        record = self._frames[0]
        return record.names.get(text) or record.add(text, self.new_name())

    @contextmanager
    def inside(self, variable: str) -> Iterator[Callable[[str], str]]:
        """The scope inside a lambda.

        Yields a function that brings the values of its names into a text that was made in it.
        """
        frame = _Frame(variable)
        self._frames.append(frame)
        try:
            yield frame.close
        finally:
            self._frames.pop()

    @contextmanager
    def inside_rows(self, column: str) -> Iterator[Callable[..., list[Layer]]]:
        """The scope of rows into which a record is taken apart, each with a column of its own.

        Yields a function that does for texts made in it what `layers` does for those of a record.
        """
        frame = _Frame(column)
        self._frames.append(frame)
        try:
            yield lambda *texts: _build_layers(frame.names, {}, texts)
        finally:
            self._frames.pop()

    def over(self, array: str, function: str, body: Callable[[str], str]) -> str:
        """A higher-order function over an array, with a variable that nothing else uses."""
        variable = self.new_name()
        with self.inside(variable) as close:
            text = close(body(variable))
        return f"{function}({array}, {variable} -> {text})"

    def add_foreign(self, work: Foreign) -> None:
        """Let the interpreter fill the two columns of this work."""
        self._foreign[work.value] = self._foreign[work.fails] = work

    def layers(self, *texts: str, present: Set[str] = frozenset()) -> list[Layer]:
        """How to compute the columns that these texts use, each layer using earlier ones.

        Those that are `present`, given by their names, have been computed before.
        """
        names = {text: name for text, name in self._frames[0].names.items() if name not in present}
        foreign = {name: work for name, work in self._foreign.items() if name not in present}
        return _build_layers(names, foreign, texts)


def _build_layers(
    names: Mapping[str, str], foreign: Mapping[str, Foreign], texts: Sequence[str]
) -> list[Layer]:
    results = {name for text in texts for name in names_in(text)}
    pending = _inline(_find_needed(names, foreign, results), results)
    layers: list[Layer] = []
    done: set[str] = set()
    while pending:
        ready = {name: needed for name, needed in pending.items() if needed.needs <= done}
        sql = {name: needed.text for name, needed in ready.items() if needed.text is not None}
        if sql:
            layers.append(Columns(sql))
            done |= sql.keys()
        else:
            work = dict.fromkeys(foreign[name] for name in ready)
            layers.append(ForeignColumns(tuple(work)))
            done |= {name for each in work for name in (each.value, each.fails)}
        pending = {name: item for name, item in pending.items() if name not in done}
    return layers


def _find_needed(
    names: Mapping[str, str], foreign: Mapping[str, Foreign], results: Set[str]
) -> dict[str, _Needed]:
    """Every column that these are computed from, themselves included."""
    definitions = {name: text for text, name in names.items()}
    columns: dict[str, _Needed] = {}
    waiting = list(results)
    while waiting:
        name = waiting.pop()
        if name in columns:
            continue
        if name in definitions:
            columns[name] = _Needed(definitions[name], set(names_in(definitions[name])))
        elif name in foreign:
            columns[name] = _Needed(None, set(foreign[name].columns))
        else:
            continue  # the variable of a lambda, or a column that is there
        waiting.extend(columns[name].needs)
    for needed in columns.values():
        needed.needs &= columns.keys()
    return dict(sorted(columns.items(), key=lambda item: name_number(item[0])))


@dataclass
class _Needed:
    """A column to compute: its SQL, unless it is foreign, and the columns that takes."""

    text: str | None
    needs: set[str]


def _inline(columns: dict[str, _Needed], results: Set[str]) -> dict[str, _Needed]:
    """The columns without those that only one other uses, and once: they are written into it.

    What is a result remains a column.
    """
    users: dict[str, list[_Needed]] = {name: [] for name in columns}
    for column in columns.values():
        for name in column.needs:
            users[name].append(column)
    kept: dict[str, _Needed] = {}
    for name, column in columns.items():
        user = users[name][0] if len(users[name]) == 1 and name not in results else None
        if user and user.text and column.text and _can_take(user.text, name, column.text):
            user.text = replace_names(user.text, {name: f"({column.text})"})
            user.needs = user.needs - {name} | column.needs
            for other in column.needs:
                users[other].append(user)
                users[other].remove(column)
        else:
            kept[name] = column
    return kept


def _can_take(text: str, name: str, definition: str) -> bool:
    """Whether a definition may be written in place of a name: not into a lambda, where it would
    be computed for every element."""
    if has_lambda(text) or len(text) + len(definition) >= _MAX_INLINED:
        return False
    return names_in(text).count(name) == 1
