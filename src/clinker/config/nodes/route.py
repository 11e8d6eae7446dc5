"""Routes: records to named branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name
from clinker.config.nodes.base import SingleInputNode
from clinker.diagnostics import Diagnostic, Label

MAX_BRANCHES = 256


class RouteConfig(Model):
    conditions: dict[str, str] = Field(description="branch names and their CXL conditions")
    default: Name = Field(description="the branch of records that match no condition")
    mode: Literal["exclusive", "inclusive"] = Field(
        default="exclusive", description="into the first branch that matches, or into all"
    )

    @property
    def branches(self) -> tuple[str, ...]:
        return (*self.conditions, self.default)

    def check(self) -> Iterator[Diagnostic]:
        if not self.conditions:
            yield self.problem(
                "E028", "a route needs at least one condition", "conditions", key=True
            )
        if len(self.branches) > MAX_BRANCHES:
            yield self.problem(
                "E028",
                f"a route has at most {MAX_BRANCHES} branches, found {len(self.branches)}",
                "conditions",
                key=True,
                help="route in two steps",
            )
        if self.default in self.conditions:
            yield self.problem(
                "E029",
                f"the default branch '{self.default}' has a condition as well",
                "default",
                also=(Label(self.key_at("conditions", self.default), "the condition"),),
                help="give the default branch a name of its own",
            )
        for branch in self.branches:
            if "." in branch or not branch:
                key = branch in self.conditions
                path = ("conditions", branch) if key else ("default",)
                yield self.problem(
                    "E010",
                    f"branch name '{branch}' {'contains a dot' if branch else 'is empty'}",
                    *path,
                    key=key,
                    help="the dot separates a node from its port; use '_'",
                )


class RouteNode(SingleInputNode):
    """Splits records into branches by condition."""

    type: Literal["route"]
    config: RouteConfig = Field(description="the branches")

    @property
    def ports(self) -> tuple[str, ...]:
        return self.config.branches

    @property
    def picks_one_port(self) -> bool:
        return self.config.mode == "exclusive"
