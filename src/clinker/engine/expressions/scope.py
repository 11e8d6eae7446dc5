"""Names for values that are used more than once, so that SQL text does not repeat itself.

At the level of records such a value is a column of its own, `$1`, `$2` and so on. Inside a lambda,
where there are no columns, it is the variable of a lambda around its uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.engine.expressions.foreign import Foreign

_NAME = re.compile(r"`\$\d+`")
_TRIVIAL = re.compile(
    r"""
    (`(?:[^`]|``)+`\.)?`(?:[^`]|``)+`     # a column, perhaps of one input
    | [A-Za-z_]\w*                        # a lambda variable, true, false
    | -?[0-9.]+(e[+-]?[0-9]+)?[LD]?
    | (DATE|TIMESTAMP_NTZ)?'(?:[^'\\]|\\.)*'
    | CAST\(NULL\ AS\ [A-Z_<>]+\)
    """,
    re.VERBOSE | re.DOTALL,
)


def is_trivial(text: str) -> bool:
    """Whether a text costs nothing to repeat: a name or a literal."""
    return _TRIVIAL.fullmatch(text) is not None


def either(*fails: str | None) -> str | None:
    """Where any of these fails."""
    texts = list(dict.fromkeys(text for text in fails if text))
    if len(texts) <= 1:
        return texts[0] if texts else None
    return "(" + " OR ".join(texts) + ")"


@frozen
class Columns:
    """Columns to add by SQL: `text AS name` each."""

    selections: tuple[str, ...]


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
        return not self._own.isdisjoint(_NAME.findall(text))

    def closed(self, text: str) -> str:
        """A text that uses names of this lambda, with their values brought in."""
        for definition, name in reversed(self.names.items()):
            uses = text.count(name)
            if uses == 1:
                text = text.replace(name, f"({definition})")
            elif uses:
                text = f"transform(array({definition}), {name} -> {text})[0]"
        return text


class Scope:
    """The names in force while expressions over one record are compiled."""

    def __init__(self) -> None:
        self._frames = [_Frame()]
        self._count = 0
        self._foreign: dict[str, Foreign] = {}

    def new_name(self) -> str:
        """A name for a column or a lambda variable that nothing else has."""
        self._count += 1
        return f"`${self._count}`"

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

    def column(self, text: str) -> str:
        """The name of a column of the record that holds `text`, which may be a literal."""
        if text.endswith("`"):
            return text
        record = self._frames[0]
        return record.names.get(text) or record.add(text, self.new_name())

    @contextmanager
    def inside(self, variable: str) -> Iterator[Callable[[str], str]]:
        """The scope inside a lambda; gives what closes the texts that were made in it."""
        frame = _Frame(variable)
        self._frames.append(frame)
        try:
            yield frame.closed
        finally:
            self._frames.pop()

    def over(self, array: str, function: str, body: Callable[[str], str]) -> str:
        """A higher-order function over an array, with a variable that nothing else uses."""
        variable = self.new_name()
        with self.inside(variable) as closed:
            text = closed(body(variable))
        return f"{function}({array}, {variable} -> {text})"

    def foreign(self, work: Foreign) -> None:
        """Have two columns filled by the interpreter."""
        self._foreign[work.value] = self._foreign[work.fails] = work

    def layers(self, *texts: str) -> list[Layer]:
        """How to compute the columns that these texts use, each layer using earlier ones."""
        pending = self._needed(texts)
        layers: list[Layer] = []
        done: set[str] = set()
        while pending:
            ready = {name: text for name, (text, needs) in pending.items() if needs <= done}
            sql = {name: text for name, text in ready.items() if text is not None}
            if sql:
                layers.append(Columns(tuple(f"{text} AS {name}" for name, text in sql.items())))
                done |= sql.keys()
            else:
                layers.append(self._foreign_layer(ready))
                done |= ready.keys()
            pending = {name: item for name, item in pending.items() if name not in done}
        return layers

    def _foreign_layer(self, names: dict[str, str | None]) -> ForeignColumns:
        assert names, "a value that depends on itself"
        found = {id(self._foreign[name]): self._foreign[name] for name in names}
        return ForeignColumns(tuple(found.values()))

    def _needed(self, texts: Sequence[str]) -> dict[str, tuple[str | None, set[str]]]:
        """The text and the direct needs of every column used; foreign ones have no text."""
        definitions = {name: text for text, name in self._frames[0].names.items()}
        needed: dict[str, tuple[str | None, set[str]]] = {}
        waiting = [name for text in texts for name in _NAME.findall(text)]
        while waiting:
            name = waiting.pop()
            if name in needed:
                continue
            if name in definitions:
                text: str | None = definitions[name]
                needs = set(_NAME.findall(definitions[name]))
            elif name in self._foreign:
                text, needs = None, set(_NAME.findall(" ".join(self._foreign[name].columns)))
            else:
                continue  # the variable of a lambda
            needed[name] = text, needs
            waiting.extend(needs)
        known = definitions.keys() | self._foreign.keys()
        ordered = sorted(needed, key=lambda name: int(name[2:-1]))
        return {name: (needed[name][0], needed[name][1] & known) for name in ordered}
