"""Documents around records: the declared parts of an envelope, as columns of the records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from clinker.cxl.failure import shown
from clinker.formats.common.coercion import Coercion, to_json_text
from clinker.formats.common.read_spec import (
    DOCUMENT,
    Column,
    FormatError,
    Inventory,
    ReadSpec,
    Section,
)


def convert_sections(
    spec: ReadSpec, raw: Callable[[Section, Column], Any], path: str
) -> dict[str, Any]:
    """What is wanted of a document; FormatError if a declared field does not fit its type.

    `raw` tells what the file holds for a field, None if nothing.
    """
    values = {
        f"{section.name}.{field.name}": _convert(spec, section, field, raw(section, field), path)
        for section in spec.sections
        for field in section.fields
    }
    return {DOCUMENT + key: values[key] for key in spec.document if key in values}


def _convert(spec: ReadSpec, section: Section, field: Column, value: Any, path: str) -> Any:
    where = f"field '{field.name}' of section '{section.name}'"
    try:
        coerced = Coercion(field.type, spec.date_formats).column_from_values([value])
    except (TypeError, RecursionError):  # the text of it cannot be written
        raise FormatError(f"{where} is nested too deeply", path) from None
    if coerced.unfit is not None:
        text = shown(to_json_text(value))
        raise FormatError(
            f"cannot convert '{text}' in {where} to {field.type_name}",
            path,
            "declare another type for the field, or mend the file",
        )
    return coerced.values[0].as_py()


def with_document(batch: pa.RecordBatch, inventory: Inventory, file: int) -> pa.RecordBatch:
    """Records with the columns that are the same for all of their file."""
    for column in inventory.document_schema:
        value = inventory.documents[file].get(column.name)
        values = pa.repeat(pa.scalar(value, column.type), len(batch))
        batch = batch.append_column(column, values)
    return batch
