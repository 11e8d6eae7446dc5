"""Writing CSV: a header, minimal quoting, lines that end with a newline."""

from __future__ import annotations

import pyarrow as pa

from clinker.cxl.types import ANY
from clinker.formats.common.cell_lines import CellLines
from clinker.formats.common.cell_texts import choose_widened, show_cells, widened_columns
from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.writing import OutputColumn, Rendered, WriteSpec
from clinker.formats.csv.dialect import CsvWriteDialect


class CsvRenderer:
    """Records as lines of cells."""

    separator = b""
    closing = b""
    is_headed = True
    framing = None

    def __init__(self, spec: WriteSpec, dialect: CsvWriteDialect) -> None:
        self._spec = spec
        self._cells = CellLines(dialect.delimiter)
        self._widened = choose_widened(spec)
        self.opening = self._header().encode() if dialect.include_header else b""
        self.empty = self.opening

    def render(self, batch: pa.RecordBatch) -> Rendered:
        cells = [self._column(take_column(batch, column), column) for column in self._spec.columns]
        cells += self._widened_cells(batch)
        return join_records(batch, self._cells.join(cells, len(batch)), b"", self._spec.split)

    def _header(self) -> str:
        names = [column.name for column in self._spec.columns] + list(self._widened)
        cells = [self._cells.quote(pa.array([name], pa.string())) for name in names]
        return str(self._cells.join(cells, 1)[0])

    def _column(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        return self._cells.quote(show_cells(values, column, "csv"))

    def _widened_cells(self, batch: pa.RecordBatch) -> list[pa.StringArray]:
        if not self._widened:
            return []
        columns = widened_columns(batch, self._widened.values())
        return [
            self._column(values, OutputColumn(shown, ANY))
            for shown, values in zip(self._widened, columns, strict=True)
        ]
