"""The pipeline file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.error_handling import ErrorHandling
from clinker.config.errors import invalid
from clinker.config.model import Model
from clinker.config.names import Name, Positive
from clinker.config.nodes import PipelineNode
from clinker.config.quantities import MemorySize
from clinker.config.variables import Variables
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.run.locales import UnknownLocale, date_names
from clinker.cxl.run.strftime import Pattern, PatternError, compile_pattern
from clinker.diagnostics import Diagnostic, Label, Location

DEFAULT_MEMORY = 512 * 2**20
DEFAULT_BATCH_SIZE = 2048


def _date_pattern(text: str) -> str:
    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        raise invalid("E034", f"'{text}' is not a date format: {error}", _PATTERN_HELP) from None
    if not pattern.gives_date:
        raise invalid("E034", f"'{text}' does not determine a date", _PATTERN_HELP)
    return text


_PATTERN_HELP = "write strftime codes such as %d.%m.%Y"

DatePattern: TypeAlias = Annotated[str, AfterValidator(_date_pattern)]


def _known_locale(name: str) -> str:
    try:
        date_names(name)
    except UnknownLocale as problem:
        help = f"did you mean '{problem.meant}'?" if problem.meant else _LOCALE_HELP
        raise invalid("E035", str(problem), help) from None
    return name


_LOCALE_HELP = "write a language, with a territory if it matters, such as de or pt_BR"

LocaleName: TypeAlias = Annotated[Name, AfterValidator(_known_locale)]


class Memory(Model):
    limit: MemorySize = DEFAULT_MEMORY
    backpressure: Literal["pause", "spill", "both"] = "pause"

    def check(self) -> Iterator[Diagnostic]:
        if self.limit == 0:
            yield self.problem("E215", "the memory limit must be greater than zero", "limit")


class Concurrency(Model):
    threads: Positive | None = None
    chunk_size: Positive | None = None


class Metrics(Model):
    spool_dir: Name | None = None


class Settings(Model):
    """The `pipeline:` block."""

    name: Name = Field(description="the pipeline's name")
    memory: Memory = Field(default_factory=Memory.model_construct)
    batch_size: Positive = DEFAULT_BATCH_SIZE
    vars: Variables = Field(default_factory=Variables.model_construct)
    concurrency: Concurrency = Field(default_factory=Concurrency.model_construct)
    metrics: Metrics = Field(default_factory=Metrics.model_construct)
    rules_path: Name | None = None
    date_formats: tuple[DatePattern, ...] = ()
    date_locale: LocaleName | None = None
    log_rules: Name | None = None
    include_provenance: bool = False

    @property
    def date_names(self) -> DateNames:
        """The words in which dates are written and read."""
        return date_names(self.date_locale) if self.date_locale else ENGLISH

    @property
    def date_patterns(self) -> tuple[Pattern, ...]:
        """The date formats, with the names of the locale."""
        return tuple(compile_pattern(text, self.date_names) for text in self.date_formats)


class Pipeline(Model):
    """A whole pipeline file."""

    pipeline: Settings = Field(description="the pipeline's name and settings")
    nodes: tuple[PipelineNode, ...] = Field(
        min_length=1, description="the list of nodes, from sources to outputs"
    )
    error_handling: ErrorHandling = Field(default_factory=ErrorHandling.model_construct)
    notes: Any = Field(default=None, alias="_notes")

    def check(self) -> Iterator[Diagnostic]:
        declared: dict[tuple[str, str], Location] = {}
        variables = self.pipeline.vars
        for scope in ("pipeline", "source", "record"):
            for name in getattr(variables, scope):
                declared[scope, name] = variables.key_at(scope, name)
        for node in self.nodes:
            for declaration in node.declarations:
                key = (declaration.scope, declaration.name)
                if key in declared:
                    yield declaration.problem(
                        "E030",
                        f"${declaration.scope}.{declaration.name} is declared twice",
                        "name",
                        also=(Label(declared[key], "first declared here"),),
                        help="declare it once; every node can read it",
                    )
                declared.setdefault(key, declaration.at("name"))
