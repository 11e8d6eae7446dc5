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
    tumbling: Tumbling | None = None
    hopping: Hopping | None = None
    session: Session | None = None

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
    strategy: Literal["auto", "hash", "streaming"] = "auto"
    time_window: TimeWindow | None = None
    allowed_lateness: Duration | None = None

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
