"""Output paths with tokens: `out/{channel}/{source_name}-{timestamp}.csv`.

A token is `{name}`, `{name:argument}`, `{name:prefix:suffix}` (both written only if the value is
not empty) or `{name:argument:prefix:suffix}`. `{{` and `}}` are literal braces. With
`{field:country}` every value of a field has a file of its own. Files of dead letters know
`{channel}` alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from clinker.config.errors import found, invalid, one_of
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen

PATH_TOKENS = (
    "source_name",
    "source_file",
    "source_path",
    "field",
    "channel",
    "pipeline_hash",
    "timestamp",
    "execution_id",
    "batch_id",
    "n",
)
NAMING_TOKENS = ("stem", "seq", "ext")
_QUEUE_TOKENS = ("channel",)

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_HASH_LENGTH = re.compile(r"full|[1-9]|[1-5][0-9]|6[0-4]")
_SEQUENCE_WIDTH = re.compile(r"0?[1-9][0-9]?")


@frozen
class Token:
    """A part of a path that is known only when the pipeline runs."""

    name: str
    argument: str | None = None
    prefix: str = ""
    suffix: str = ""


@frozen
class Template:
    """A path cut into literal text and tokens."""

    text: str
    parts: tuple[str | Token, ...]

    @property
    def tokens(self) -> Iterator[Token]:
        return (part for part in self.parts if isinstance(part, Token))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields whose values are in the path, each once."""
        named = (token.argument for token in self.tokens if token.name == "field")
        return tuple(dict.fromkeys(filter(None, named)))

    def __str__(self) -> str:
        return self.text


def parse_path_template(value: object) -> Template:
    return _parse(value, _path_token)


def parse_naming_template(value: object) -> Template:
    """The names of split files: `{stem}`, `{seq:04}` and `{ext}`."""
    return _parse(value, _naming_token)


def parse_queue_template(value: object) -> Template:
    """The file of dead letters, which is the same whatever there is to read: `{channel}`."""
    return _parse(value, _queue_token)


def _parse(value: object, token: Callable[[str], Token]) -> Template:
    if isinstance(value, Template):
        return value
    if not isinstance(value, str):
        raise invalid("E007", f"expected a string, found {found(value)}")
    if not value.strip():
        raise invalid("E007", "must not be empty")
    parts: list[str | Token] = []
    for piece in _PIECE.finditer(value):
        if piece[1] is not None:
            parts.append(token(piece[1]))
            continue
        if piece[0] in ("{", "}"):
            what = "never closed" if piece[0] == "{" else "never opened"
            raise _invalid(f"'{piece[0]}' is {what}", f"write '{piece[0] * 2}' for a literal brace")
        literal = piece[0][0] if piece[0] in ("{{", "}}") else piece[0]
        if parts and isinstance(parts[-1], str):
            parts[-1] += literal
        else:
            parts.append(literal)
    return Template(value, tuple(parts))


def _path_token(body: str) -> Token:
    name, *rest = body.split(":")
    if name not in PATH_TOKENS:
        raise _unknown(name, PATH_TOKENS)
    if len(rest) > 3:
        raise _invalid(f"'{{{body}}}' has too many parts", "write {token:argument:prefix:suffix}")
    argument = rest.pop(0) if len(rest) in (1, 3) else None
    if argument is not None and not _takes(name, argument):
        raise _invalid(
            f"'{argument}' is not an argument of {{{name}}}",
            "{source_name} takes a source's name, {field} a field's, {pipeline_hash} 'full' or a "
            "length up to 64",
        )
    if name == "field" and argument is None:
        raise _invalid(f"'{{{body}}}' names no field", "write {field:country}, for instance")
    prefix, suffix = rest or ("", "")
    return Token(name, argument, prefix, suffix)


def _queue_token(body: str) -> Token:
    token = _path_token(body)
    if token.name not in _QUEUE_TOKENS:
        raise _unknown(token.name, _QUEUE_TOKENS)
    return token


def _takes(name: str, argument: str) -> bool:
    if name == "pipeline_hash":
        return bool(_HASH_LENGTH.fullmatch(argument))
    return name in ("source_name", "field") and bool(argument)


def _naming_token(body: str) -> Token:
    name, separator, argument = body.partition(":")
    if name not in NAMING_TOKENS:
        raise _unknown(name, NAMING_TOKENS)
    if separator and not (name == "seq" and _SEQUENCE_WIDTH.fullmatch(argument)):
        raise _invalid(f"'{{{body}}}' is not a token", "write {seq:04} for four digits")
    return Token(name, argument or None)


def _unknown(name: str, tokens: tuple[str, ...]) -> PydanticCustomError:
    return _invalid(f"unknown token '{{{name}}}'", did_you_mean(name, tokens) or one_of(tokens))


def _invalid(message: str, help: str) -> PydanticCustomError:
    return invalid("E018", message, help)


PathTemplate: TypeAlias = Annotated[
    Template,
    BeforeValidator(parse_path_template),
    WithJsonSchema({"type": "string", "description": "A path; may hold tokens such as {channel}."}),
]
QueueTemplate: TypeAlias = Annotated[
    Template,
    BeforeValidator(parse_queue_template),
    WithJsonSchema({"type": "string", "description": "A path; may hold the token {channel}."}),
]
NamingTemplate: TypeAlias = Annotated[
    Template,
    BeforeValidator(parse_naming_template),
    WithJsonSchema({"type": "string", "description": "File names: {stem}_{seq:04}.{ext}"}),
]
