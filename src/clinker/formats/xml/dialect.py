"""How XML files are written, those that are read and those that come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.xml import XmlReading, XmlWriting
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig

NamespaceHandling: TypeAlias = Literal["strip", "qualify"]
ANY_NAME = "*"


@frozen(kw_only=True)
class XmlDialect:
    """Where the records are in a file that is read, and how its names become those of fields."""

    record_path: str | None = None
    attribute_prefix: str = "@"
    namespace_handling: NamespaceHandling = "strip"

    @property
    def strips(self) -> bool:
        """Whether names lose their prefixes."""
        return self.namespace_handling == "strip"

    @property
    def path(self) -> ElementPath:
        """Where the records are; without a path the root is one."""
        if self.record_path is None:
            return ElementPath((ANY_NAME,))
        return parse_path(self.record_path, self.strips)


@frozen(kw_only=True)
class XmlWriteDialect:
    """How records are to be written."""

    root_element: str = "Root"
    record_element: str = "Record"
    preserve_nulls: bool = False


@frozen
class ElementPath:
    """The names of elements, each inside of the one before."""

    steps: tuple[str, ...]
    is_anywhere: bool = False
    """Whether the first of them may be any element; else it is the root."""


def parse_path(path: str, strips: bool) -> ElementPath:
    """The path that `/a/b`, `a/b` or `//b` stands for; without prefixes if names lose theirs."""
    steps = tuple(filter(None, path.split("/")))
    if strips:
        steps = tuple(step.rpartition(":")[2] for step in steps)
    return ElementPath(steps, path.startswith("//"))


def read_dialect(config: SourceConfig, layout: Layout | None) -> XmlDialect:
    options = cast("XmlReading", config.options)
    return XmlDialect(
        record_path=options.record_path,
        attribute_prefix=options.attribute_prefix,
        namespace_handling=options.namespace_handling,
    )


def write_dialect(config: OutputConfig, layout: Layout | None) -> XmlWriteDialect:
    options = cast("XmlWriting", config.options)
    return XmlWriteDialect(
        root_element=options.root_element,
        record_element=options.record_element,
        preserve_nulls=config.preserve_nulls,
    )
