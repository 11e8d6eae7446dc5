"""Small vocabularies that several models share."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from clinker.config.model import Model

FanoutPolicy: TypeAlias = Literal["any", "all", "primary"]
IfExists: TypeAlias = Literal["error", "overwrite", "unique_suffix"]
Phase: TypeAlias = Literal["runtime", "init"]
Scope: TypeAlias = Literal["pipeline", "source", "record"]

Name: TypeAlias = Annotated[str, Field(min_length=1)]
Positive: TypeAlias = Annotated[int, Field(ge=1)]
Natural: TypeAlias = Annotated[int, Field(ge=0)]


class SortKey(Model):
    """One field to sort by."""

    field: Name = Field(description="the field to sort by")
    order: Literal["asc", "desc"] = Field(default="asc", description="ascending or descending")
    null_order: Literal["first", "last", "drop"] = Field(
        default="last", description="where nulls stand"
    )
