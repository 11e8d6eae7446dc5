"""Analytic windows: which records a `$window` function looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from clinker.config.errors import found, invalid
from clinker.config.model import Model
from clinker.config.names import Name, SortKey
from clinker.diagnostics import Diagnostic
from clinker.frozen import frozen

_OFFSET = re.compile(r"(\d+(?:\.\d+)?)[ _](preceding|following)")
_FIXED = {
    "unbounded_preceding": float("-inf"),
    "current_row": 0.0,
    "unbounded_following": float("inf"),
}
_HELP = (
    "write 'start..end' with unbounded_preceding, '3 preceding', current_row, '3 following' "
    "or unbounded_following"
)
_MAX_DIGITS = 15


@frozen
class Extent:
    """From where to where a frame reaches, relative to the current record.

    Negative is before it, positive after, infinite without bound.
    """

    start: float
    end: float


def parse_extent(value: object) -> Extent:
    """`a..b`, `[a, b]`, `{start: a, end: b}`, or `a` for `a..current_row`."""
    if isinstance(value, Extent):
        return value
    if isinstance(value, str):
        bounds: list[object] = [part.strip() for part in value.split("..")]
    elif isinstance(value, tuple):
        bounds = list(value)
    elif isinstance(value, dict) and {"start"} <= value.keys() <= {"start", "end"}:
        bounds = [value["start"], value.get("end", "current_row")]
    else:
        raise invalid("E025", f"expected the extent of a frame, found {found(value)}", _HELP)
    if len(bounds) == 1:
        bounds.append("current_row")
    if len(bounds) != 2:
        raise invalid("E025", "a frame has a start and an end", _HELP)
    extent = Extent(_bound(bounds[0]), _bound(bounds[1]))
    if extent.start > extent.end or extent.start == float("inf") or extent.end == float("-inf"):
        raise invalid("E025", "the frame ends before it starts", "swap its start and end")
    return extent


def _bound(value: object) -> float:
    text = value.strip().lower() if isinstance(value, str) else ""
    if text.replace(" ", "_") in _FIXED:
        return _FIXED[text.replace(" ", "_")]
    if (match := _OFFSET.fullmatch(text)) and len(match[1]) <= _MAX_DIGITS:
        distance = float(match[1])
        return -distance if match[2] == "preceding" else distance
    raise invalid("E025", f"{found(value)} is not the bound of a frame", _HELP)


FrameExtent: TypeAlias = Annotated[
    Extent,
    BeforeValidator(parse_extent),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
                {
                    "type": "object",
                    "properties": {
                        "start": {"type": "string", "description": "where the frame begins"},
                        "end": {"type": "string", "description": "where it ends"},
                    },
                    "required": ["start"],
                    "additionalProperties": False,
                },
            ],
            "description": "For example unbounded_preceding..current_row or '3 preceding'.",
        }
    ),
]


class Frame(Model):
    """The stretch of a partition around the current record; by count or by value."""

    rows: FrameExtent | None = Field(
        default=None, description="by count, such as unbounded_preceding..current_row"
    )
    range: FrameExtent | None = Field(
        default=None, description="by the value of the sort field, such as '3 preceding'"
    )

    def check(self) -> Iterator[Diagnostic]:
        if (self.rows is None) == (self.range is None):
            yield self.problem("E025", "a frame is either 'rows' or 'range'", help=_HELP)
        if self.rows is not None and not all(
            bound in (float("-inf"), float("inf")) or bound.is_integer()
            for bound in (self.rows.start, self.rows.end)
        ):
            yield self.problem("E025", "a frame of rows counts whole records", "rows")


class AnalyticWindow(Model):
    group_by: tuple[Name, ...] = Field(description="the fields that form a partition")
    sort_by: tuple[SortKey, ...] = Field(
        default=(), description="the order inside a partition; without it, arrival order"
    )
    source: Name | None = Field(
        default=None, description="another source whose records are looked up"
    )
    on: Name | None = Field(default=None, description="the field by which they are looked up")
    frame: Frame | None = Field(
        default=None, description="the records around the current one; all up to it when left out"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.on is not None and self.source is None:
            yield self.problem(
                "E025", "'on' looks up records of a 'source', which is not given", "on", key=True
            )
        if self.frame is not None and self.frame.range is not None and len(self.sort_by) != 1:
            yield self.problem(
                "E025",
                "a frame by range needs exactly one field in 'sort_by'",
                "frame",
                key=True,
                help="sort by one field, or count 'rows'",
            )
