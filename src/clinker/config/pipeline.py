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
    limit: MemorySize = Field(
        default=DEFAULT_MEMORY, description="memory for the run, such as 512M or 2G"
    )
    backpressure: Literal["pause", "spill", "both"] = Field(
        default="pause", description="what gives way when memory gets short"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.limit == 0:
            yield self.problem("E215", "the memory limit must be greater than zero", "limit")


class Concurrency(Model):
    threads: Positive | None = Field(
        default=None, description="processor cores to use; all when left out"
    )
    chunk_size: Positive | None = Field(
        default=None, description="bytes of a file that are read at once"
    )


class Metrics(Model):
    spool_dir: Name | None = Field(
        default=None, description="the directory in which runs leave their metrics"
    )


class Settings(Model):
    """The `pipeline:` block."""

    name: Name = Field(description="the pipeline's name")
    memory: Memory = Field(
        default_factory=Memory.model_construct, description="how much memory a run may use"
    )
    batch_size: Positive = Field(
        default=DEFAULT_BATCH_SIZE,
        description="records that pass between engine and Python at once",
    )
    vars: Variables = Field(
        default_factory=Variables.model_construct, description="constants and scoped variables"
    )
    concurrency: Concurrency = Field(
        default_factory=Concurrency.model_construct,
        description="how many cores work, on how much at once",
    )
    metrics: Metrics = Field(
        default_factory=Metrics.model_construct, description="where runs leave their metrics"
    )
    rules_path: Name | None = Field(default=None, description="the directory of CXL modules")
    date_formats: tuple[DatePattern, ...] = Field(
        default=(), description="how dates are written in sources, as strftime codes"
    )
    date_locale: LocaleName | None = Field(
        default=None, description="the language of month and day names, such as de or pt_BR"
    )
    log_rules: Name | None = Field(default=None, description="a file of named log rules")
    include_provenance: bool = Field(
        default=False, description="whether $meta says which source, file and row a record is of"
    )

    def check(self) -> Iterator[Diagnostic]:
        if self.log_rules is not None:
            yield self.problem(
                "W013",
                "'log_rules' has no effect: runs do not read such files",
                "log_rules",
                key=True,
                help="say at the 'log' of transforms what is logged",
                warning=True,
            )

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
    error_handling: ErrorHandling = Field(
        default_factory=ErrorHandling.model_construct,
        description="what happens to records that fail",
    )
    notes: Any = Field(default=None, alias="_notes", description="ignored by the engine")

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
