"""How JSON files are written, those that are read and those that come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.json import JsonReading, JsonWriting
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig

JsonForm: TypeAlias = Literal["array", "ndjson", "object"]


@frozen(kw_only=True)
class JsonDialect:
    """Where the records are in a file that is read; without a form, the content tells."""

    form: JsonForm | None = None
    record_path: str | None = None


@frozen(kw_only=True)
class JsonWriteDialect:
    """How records are to be written."""

    form: Literal["array", "ndjson"] = "array"
    pretty: bool = False
    preserve_nulls: bool = False


def read_dialect(config: SourceConfig, layout: Layout | None) -> JsonDialect:
    options = cast("JsonReading", config.options)
    return JsonDialect(form=options.format, record_path=options.record_path)


def write_dialect(config: OutputConfig, layout: Layout | None) -> JsonWriteDialect:
    options = cast("JsonWriting", config.options)
    return JsonWriteDialect(
        form=options.format, pretty=options.pretty, preserve_nulls=config.preserve_nulls
    )
