"""Combines: records of several inputs joined by a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import FanoutPolicy, Name
from clinker.config.nodes.base import NodeBase
from clinker.config.reference import NodeRef, Ref
from clinker.diagnostics import Diagnostic
from clinker.diagnostics.suggest import did_you_mean

MIN_INPUTS, MAX_INPUTS = 2, 8


class PropagateCk(Model):
    """Which correlation keys the joined records carry."""

    mode: Literal["driver", "all", "named"] = Field(
        description="the driver's keys, those of all inputs, or the named ones"
    )
    named: tuple[Name, ...] = Field(default=(), description="the key fields that are carried")


class CombineConfig(Model):
    where: str = Field(min_length=1, description="the CXL condition that joins records")
    cxl: str = Field(default="", description="the CXL program; empty with 'match: collect'")
    propagate_ck: PropagateCk = Field(description="driver, all, or { named: [field, …] }")
    match: Literal["first", "all", "collect"] = Field(
        default="first", description="the first match, a record for each, or an array of all"
    )
    on_miss: Literal["null_fields", "skip", "error"] = Field(
        default="null_fields", description="what becomes of a driver's record without a match"
    )
    drive: Name | None = Field(default=None, description="the input whose records drive the join")
    strategy: Literal["auto", "grace_hash"] = Field(
        default="auto", description="grace_hash for inputs that do not fit into memory"
    )
    correlation_fanout_policy: FanoutPolicy | None = Field(
        default=None, description="when a failing record takes its group along"
    )

    def check(self) -> Iterator[Diagnostic]:
        collects = self.match == "collect"
        if collects and self.cxl.strip():
            yield self.problem(
                "E311",
                "with 'match: collect' the joined record is built for you, so 'cxl' must be empty",
                "cxl",
                help="write cxl: \"\", or use 'match: all'",
            )
        if not collects and not self.has("cxl"):
            yield self.problem("E006", "missing key 'cxl'", help="add 'cxl': the CXL program")


class CombineNode(NodeBase):
    """Joins records across inputs."""

    type: Literal["combine"]
    input: dict[str, NodeRef] = Field(description="a name for each input and the node it reads")
    config: CombineConfig = Field(description="how to join")

    @property
    def references(self) -> Iterator[tuple[Ref, tuple[str | int, ...]]]:
        for qualifier, ref in self.input.items():
            yield ref, ("input", qualifier)

    def label(self, ref: Ref, path: tuple[str | int, ...]) -> str:
        return str(path[-1])

    @property
    def driver(self) -> str:
        chosen = self.config.drive
        return chosen if chosen in self.input else next(iter(self.input))

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if not MIN_INPUTS <= len(self.input) <= MAX_INPUTS:
            yield self.problem(
                "E300",
                f"a combine joins {MIN_INPUTS} to {MAX_INPUTS} inputs, found {len(self.input)}",
                "input",
                key=True,
                help="chain two combines" if len(self.input) > MAX_INPUTS else "add an input",
            )
        for qualifier in self.input:
            if not qualifier or qualifier.startswith("$") or "." in qualifier:
                yield self.problem(
                    "E301",
                    f"'{qualifier}' cannot name an input",
                    "input",
                    qualifier,
                    key=True,
                    help="use letters, digits and _",
                )
        drive = self.config.drive
        if drive is not None and drive not in self.input:
            yield self.config.problem(
                "E306",
                f"'{drive}' is not an input of this combine",
                "drive",
                help=did_you_mean(drive, self.input) or f"one of: {', '.join(self.input)}",
            )
