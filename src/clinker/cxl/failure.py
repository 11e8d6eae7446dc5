"""What can go wrong while an expression is evaluated.

Errors are data: every expression knows at compile time which kinds of failure it can raise, and a
failed record carries its failure to the dead-letter file.
"""

from __future__ import annotations

import enum

from clinker.diagnostics import Location

CATEGORY_TYPE_COERCION = "type_coercion_failure"
CATEGORY_AGGREGATE_TYPE = "aggregate_type_error"
CATEGORY_EXPANSION_LIMIT = "expansion_limit_exceeded"


class FailureKind(enum.Enum):
    """Every way an evaluation can fail."""

    TYPE_MISMATCH = "type_mismatch"
    DIVISION_BY_ZERO = "division_by_zero"
    CONVERSION_FAILED = "conversion_failed"
    INTEGER_OVERFLOW = "integer_overflow"
    STRING_TOO_LARGE = "string_too_large"
    INVALID_PATTERN = "invalid_pattern"
    INVALID_FORMAT = "invalid_format"
    AGGREGATE_TYPE = "aggregate_type"
    EXPANSION_LIMIT = "expansion_limit_exceeded"

    @property
    def category(self) -> str:
        """The dead-letter category a record with this failure is filed under."""
        match self:
            case FailureKind.AGGREGATE_TYPE:
                return CATEGORY_AGGREGATE_TYPE
            case FailureKind.EXPANSION_LIMIT:
                return CATEGORY_EXPANSION_LIMIT
            case _:
                return CATEGORY_TYPE_COERCION


class Failure(Exception):
    """An evaluation failed: what happened and, where one is to blame, the value that caused it.

    The interpreter adds the field that was being computed and the place in the program.
    """

    def __init__(self, kind: FailureKind, detail: str, value: str | None = None) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.value = value
        self.field: str | None = None
        self.location: Location | None = None

    @property
    def category(self) -> str:
        return self.kind.category


def conversion_failed(shown: str, target: str) -> Failure:
    """The failure of turning the value shown as `shown` into `target`."""
    return Failure(FailureKind.CONVERSION_FAILED, f"cannot convert '{shown}' to {target}", shown)
