"""What can be read off SQL text: nothing else looks into a text that was written before.

SQL is put together as strings, so a text does not carry what it uses. What is looked for here can
be recognised without knowing SQL, because nothing else is written like it:

- The names that a scope gives are a dollar sign and a number between backquotes. No column that a
  user declares begins like that, a quoted name doubles the backquotes inside of it, and literals
  contain neither dollar signs nor backquotes (`cxl.sql.text.text_literal`).
- A name or a literal is recognised as a whole text. One that is not only gets a name it could do
  without.
- Variables of lambdas are the words before an arrow, in the forms of built-ins, where literals and
  quoted names are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

_NAME = re.compile(r"(?<!`)`\$\d+`(?!`)")
_COLUMN = re.compile(r"`(?:[^`]|``)+`")
_TRIVIAL = re.compile(
    r"""
    (`(?:[^`]|``)+`\.)?`(?:[^`]|``)+`     # a column, perhaps of one input
    | [A-Za-z_]\w*                        # a lambda variable, TRUE, FALSE
    | -?[0-9.]+(e[+-]?[0-9]+)?[LD]?
    | (DATE|TIMESTAMP_NTZ)?'(?:[^'\\]|\\.)*'
    | CAST\(NULL\ AS\ [A-Z_<>]+\)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = r"""[rR]'[^']*'|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`"""
_QUOTED_PART = re.compile(_QUOTED, re.DOTALL)
_WORD = re.compile(rf"{_QUOTED}|(?<![\w.`])(?P<word>[A-Za-z_]\w*)", re.DOTALL)
_VARIABLES = re.compile(r"(?:\b([A-Za-z_]\w*)|\(\s*(\w+)\s*,\s*(\w+)\s*\))\s*->")


def scope_name(number: int) -> str:
    """A name that a scope gives."""
    return f"`${number}`"


def name_number(name: str) -> int:
    """The number in a name that a scope gave."""
    return int(name[2:-1])


def numbers_taken(columns: Iterable[str]) -> Iterator[int]:
    """The numbers of those columns whose names scopes gave."""
    for column in columns:
        if _NAME.fullmatch(f"`{column}`"):
            yield int(column[1:])


def names_in(text: str) -> list[str]:
    """The names that scopes gave and a text uses, as often as it does."""
    return _NAME.findall(text)


def replace_names(text: str, replacements: Mapping[str, str]) -> str:
    """A text with these texts in place of names that scopes gave."""
    return _NAME.sub(lambda match: replacements.get(match[0], match[0]), text)


def is_trivial(text: str) -> bool:
    """Whether a text costs nothing to repeat: a name or a literal."""
    return _TRIVIAL.fullmatch(text) is not None


def is_column(text: str) -> bool:
    """Whether a text is the name of a column."""
    return _COLUMN.fullmatch(text) is not None


def has_lambda(text: str) -> bool:
    """Whether part of a text may be computed for every element of an array."""
    return "->" in text


def as_unit(text: str) -> str:
    """A text in parentheses, unless it is a name, a literal or a call."""
    depth = 0
    for character in _QUOTED_PART.sub("q", text):
        if depth == 0 and not (character.isalnum() or character in "_.()"):
            return f"({text})"
        depth += {"(": 1, ")": -1}.get(character, 0)
    return text


def rename_variables(text: str, rename: Callable[[str], str]) -> str:
    """The form of a built-in with other names for the variables of its lambdas."""
    variables = {word for match in _VARIABLES.findall(text) for word in match if word}
    if not variables:
        return text

    def renamed(match: re.Match[str]) -> str:
        word = match["word"]
        return rename(word) if word in variables else match[0]

    return _WORD.sub(renamed, text)
