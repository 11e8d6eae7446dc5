"""Transforms: CXL applied to every record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from clinker.config.errors import found
from clinker.config.model import Model
from clinker.config.names import Name, Phase, Positive
from clinker.config.nodes.base import SingleInputNode
from clinker.config.variables import Declaration
from clinker.config.window import AnalyticWindow
from clinker.cxl.run.pattern_parser import PatternError
from clinker.cxl.run.patterns import compile_pattern
from clinker.diagnostics import Diagnostic, Location
from clinker.diagnostics.suggest import closest

CHECKS: dict[str, tuple[str, ...]] = {
    "not_empty": (),
    "not_null": (),
    "matches": ("pattern",),
    "one_of": ("values",),
    "min": ("value",),
    "max": ("value",),
    "range": ("min", "max"),
    "length": ("min", "max"),
}
"""The named checks and the arguments each of them takes."""

_ONE_IS_ENOUGH = ("range", "length")
_WORD = re.compile(r"[a-z_]+")


class Validation(Model):
    """A rule that outgoing records must keep."""

    assertion: str = Field(
        alias="check", min_length=1, description="a named check, or a CXL condition"
    )
    field: Name | None = Field(default=None, description="the field that a named check looks at")
    name: Name | None = Field(default=None, description="what rejected records call the rule")
    severity: Literal["error", "warn"] = Field(
        default="error", description="reject the record, or only log it"
    )
    message: str | None = Field(default=None, description="what the dead letter says")
    args: dict[str, Any] = Field(default_factory=dict, description="the arguments of a named check")

    @property
    def named_check(self) -> str | None:
        """The named check that is meant, if it is one and no CXL condition."""
        return self.assertion if self.assertion in CHECKS else None

    @property
    def rule(self) -> str:
        """The name under which rejected records report this rule."""
        return self.name or (f"{self.field}:{self.assertion}" if self.field else self.assertion)

    def check(self) -> Iterator[Diagnostic]:
        if self.named_check is None:
            yield from self._check_condition()
            return
        if self.field is None:
            yield self.problem(
                "E026",
                f"the check '{self.assertion}' needs a field",
                "assertion",
                help="add 'field'",
            )
        yield from self._check_args(CHECKS[self.named_check])

    def _check_condition(self) -> Iterator[Diagnostic]:
        misspelt = _WORD.fullmatch(self.assertion) and closest(self.assertion, CHECKS)
        if self.field is not None and misspelt:
            yield self.problem(
                "E026",
                f"unknown check '{self.assertion}'",
                "assertion",
                help=f"did you mean '{misspelt}'?",
            )
        elif self.args:
            yield self.problem(
                "E026",
                "'args' are for named checks, this one is a CXL condition",
                "args",
                key=True,
                help=f"remove 'args', or use one of: {', '.join(CHECKS)}",
            )

    def _check_args(self, names: tuple[str, ...]) -> Iterator[Diagnostic]:
        for arg in self.args:
            if arg not in names:
                meant = closest(arg, names)
                known = f"it takes: {', '.join(names)}" if names else "it takes none"
                yield self.problem(
                    "E026",
                    f"the check '{self.assertion}' has no argument '{arg}'",
                    "args",
                    arg,
                    key=True,
                    help=f"did you mean '{meant}'?" if meant else known,
                )
        missing = [name for name in names if name not in self.args]
        if missing and (self.assertion not in _ONE_IS_ENOUGH or missing == list(names)):
            yield self.problem(
                "E026",
                f"the check '{self.assertion}' needs {' or '.join(missing)}",
                "assertion",
                help=f"add 'args: {{ {missing[0]}: … }}'",
            )
        yield from self._check_arg_types()
        yield from self._check_arg_values()

    def _check_arg_values(self) -> Iterator[Diagnostic]:
        pattern = self.args.get("pattern")
        if self.assertion == "matches" and isinstance(pattern, str):
            try:
                compile_pattern(pattern)
            except PatternError as error:
                yield self.problem("E026", f"invalid pattern: {error}", "args", "pattern")
        low, high = self.args.get("min"), self.args.get("max")
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            message = "'min' is larger than 'max', so no record passes"
            yield self.problem("E026", message, "args", "min", help="swap the two")

    def _check_arg_types(self) -> Iterator[Diagnostic]:
        for arg, value in self.args.items():
            needed = _ARG_TYPES.get((self.assertion, arg))
            if needed and (not isinstance(value, needed[0]) or isinstance(value, bool)):
                yield self.problem(
                    "E026", f"expected {needed[1]}, found {found(value)}", "args", arg
                )


_ARG_TYPES: dict[tuple[str, str], tuple[type, str]] = {
    ("matches", "pattern"): (str, "a pattern"),
    ("one_of", "values"): (tuple, "a list of values"),
    ("length", "min"): (int, "an integer"),
    ("length", "max"): (int, "an integer"),
}


class LogDirective(Model):
    """A message to log while records pass."""

    level: Literal["trace", "debug", "info", "warn", "error"] = Field(
        description="trace, debug, info, warn or error"
    )
    when: Literal["before_transform", "after_transform", "per_record", "on_error"] = Field(
        description="before_transform, after_transform, per_record or on_error"
    )
    message: str = Field(description="what to log")
    condition: str | None = Field(
        default=None, description="a CXL condition; log only if it is true"
    )
    fields: tuple[Name, ...] = Field(default=(), description="fields that are logged along")
    every: int | None = Field(default=None, description="log only each so manyth record")
    log_rule: Name | None = Field(
        default=None, description="a rule of the pipeline's log_rules file"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.log_rule is not None:
            yield self.problem(
                "W013",
                "'log_rule' has no effect: what is logged is said here alone",
                "log_rule",
                key=True,
                help="remove it, and write level, condition and fields as the rule has them",
                warning=True,
            )
        if self.every is None:
            return
        if self.every < 1:
            yield self.problem("E011", f"'every' must be at least 1, found {self.every}", "every")
        if self.when != "per_record":
            yield self.problem(
                "E011",
                f"'every' counts records, but this is logged {self.when}",
                "every",
                key=True,
                help="remove 'every', or use 'when: per_record'",
            )


class TransformConfig(Model):
    cxl: str = Field(description="the CXL program")
    analytic_window: AnalyticWindow | None = Field(
        default=None, description="the records that $window functions look at"
    )
    declares: tuple[Declaration, ...] = Field(
        default=(), description="scoped variables that this node declares"
    )
    phase: Phase = Field(
        default="runtime", description="before the run (init), or while records pass"
    )
    max_expansion: Positive = Field(default=10_000, description="the most records one may become")
    batch_size: Positive | None = Field(
        default=None, description="records that are computed at once"
    )
    validations: tuple[Validation, ...] = Field(
        default=(), description="rules that outgoing records must keep"
    )
    log: tuple[LogDirective, ...] = Field(
        default=(), description="messages to log while records pass"
    )


class TransformNode(SingleInputNode):
    """Computes, filters and reshapes records."""

    type: Literal["transform"]
    config: TransformConfig = Field(description="what to do with each record")

    @property
    def init_phase(self) -> Location | None:
        return self.config.at("phase") if self.config.phase == "init" else None

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        return self.config.declares
