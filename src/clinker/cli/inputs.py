"""What a user hands to the `cxl` command: programs, fields, records, schemas."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from clinker.cli.command import CXL_IO, USAGE, CommandError
from clinker.cxl.check.modules import read_source
from clinker.cxl.check.resolve import Row
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from clinker.diagnostics import Source
from clinker.diagnostics.render import render_text
from clinker.plain_files import read_plain

STANDARD_INPUT = "-"
MAX_RECORD_NESTING = 256

_SURROGATE = re.compile("[\ud800-\udfff]")

_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")


class InputError(CommandError):
    """A file or a record cannot be read."""

    def __init__(self, message: str) -> None:
        super().__init__(message, CXL_IO)


class UsageError(CommandError):
    """Something on the command line is not as it should be."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE)


def read_program(path: str) -> Source:
    """The program in a file, or on standard input for `-`."""
    if path == STANDARD_INPUT:
        return read_source("<stdin>", sys.stdin.buffer.read())
    try:
        return read_source(path, Path(path).read_bytes())
    except OSError as problem:
        raise InputError(f"cannot read '{path}': {problem.strerror}") from problem


def parse_assignments(option: str, texts: Iterable[str]) -> dict[str, Value]:
    """`name=value` pairs, the values' types inferred."""
    assignments: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} must be name=value, got '{text}'")
        if _SURROGATE.search(text):
            raise UsageError(f"the value of {option} {name} is not valid UTF-8")
        assignments[name] = infer(value)
    return assignments


def infer(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    if text == "null":
        return None
    if _INT.fullmatch(text):
        return _bounded_int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _bounded_int(text: str) -> int | float:
    number = float(text)
    if abs(number) > 2.0**64:
        return number
    exact = int(text)
    return exact if MIN_INT <= exact <= MAX_INT else number


def parse_record(text: str) -> dict[str, Value]:
    """A record given as a JSON object."""

    def reject(constant: str) -> float:
        raise InputError(f"invalid JSON record: {constant} is not JSON")

    try:
        record = json.loads(text, parse_int=_bounded_int, parse_constant=reject)
    except json.JSONDecodeError as problem:
        raise InputError(f"invalid JSON record: {problem}") from problem
    except RecursionError as problem:
        raise InputError("invalid JSON record: nested too deeply") from problem
    if not isinstance(record, dict):
        raise InputError("--record must be a JSON object")
    if _nests_deeper(record, MAX_RECORD_NESTING):
        raise InputError(f"invalid JSON record: nested more than {MAX_RECORD_NESTING} levels deep")
    if _SURROGATE.search(json.dumps(record, ensure_ascii=False)):
        raise InputError("invalid JSON record: it holds half of a character")
    return record


def _nests_deeper(value: Value, limit: int) -> bool:
    level: list[Value] = [value]
    for _ in range(limit):
        containers = [item for item in level if isinstance(item, list | dict)]
        level = [
            inner
            for item in containers
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def as_json(value: Value) -> object:
    """A value as `json.dumps` takes it: dates as ISO text, NaN and infinities as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat else value


def read_schema(path: str) -> Row:
    """The columns a schema file declares."""
    # Configuration files take pydantic, which nothing else here needs.
    from clinker.config import load_columns

    try:
        content = read_plain(Path(path))
    except OSError as problem:
        raise InputError(f"cannot read '{path}': {problem.strerror}") from problem
    loaded = load_columns(content, path)
    if loaded.value is None:
        raise InputError(f"{path} declares no columns\n{render_text(loaded.diagnostics)}".rstrip())
    return Row({column.name: column.type for column in loaded.value.columns})
