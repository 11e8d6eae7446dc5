"""Aggregates: one record per group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.nodes.base import SingleInputNode
from clinker.config.quantities import Duration, PositiveDuration
from clinker.diagnostics import Diagnostic


class Tumbling(Model):
    size: PositiveDuration = Field(description="the length of a window")


class Hopping(Model):
    size: PositiveDuration = Field(description="the length of a window")
    slide: PositiveDuration = Field(description="the time between two window starts")


class Session(Model):
    gap: PositiveDuration = Field(description="the silence that ends a session")


class TimeWindow(Model):
    tumbling: Tumbling | None = Field(
        default=None, description="windows of one size, one after the other"
    )
    hopping: Hopping | None = Field(default=None, description="windows of one size that overlap")
    session: Session | None = Field(default=None, description="windows that end with a silence")

    @property
    def shape(self) -> Tumbling | Hopping | Session | None:
        return self.tumbling or self.hopping or self.session

    def check(self) -> Iterator[Diagnostic]:
        shapes = [shape for shape in (self.tumbling, self.hopping, self.session) if shape]
        if len(shapes) != 1:
            yield self.problem(
                "E027",
                "a time window has exactly one shape",
                help="give one of: tumbling, hopping, session",
            )


class AggregateConfig(Model):
    group_by: tuple[Name, ...] = Field(
        default=(), description="the fields of a group; without any, one group of all records"
    )
    cxl: str = Field(description="the CXL program")
    strategy: Literal["auto", "hash", "streaming"] = Field(
        default="auto",
        description="how groups are gathered; 'streaming' needs records sorted by group",
    )
    time_window: TimeWindow | None = Field(default=None, description="groups by event time as well")
    allowed_lateness: Duration | None = Field(
        default=None, description="how long a time window waits for late records"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.allowed_lateness is not None and self.time_window is None:
            yield self.problem(
                "E027",
                "'allowed_lateness' belongs to a time window, which is not given",
                "allowed_lateness",
                key=True,
                help="add 'time_window'",
            )


class AggregateNode(SingleInputNode):
    """Groups records and summarizes each group."""

    type: Literal["aggregate"]
    config: AggregateConfig = Field(description="how to group and summarize")
