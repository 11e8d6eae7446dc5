"""What happens to records that fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.errors import invalid
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, IfExists, Name, Natural, Positive
from clinker.diagnostics import Diagnostic


def _rate(value: float) -> float:
    if not 0 < value <= 1:
        raise invalid(
            "E318",
            f"must be a fraction above 0 and at most 1, found {value}",
            "write 0.05 for five percent",
        )
    return value


Rate: TypeAlias = Annotated[float, AfterValidator(_rate)]


class Queue(Model):
    """What every dead-letter queue has."""

    path: Name | None = None
    if_exists: IfExists | None = None
    max_rate: Rate | None = None


class SourceDlq(Queue):
    """The dead-letter queue of one source."""

    min_records: Natural | None = None


class Dlq(Queue):
    """The dead-letter queue."""

    if_exists: IfExists = "error"
    min_records: Natural = 100
    include_reason: bool = True
    include_source_row: bool = True
    per_source: dict[str, SourceDlq] = Field(default_factory=dict)


class ErrorHandling(Model):
    strategy: Literal["fail_fast", "continue", "best_effort"] = "fail_fast"
    dlq: Dlq = Field(default_factory=Dlq.model_construct)
    max_group_buffer: Positive = 100_000
    correlation_fanout_policy: FanoutPolicy = "any"
    correlation_key: tuple[Name, ...] = ()
    type_error_threshold: Annotated[float, Field(ge=0, le=1)] | None = None

    def check(self) -> Iterator[Diagnostic]:
        if self.has("correlation_key"):
            yield self.problem(
                "W012",
                "'error_handling.correlation_key' is deprecated",
                "correlation_key",
                key=True,
                help="declare 'correlation_key' on each source that has the column",
                warning=True,
            )
