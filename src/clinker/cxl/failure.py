"""What can go wrong while an expression is evaluated.

Errors are data: every expression knows at compile time which kinds of failure it can raise, and a
failed record carries its failure to the dead-letter file.
"""

from __future__ import annotations

import enum

from clinker.diagnostics import Diagnostic, Label, Location


class Category(enum.StrEnum):
    """What dead-letter entries are filed under."""

    TYPE_COERCION = "type_coercion_failure"
    """A value could not be converted or computed."""
    MISSING_REQUIRED = "missing_required_field"
    REQUIRED_CONVERSION = "required_field_conversion_failure"
    VALIDATION = "validation_failure"
    NAN_IN_OUTPUT = "nan_in_output_field"
    AGGREGATE_TYPE = "aggregate_type_error"
    AGGREGATE_FINALIZE = "aggregate_finalize"
    COMBINE = "combine_output_row"
    NO_MATCH = "no_match"
    EXPANSION_LIMIT = "expansion_limit_exceeded"
    LATE_RECORD = "late_record"
    CORRELATED = "correlated"
    """Nothing is wrong with the record, but with another of its group."""
    GROUP_SIZE = "group_size_exceeded"


class FailureKind(enum.Enum):
    """Every way an evaluation can fail."""

    TYPE_MISMATCH = "type_mismatch"
    DIVISION_BY_ZERO = "division_by_zero"
    CONVERSION_FAILED = "conversion_failed"
    INTEGER_OVERFLOW = "integer_overflow"
    STRING_TOO_LARGE = "string_too_large"
    INVALID_PATTERN = "invalid_pattern"
    SLOW_PATTERN = "slow_pattern"
    INVALID_FORMAT = "invalid_format"
    AGGREGATE_TYPE = "aggregate_type"
    EXPANSION_LIMIT = "expansion_limit_exceeded"

    @property
    def category(self) -> str:
        """The dead-letter category a record with this failure is filed under."""
        match self:
            case FailureKind.AGGREGATE_TYPE:
                return Category.AGGREGATE_TYPE
            case FailureKind.EXPANSION_LIMIT:
                return Category.EXPANSION_LIMIT
            case _:
                return Category.TYPE_COERCION


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
        self.callers: list[Location] = []
        """The calls of module functions that led to the place, the innermost first."""
        self.of_group = False
        """Whether an aggregate function has no result for the values of a group."""

    @property
    def category(self) -> str:
        category = self.kind.category
        is_general = category == Category.TYPE_COERCION
        return Category.AGGREGATE_FINALIZE if self.of_group and is_general else category

    def diagnostic(self) -> Diagnostic:
        """The failure as it is shown to a user."""
        computing = f"while computing '{self.field}'" if self.field else ""
        primary = Label(self.location, computing) if self.location else None
        callers = tuple(Label(caller, "called here") for caller in self.callers)
        return Diagnostic("eval", self.detail, primary, callers)


_MAX_SHOWN = 60


def shown(text: str) -> str:
    """A value in a message: on one line, and cut when it is long."""
    line = printable(text[:_MAX_SHOWN])
    return line + "…" if len(text) > _MAX_SHOWN else line


def printable(text: str) -> str:
    """A name or path in a message: on one line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def conversion_failed(value: str, target: str) -> Failure:
    """The failure of turning the value with this text form into `target`."""
    detail = f"cannot convert '{shown(value)}' to {target}"
    return Failure(FailureKind.CONVERSION_FAILED, detail, value)
