"""How interchanges are written that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.interchange import EdiReading
    from clinker.config.layout import Layout
    from clinker.config.nodes.source import SourceConfig


@frozen(kw_only=True)
class InterchangeDialect:
    """How wide segments may be, and in which encoding; the rest stands in the files themselves."""

    max_elements: int = 32
    encoding: str = "utf-8"


def read_dialect(config: SourceConfig, layout: Layout | None) -> InterchangeDialect:
    options = cast("EdiReading", config.options)
    return InterchangeDialect(max_elements=options.max_elements, encoding=options.encoding)
