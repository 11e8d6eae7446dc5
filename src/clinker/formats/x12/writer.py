"""Writing X12."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from clinker.formats.common.writing import Framing, Rendered, WriteSpec
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig


@frozen(kw_only=True)
class X12WriteDialect:
    """How interchanges are to be written."""


def write_dialect(config: OutputConfig, layout: Layout | None) -> X12WriteDialect:
    return X12WriteDialect()


class X12Renderer:
    """Records as segments."""

    opening = separator = closing = empty = b""
    is_headed = False

    def __init__(self, spec: WriteSpec, dialect: X12WriteDialect) -> None:
        self._spec = spec

    @property
    def framing(self) -> Framing | None:
        return None

    def render(self, batch: pa.RecordBatch) -> Rendered:
        raise NotImplementedError
