"""Test files: pipelines run on records of the test's own, and what is expected of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from pydantic import Field

from clinker.config.model import Model
from clinker.config.names import Name, Natural
from clinker.diagnostics import Diagnostic, Label

Record: TypeAlias = dict[str, Any]


class Given(Model):
    """What a source reads instead of its own files."""

    records: tuple[Record, ...] | None = Field(
        default=None, description="records, as fields and values; of CSV and JSON sources"
    )
    content: str | None = Field(
        default=None, alias="text", description="the content of a file, instead of records"
    )
    file: Name | None = Field(default=None, description="a file, as seen from the test file")

    def check(self) -> Iterator[Diagnostic]:
        if len(self.model_fields_set) != 1:
            yield self.problem(
                "E007",
                "a source is given exactly one of 'records', 'text' and 'file'",
                help="keep one of them; a list is the same as 'records'",
            )


class Rejection(Model):
    """A record that is rejected, as far as the test cares."""

    source: Name | None = Field(default=None, description="the source it was read from")
    file: Name | None = Field(default=None, description="the file it stands in")
    row: Natural | None = Field(default=None, description="its number in the file")
    rejected_by: Name | None = Field(
        default=None, alias="node", description="the node that rejected it"
    )
    route: str | None = Field(default=None, description="the branch of a route it was on")
    rule: str | None = Field(default=None, description="the validation rule it broke")
    category: Name | None = Field(default=None, description="the category of the dead letter")
    detail: str | None = Field(default=None, description="why it was rejected, in words")
    field: str | None = Field(default=None, description="the field that is to blame")
    value: str | None = Field(default=None, description="the value that is to blame")

    @property
    def facts(self) -> dict[str, Any]:
        """What the test says about it, by the keys that it uses."""
        return {
            info.alias or name: getattr(self, name)
            for name, info in type(self).model_fields.items()
            if self.has(name)
        }


class Expectation(Model):
    """What is expected of a run; of what is not mentioned, nothing."""

    records: dict[str, tuple[Record, ...]] = Field(
        default_factory=dict,
        description="by node, or node.port, the records that leave it, in order; only the fields "
        "that are named anywhere in the list are compared",
    )
    rejected: tuple[Rejection, ...] | None = Field(
        default=None, description="the rejected records, in the order of the dead-letter file"
    )
    exit_code: int | None = Field(
        default=None,
        ge=0,
        le=4,
        description="the exit code; 2 if records are expected to be rejected, else 0",
    )
    error: str | None = Field(
        default=None, description="a part of the message, or the code, of the error that ends it"
    )

    @property
    def code(self) -> int:
        """The exit code that is expected."""
        if self.exit_code is not None:
            return self.exit_code
        return 2 if self.rejected else 0

    def check(self) -> Iterator[Diagnostic]:
        if not self.model_fields_set:
            yield self.problem(
                "E007",
                "the case expects nothing",
                help="add 'records', 'rejected', 'exit_code' or 'error'",
            )
        if self.error is not None and self.code in (0, 2):
            yield self.problem(
                "E007",
                f"a run with exit code {self.code} ends without an error",
                "error",
                help="add 'exit_code: 1', 3 or 4",
            )


class Case(Model):
    """One run and what is expected of it."""

    name: Name = Field(description="what the case shows, unique in the file")
    given: dict[str, Given] = Field(
        default_factory=dict,
        description="by source, what it reads; others read their own files",
    )
    vars: Record = Field(default_factory=dict, description="values of variables of pipeline.vars")
    channel: Name | None = Field(default=None, description="a channel, as seen from the test file")
    environment: dict[str, str] = Field(
        default_factory=dict, description="environment variables that the pipeline file reads"
    )
    expect: Expectation = Field(description="what is expected of the run")


class CaseFile(Model):
    """A whole `_test.yaml` file."""

    pipeline: Name = Field(description="the pipeline, as seen from the test file")
    cases: tuple[Case, ...] = Field(min_length=1, description="the cases")

    def check(self) -> Iterator[Diagnostic]:
        first: dict[str, Case] = {}
        for case in self.cases:
            earlier = first.setdefault(case.name, case)
            if earlier is not case:
                yield case.problem(
                    "E007",
                    f"two cases are named '{case.name}'",
                    "name",
                    also=(Label(earlier.at("name"), "the first one"),),
                    help="give one of them another name",
                )
