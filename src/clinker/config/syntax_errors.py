"""Why a text is not YAML, in plain words and at the exact place."""

from __future__ import annotations

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from clinker.config.interpolate import Expanded
from clinker.diagnostics import Diagnostic, Label, Span


def diagnostic(
    text: Expanded, code: str, message: str, place: Span, help: str | None = None
) -> Diagnostic:
    return Diagnostic(code, message, Label(text.source.at(text.written(place))), help=help)


def syntax_error(text: Expanded, error: YAMLError) -> Diagnostic:
    if isinstance(error, ReaderError):
        shown = _code_point(error.character)
        message = f"the character {shown} is not allowed in YAML"
        return at_offset(text, error.position, message, None)
    if isinstance(error, MarkedYAMLError) and (error.problem_mark or error.context_mark):
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context)
        message, help = _in_plain_words(problem, text.text[mark.index : mark.index + 1])
        return at_offset(text, mark.index, message, help)
    return at_offset(text, 0, "this is not YAML", None)


def _code_point(character: str | int) -> str:
    number = ord(character) if isinstance(character, str) else character
    return f"U+{number:04X}"


def at_offset(text: Expanded, index: int, message: str, help: str | None) -> Diagnostic:
    index = min(index, len(text.text))
    end = index + 1 if text.text[index : index + 1].strip() else index
    return diagnostic(text, "E000", message, Span(index, end), help)


_PLAIN_WORDS = (
    (
        "mapping values are not allowed",
        "a ':' is not allowed here",
        "put text that contains ': ' in quotes, and line keys up with their neighbours",
    ),
    (
        "could not find expected ':'",
        "this line is neither 'key: value' nor part of the value above it",
        "add the ':', or indent the line under the key it belongs to",
    ),
    (
        "expected <block end>",
        "this does not line up with what it belongs to",
        "keys of one mapping, and the '-' of one list, start in the same column",
    ),
    (
        "found unexpected end of stream",
        "the file ends in the middle of a quoted text",
        "close the quote",
    ),
    ("expected ',' or ']'", "expected ',' or ']' in this list", "close the list with ']'"),
    ("expected ',' or '}'", "expected ',' or '}' in this mapping", "close the mapping with '}'"),
    (
        "unknown escape character",
        "this escape does not exist in double quotes",
        "write \\\\ for a backslash, or use single quotes",
    ),
)


def _in_plain_words(problem: str, character: str) -> tuple[str, str | None]:
    if character == "\t":
        return "a tab cannot be used to indent", "indent with blanks"
    if "cannot start any token" in problem:
        return f"a value cannot start with '{character}'", "put the value in quotes"
    for found, message, help in _PLAIN_WORDS:
        if found in problem:
            return message, help
    return problem, None
