"""What happens to records that fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.errors import invalid
from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, IfExists, Name, Natural, Positive
from clinker.config.template import QueueTemplate
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

    path: QueueTemplate | None = Field(
        default=None, description="the dead-letter file; without one, entries are logged"
    )
    if_exists: IfExists | None = Field(
        default=None, description="what happens when the file is there already"
    )
    max_rate: Rate | None = Field(
        default=None, description="the fraction of rejected records at which the run stops"
    )


class SourceDlq(Queue):
    """The dead-letter queue of one source."""

    min_records: Natural | None = Field(
        default=None, description="how many records must have been read before max_rate counts"
    )


class Dlq(Queue):
    """The dead-letter queue."""

    if_exists: IfExists = Field(
        default="error", description="what happens when the file is there already"
    )
    min_records: Natural = Field(
        default=100, description="how many records must have been read before max_rate counts"
    )
    include_reason: bool = Field(default=True, description="whether entries say why")
    include_source_row: bool = Field(
        default=True, description="whether entries show the fields of the source record"
    )
    per_source: dict[str, SourceDlq] = Field(
        default_factory=dict, description="queues and limits of single sources, by name"
    )


class ErrorHandling(Model):
    strategy: Literal["fail_fast", "continue", "best_effort"] = Field(
        default="fail_fast", description="stop at the first record that fails, or go on without it"
    )
    dlq: Dlq = Field(
        default_factory=Dlq.model_construct, description="where records that fail are written"
    )
    max_group_buffer: Positive = Field(
        default=100_000, description="the most records a correlation group may have"
    )
    correlation_fanout_policy: FanoutPolicy = Field(
        default="any", description="when a failing record takes its group along"
    )
    correlation_key: tuple[Name, ...] = Field(
        default=(), description="deprecated: write it at the sources"
    )
    type_error_threshold: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="the fraction of records that may fail to convert"
    )

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
