"""Durations, sizes and points in time as users write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from clinker.config.errors import found, invalid

_DURATION = re.compile(r"\s*(\d+)\s*(ms|s|m|h|d)\s*")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_FILE_SIZE = re.compile(r"\s*(\d+)\s*(B|KB|MB|GB)\s*")
_DECIMAL = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_MEMORY = re.compile(r"\s*(\d+)\s*([KMGkmg]?)\s*")
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_MAX_DIGITS = 18


def parse_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        try:
            return int(match[1][:_MAX_DIGITS]) * _UNITS[match[2]]
        except OverflowError:
            raise _not("a duration", value, "E214", _DURATION_HELP) from None
    raise _not("a duration", value, "E214", _DURATION_HELP)


def parse_positive_duration(value: object) -> timedelta:
    duration = parse_duration(value)
    if not duration:
        raise invalid("E214", "must be longer than zero", _DURATION_HELP)
    return duration


def parse_file_size(value: object) -> int:
    """Bytes; the suffixes are decimal."""
    return _parse_size(value, _FILE_SIZE, _DECIMAL, "a size", _FILE_SIZE_HELP)


def parse_memory_size(value: object) -> int:
    """Bytes; the suffixes are binary."""
    return _parse_size(value, _MEMORY, _BINARY, "an amount of memory", _MEMORY_HELP)


def parse_moment(value: object) -> timedelta | datetime:
    """A point in time, or how long ago it was."""
    if isinstance(value, timedelta | datetime):
        return value
    if isinstance(value, str):
        if (match := _DURATION.fullmatch(value)) and match[2] != "ms":
            return parse_duration(value)
        moment = _rfc3339(value)
        if moment is not None:
            return moment
    raise _not("a point in time", value, "E214", _MOMENT_HELP)


_DURATION_HELP = "write a number and ms, s, m, h or d, such as 30s or 5m"
_FILE_SIZE_HELP = "write bytes, or a number and B, KB, MB or GB, such as 10MB"
_MEMORY_HELP = "write bytes, or a number and K, M or G, such as 512M"
_MOMENT_HELP = "write how long ago, such as 7d, or a time with its zone: 2026-01-31T06:00:00Z"


def _rfc3339(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _parse_size(
    value: object, pattern: re.Pattern[str], units: dict[str, int], what: str, help: str
) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and (match := pattern.fullmatch(value)):
        return int(match[1][:_MAX_DIGITS]) * units[match[2].upper()]
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:_MAX_DIGITS])
    raise _not(what, value, "E215", help)


def _not(what: str, value: object, code: str, help: str) -> PydanticCustomError:
    return invalid(code, f"expected {what}, found {found(value)}", help)


def _text(pattern: re.Pattern[str], description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern.pattern}$", "description": description}


def _number_or_text(pattern: re.Pattern[str], description: str) -> dict[str, Any]:
    return {
        "anyOf": [{"type": "integer", "minimum": 0}, _text(pattern, description)],
        "description": description,
    }


Duration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    WithJsonSchema(_text(_DURATION, "A duration such as 500ms, 30s, 5m, 1h or 2d.")),
]
PositiveDuration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(parse_positive_duration),
    WithJsonSchema(_text(_DURATION, "A duration such as 500ms, 30s, 5m, 1h or 2d.")),
]
FileSize: TypeAlias = Annotated[
    int,
    BeforeValidator(parse_file_size),
    WithJsonSchema(_number_or_text(_FILE_SIZE, "Bytes, or decimal KB, MB, GB: 10MB.")),
]
MemorySize: TypeAlias = Annotated[
    int,
    BeforeValidator(parse_memory_size),
    WithJsonSchema(_number_or_text(_MEMORY, "Bytes, or binary K, M, G: 512M.")),
]
Moment: TypeAlias = Annotated[
    timedelta | datetime,
    BeforeValidator(parse_moment),
    WithJsonSchema(
        {"type": "string", "description": "How long ago (7d), or an RFC 3339 time with its zone."}
    ),
]
