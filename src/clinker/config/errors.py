"""What validation found wrong, said in the words of the file's author."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from clinker.config.tree import MappingNode, Node, find
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import closest

REPORTED = "reported"
"""Type of the error that a model raises once its own problems have been reported."""

_CODE = re.compile(r"[EW]\d{3}")

_EXPECTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def explain(
    error: ValidationError, model: type[BaseModel], node: MappingNode
) -> Iterator[Diagnostic]:
    """The problems of one mapping, each on the key or value it is about."""
    every = error.errors(include_url=False)
    details = [d for d in every if d["type"] != REPORTED and not _follows_from(d, every)]
    keys = list(known_keys(model))
    missing = {str(d["loc"][-1]) for d in details if d["type"] == "missing"}
    for detail in details:
        if detail["type"] == "extra_forbidden":
            unknown = str(detail["loc"][-1])
            # A key that was merely misspelt is not missing as well.
            meant = closest(unknown, missing) or closest(unknown, keys)
            missing.discard(meant or "")
            yield _unknown_key(node, unknown, meant, keys)
    for detail in details:
        if detail["type"] == "missing":
            if str(detail["loc"][-1]) in missing:
                yield _missing_key(node, str(detail["loc"][-1]), model)
        elif detail["type"] != "extra_forbidden":
            yield _explain_value(detail, model, node)


def _follows_from(detail: ErrorDetails, others: list[ErrorDetails]) -> bool:
    """Whether a list is too short only because some of its entries are wrong."""
    path = detail["loc"]
    return detail["type"] == "too_short" and any(
        len(other["loc"]) > len(path) and other["loc"][: len(path)] == path for other in others
    )


def known_keys(model: type[BaseModel]) -> Iterable[str]:
    """The keys a user may write for `model`."""
    return [info.alias or name for name, info in model.model_fields.items()]


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that a field of this type may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def found(value: object) -> str:
    """A value as a message names it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"integer {value}"
    if isinstance(value, float):
        return f"number {value}"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else value[:39] + "…"
        return f"string '{shown}'"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, tuple | list):
        return "a list"
    return str(value)


def invalid(code: str, message: str, help: str | None = None) -> PydanticCustomError:
    """What a validator raises to report `message` under `code`."""
    return PydanticCustomError(code, "invalid", {"message": message, "help": help})


def one_of(choices: Iterable[str]) -> str:
    return "one of: " + ", ".join(choices)


def _unknown_key(node: MappingNode, key: str, meant: str | None, keys: list[str]) -> Diagnostic:
    help = f"did you mean '{meant}'?" if meant else f"known keys: {', '.join(keys)}"
    return Diagnostic(
        "E005", f"unknown key '{key}'", Label(node.entries[key].key.location), help=help
    )


def _missing_key(node: MappingNode, key: str, model: type[BaseModel]) -> Diagnostic:
    field = next(i for n, i in model.model_fields.items() if (i.alias or n) == key)
    described = f": {field.description}" if field.description else ""
    return Diagnostic(
        "E006", f"missing key '{key}'", Label(node.head), help=f"add '{key}'{described}"
    )


def _explain_value(detail: ErrorDetails, model: type[BaseModel], node: MappingNode) -> Diagnostic:
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    place = _place(node, detail["loc"])
    if kind == "union_tag_not_found":
        return _missing_tag(place, node, context, model)
    if kind == "union_tag_invalid":
        return _bad_tag(place, context)
    label = Label(place.location)
    if kind in _EXPECTED:
        message = f"expected {_EXPECTED[kind]}, found {_found_at(place, value)}"
        return Diagnostic("E007", message, label, help=_repair(kind, value, place))
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context["expected"])
        return _bad_choice(label, value, choices, detail["loc"][-1])
    if _CODE.fullmatch(kind):
        return Diagnostic(kind, context["message"], label, help=context["help"])
    return Diagnostic("E007", _LIMITS.get(kind, _as_is)(detail), label)


def _found_at(place: Node, value: object) -> str:
    """A value as a message names it; what comes from the environment may be a secret."""
    if "${" not in _written(place):
        return found(value)
    return f"{found(value).partition(' ')[0]} {_written(place)}"


def _written(place: Node) -> str:
    return place.source.text[place.span.start : place.span.end]


def _repair(kind: str, value: object, place: Node) -> str | None:
    written = _written(place)
    if value is None:
        return "give it a value or remove the key"
    if kind == "string_type" and isinstance(value, int | float):
        return f'put it in quotes: "{written}"'
    if kind == "tuple_type" and isinstance(value, str) and "\n" not in written:
        return f"write it as a list: [{written}]"
    return None


def _place(node: MappingNode, path: tuple[str | int, ...]) -> Node:
    """The node at `path`, or the nearest one around it."""
    for end in range(len(path), 0, -1):
        if place := find(node, *path[:end]):
            return place
    return node


def _bad_choice(label: Label, value: object, choices: list[str], key: str | int) -> Diagnostic:
    if not isinstance(value, str):
        return Diagnostic(
            "E007", f"expected a word, found {found(value)}", label, help=one_of(choices)
        )
    meant = closest(value, choices)
    help = f"did you mean '{meant}'?" if meant else one_of(choices)
    message = f"unknown {key} '{value}'" if isinstance(key, str) else f"'{value}' is not valid here"
    return Diagnostic("E007", message, label, help=help)


def _missing_tag(
    place: Node, node: MappingNode, context: dict[str, Any], model: type[BaseModel]
) -> Diagnostic:
    key = context["discriminator"].strip("'")
    choices = context.get("choices") or {
        choice
        for field in model.model_fields.values()
        for member in models_in(field.annotation)
        if key in member.model_fields
        for choice in get_args(member.model_fields[key].annotation)
    }
    if not isinstance(place, MappingNode):
        return Diagnostic("E007", "expected a mapping", Label(place.location))
    # Settings beside a node's name cannot use its key 'type' once more.
    written = "format" if key == "type" and place.place == node.place else key
    help = f"add '{written}', {one_of(sorted(choices))}"
    return Diagnostic("E006", f"missing key '{written}'", Label(place.head), help=help)


def _bad_tag(place: Node, context: dict[str, Any]) -> Diagnostic:
    key = context["discriminator"].strip("'")
    tag = find(place, key) or place
    choices = re.findall(r"'([^']*)'", context["expected_tags"])
    return _bad_choice(Label(tag.location), context["tag"], choices, key)


def _as_is(detail: ErrorDetails) -> str:
    return detail["msg"]


_LIMITS: dict[str, Callable[[ErrorDetails], str]] = {
    "greater_than": lambda d: f"must be greater than {d['ctx']['gt']}, found {d['input']}",
    "greater_than_equal": lambda d: f"must be at least {d['ctx']['ge']}, found {d['input']}",
    "less_than": lambda d: f"must be less than {d['ctx']['lt']}, found {d['input']}",
    "less_than_equal": lambda d: f"must be at most {d['ctx']['le']}, found {d['input']}",
    "too_short": lambda d: f"needs at least {_count(d['ctx']['min_length'], 'entry')}",
    "too_long": lambda d: f"takes at most {_count(d['ctx']['max_length'], 'entry')}",
    "string_too_short": lambda d: "must not be empty",
    "string_too_long": lambda d: f"takes at most {_count(d['ctx']['max_length'], 'character')}",
    "finite_number": lambda d: "must be a finite number",
}


def _count(n: int, noun: str) -> str:
    plural = {"entry": "entries"}.get(noun, noun + "s")
    return f"{n} {noun if n == 1 else plural}"
